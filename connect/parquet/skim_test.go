package parquet

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed7ba64551/privgen/records"
)

// fill sets the fields of a structure at random.
func fill(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(rng, f)
			}
		}
	case reflect.Slice:
		n := rng.IntN(4)
		if rng.IntN(8) == 0 {
			n = 15 + rng.IntN(20) // whose length has its own bytes
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(rng, v.Index(i))
		}
	case reflect.String:
		v.SetString("abcdefgh"[:rng.IntN(9)])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int8, reflect.Int:
		v.SetInt(rng.Int64N(1 << 14))
	case reflect.Uint8:
		v.SetUint(uint64(rng.IntN(256)))
	}
}

// TestSkimmerSkipsStructures: the skimmer ends where a structure ends, and nowhere in its middle.
func TestSkimmerSkipsStructures(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	most := int64(0)
	for range 6 {
		page, chunk := new(format.PageHeader), new(format.ColumnMetaData)
		group, schema := new(format.RowGroup), new(format.SchemaElement)
		for _, x := range []any{page, chunk, group, schema} {
			fill(rng, reflect.ValueOf(x).Elem())
		}
		m := &format.FileMetaData{Version: 1, Schema: []format.SchemaElement{*schema, *schema},
			RowGroups: []format.RowGroup{*group}, CreatedBy: "somebody",
			KeyValueMetadata: []format.KeyValue{{Key: "a", Value: "b"}}}
		for _, x := range []any{page, chunk, group, schema, m} {
			text, err := thrift.Marshal(&thrift.CompactProtocol{}, x)
			if err != nil {
				t.Fatal(err)
			}
			s := skimmer{b: append(text, 0x15, 0x15, 0x15)}
			if s.structure(0); s.damaged || s.at != len(text) {
				t.Fatalf("%T of %d bytes: skipped %d, damaged %t", x, len(text), s.at, s.damaged)
			}
			most = max(most, s.entries)
			for n := 0; n < len(text); n += 1 + len(text)/256 {
				if s := (skimmer{b: text[:n]}); !s.damaged {
					if s.structure(0); !s.damaged {
						t.Fatalf("%T of %d bytes, cut off after %d: not damaged", x, len(text), n)
					}
				}
			}
		}
	}
	if most == 0 {
		t.Error("no structure has a list")
	}
}

// TestSkimmerBounds: structures nested as deep as a footer may be, lists and texts longer than the
// bytes, and how many structures a list holds.
func TestSkimmerBounds(t *testing.T) {
	nested := func(depth int) []byte {
		var b []byte
		for range depth {
			b = append(b, 0x1c) // field 1, a structure
		}
		return append(b, make([]byte, depth+1)...)
	}
	lists := func(depth int) []byte {
		b := []byte{0x19}
		for range depth - 1 {
			b = append(b, 0x19) // a list of one list
		}
		return append(b, 0x13, 7, 0)
	}
	structures := append([]byte{0x19, 0xfc, 40}, make([]byte, 41)...)
	for what, c := range map[string]struct {
		text    []byte
		damaged bool
		entries int64
	}{
		"the deepest structure":      {nested(nestedDepth), false, 0},
		"a deeper structure":         {nested(nestedDepth + 1), true, 0},
		"the deepest list":           {lists(nestedDepth), false, nestedDepth},
		"a deeper list":              {lists(nestedDepth + 1), true, nestedDepth},
		"a list of structures":       {structures, false, 40},
		"a list without its end":     {structures[:43], true, 40},
		"a list of 40 of 39":         {structures[:42], true, 0},
		"65 bytes":                   {append([]byte{0x19, 0xf3, 65}, make([]byte, 66)...), false, 3},
		"a map of two":               {[]byte{0x1b, 2, 0x33, 1, 2, 3, 4, 0}, false, 1},
		"a map of too many":          {[]byte{0x1b, 9, 0x33, 1, 2, 3, 4, 0}, true, 0},
		"an empty map":               {[]byte{0x1b, 0, 0}, false, 0},
		"a set":                      {[]byte{0x1a, 0x13, 1, 0}, false, 1},
		"a number":                   {[]byte{0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0}, false, 0},
		"a shorter number":           {[]byte{0x17, 1, 2, 3, 4, 5, 6, 7, 0}, true, 0},
		"a text":                     {[]byte{0x18, 2, 1, 1, 0}, false, 0},
		"a longer text":              {[]byte{0x18, 3, 1, 1}, true, 0},
		"a field's own number":       {[]byte{0x05, 9, 1, 0}, false, 0},
		"a kind that does not exist": {[]byte{0x1d, 0}, true, 0},
		"a list of no kind":          {[]byte{0x19, 0x10, 0}, true, 0},
	} {
		s := skimmer{b: c.text}
		if s.structure(0); s.damaged != c.damaged || s.entries != c.entries ||
			!s.damaged && s.at != len(c.text) {
			t.Errorf("%s: damaged %t, %d entries, %d of %d bytes; want %t and %d", what, s.damaged,
				s.entries,
				s.at, len(c.text), c.damaged, c.entries)
		}
	}
	b := boundsOf(nil, 0, records.Limits{UnpackedBytes: 40 * footerEntry / 2})
	if err := b.footer(structures); err != nil {
		t.Errorf("a footer of as many structures as the limit allows: %v", err)
	}
	b.unpacked--
	if err := b.footer(structures); !errors.As(err, new(*records.LimitError)) {
		t.Errorf("a footer of more structures than the limit allows: %v", err)
	}
}

// TestRunsAreCounted compares the counts of runs with the values that parquet-go encodes, and
// refuses every run that is cut off.
func TestRunsAreCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		n := 1 + rng.IntN(400)
		values, ones := make([]byte, n), int64(0)
		for i := range values {
			if i > 0 && rng.IntN(9) > 0 {
				values[i] = values[i-1]
			} else {
				values[i] = byte(rng.IntN(2))
			}
			ones += int64(values[i])
		}
		text, err := (&rle.Encoding{BitWidth: 1}).EncodeLevels(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		total, got, ok := runs(text, 1, int64(n))
		if !ok || got != ones || total < int64(n) || total > int64(n+7) {
			t.Fatalf("%d values, %d ones: got %d, %d, %t", n, ones, total, got, ok)
		}
		if _, some, _ := runs(text, 1, int64(n/2)); some != onesIn(values[:n/2]) {
			t.Fatalf("of %d values the first half has %d ones, got %d", n, onesIn(values[:n/2]), some)
		}
		if total, _, ok := runs(text[:len(text)-1], 1, int64(n)); ok {
			t.Fatalf("a run that is cut off is taken for one of %d of %d values", total, n)
		}
		wide := make([]int32, n)
		for i := range wide {
			wide[i] = int32(values[i]) * 1000
		}
		if text, err = (&rle.Encoding{BitWidth: 10}).EncodeInt32(nil, wide); err != nil {
			t.Fatal(err)
		}
		if total, _, ok := runs(text, 10, int64(n)); !ok || total < int64(n) || total > int64(n+7) {
			t.Fatalf("%d values of ten bits: got %d, %t", n, total, ok)
		}
		if text, err = new(delta.BinaryPackedEncoding).EncodeInt32(nil, wide); err != nil {
			t.Fatal(err)
		}
		if got := deltas(text); got != int64(n) {
			t.Fatalf("%d deltas, got %d", n, got)
		}
	}
	for count, good := range map[uint64]bool{1 << 32: true, 1<<32 + 1: false} {
		text := append(binary.AppendUvarint(nil, count<<1), 1)
		if _, _, ok := runs(text, 1, 1<<40); ok != good {
			t.Errorf("a run of %d values: %t", count, ok)
		}
	}
	for _, text := range [][]byte{{0x80}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		1}} {
		if _, _, ok := runs(text, 1, 9); ok {
			t.Errorf("a count of %x is read", text)
		}
	}
	if got := deltas([]byte{0x80, 1, 4, 0x80}); got != -1 {
		t.Errorf("deltas whose head is cut off: %d", got)
	}
}

func onesIn(values []byte) (n int64) {
	for _, v := range values {
		n += int64(v)
	}
	return n
}
