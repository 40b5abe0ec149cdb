package parquet_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestDamagedFilesEndInErrors changes each byte of a file in two ways. Reading may only fail with
// an error, and takes little memory.
func TestDamagedFilesEndInErrors(t *testing.T) {
	s := people(t)
	whole := written(t, drawn(t, s, 50))
	refused := 0
	for at := range whole {
		for _, change := range []byte{1, 0xfd} {
			data := bytes.Clone(whole)
			data[at] ^= change
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read(data, s, records.Limits{UnpackedBytes: 1 << 20, Values: 1 << 16})
			runtime.ReadMemStats(&after)
			if err != nil {
				refused++
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("byte %d, change %#x: reading takes %d MB: %v", at, change, took>>20, err)
			}
		}
	}
	if refused < len(whole)/2 {
		t.Errorf("only %d of %d damaged files are refused", refused, 2*len(whole))
	}
}

// TestTwoColumnsOfOneName: a file in which two columns have the name of a schema's column is
// refused, and one in which other columns share a name is read.
func TestTwoColumnsOfOneName(t *testing.T) {
	columns := []records.Column{records.Integer("one", 0, 9), records.Integer("two", 0, 9),
		records.Integer("six", 0, 9)}
	whole := written(t, drawn(t, must(records.NewSchema(columns...))(t), 5))
	data := bytes.ReplaceAll(whole, []byte("two"), []byte("one"))
	for at, refused := range map[int]bool{0: true, 2: false} {
		s := must(records.NewSchema(columns[at]))(t)
		_, err := read(data, s)
		if errors.Is(err, records.ErrFormat) != refused || (err != nil) != refused {
			t.Errorf("%s: got error %v, want records.ErrFormat: %v", s, err, refused)
		}
	}
}
