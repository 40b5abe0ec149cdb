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

// TestColumnTwice: of two columns with one name none is chosen.
func TestColumnTwice(t *testing.T) {
	list := []records.Column{records.Integer("column one", 0, 9), records.Integer("column two", 0, 9)}
	both, one := must(records.NewSchema(list...))(t), must(records.NewSchema(list[0]))(t)
	text := written(t, must(records.FromValues(both, []any{1, 2}))(t))
	if _, err := read(text, one, records.Limits{}); err != nil {
		t.Error(err)
	}
	text = bytes.ReplaceAll(text, []byte("column two"), []byte("column one"))
	if _, err := read(text, one, records.Limits{}); !errors.Is(err, records.ErrFormat) {
		t.Errorf("two columns of one name: got %v", err)
	}
}
