package records_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// inSchema fails the test unless a reader returned an ErrFormat, or data whose values are all in
// the schema.
func inSchema(t *testing.T, d records.Data, err error) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, records.ErrFormat) {
			t.Fatalf("got error %v, want ErrFormat", err)
		}
		return
	}
	var b device.Batch
	d.Range(0, d.Len(), &b)
	s := d.Schema()
	for _, l := range b.Labels {
		if l < 0 || int(l) >= s.Classes() {
			t.Fatalf("label outside the schema")
		}
	}
	if s.Sparse() {
		setsInSchema(t, b.Sparse, s)
		return
	}
	lo, hi := s.Bounds()
	for _, v := range b.Dense.Data {
		if !(float64(v) >= lo && float64(v) <= hi) {
			t.Fatalf("%v outside [%v, %v]", v, lo, hi)
		}
	}
}

func setsInSchema(t *testing.T, m *device.Sparse, s records.Schema) {
	for i := range len(m.Offsets) - 1 {
		row := m.Items[m.Offsets[i]:m.Offsets[i+1]]
		if len(row) > s.MaxItems() {
			t.Fatalf("a set has %d items, more than MaxItems", len(row))
		}
		for j, item := range row {
			if int(item) >= s.Dim() || j > 0 && row[j-1] >= item {
				t.Fatalf("set %v is not ascending, or not inside the universe", row)
			}
		}
	}
}

func FuzzReadIDX(f *testing.F) {
	pixels := idx([]uint32{2, 2, 2}, 0, 1, 2, 3, 200, 201, 202, 255)
	labels := idx([]uint32{2}, 1, 9)
	f.Add(pixels, labels)
	f.Add(gz(pixels), gz(labels))
	f.Add(pixels[:10], labels[:6])
	f.Add(idx([]uint32{1<<32 - 1, 2, 2}), idx([]uint32{1<<32 - 1}))
	f.Fuzz(func(t *testing.T, images, labels []byte) {
		table, err := records.ReadIDX(bytes.NewReader(images), bytes.NewReader(labels), labelledImages())
		inSchema(t, table, err)
	})
}

func FuzzReadTransactions(f *testing.F) {
	for _, text := range []string{"1 2 3\n\n4", "-1,99999999999;7\t\r\n", "x",
		"1 2 2 2 1 0 3 4 5 6 7\n", "\x1f\x8b"} {
		f.Add([]byte(text))
		f.Add(gz([]byte(text)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := records.ReadTransactions(bytes.NewReader(data), records.Sets(8, 5))
		inSchema(t, table, err)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := records.WriteTransactions(&out, table); err != nil {
			t.Fatal(err)
		}
		again, err := records.ReadTransactions(bytes.NewReader(out.Bytes()), records.Sets(8, 5))
		if err != nil || again.Len() != table.Len() || records.Check(again) != nil {
			t.Fatalf("%q is not read back: %v", out.String(), err)
		}
	})
}

func FuzzReadCSV(f *testing.F) {
	for _, text := range []string{"1,2,a\n3,4,b\n", "NaN,inf,c", "\"1\",-0,\"a\"\r\n", "1,2\n",
		"x,y,z", "\"", "1e999,1,a"} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	s := records.Interval(2, -1, 3).WithLabels("a", "b")
	f.Fuzz(func(t *testing.T, data []byte, header bool) {
		table, err := records.CSV{Header: header}.Read(bytes.NewReader(data), s)
		inSchema(t, table, err)
	})
}

func FuzzReadNPY(f *testing.F) {
	for _, descr := range []string{"<f4", ">f8", "|u1", "<i8", "|b1", "|O", "<f2"} {
		f.Add(npy(descr, "(2, 2)", make([]byte, 32)...))
		f.Add(npy(descr, "(1000000000, 2)", 1, 2, 3))
	}
	f.Add([]byte("\x93NUMPY\x01\x00\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := records.ReadNPY(bytes.NewReader(data), records.Image(1, 2))
		inSchema(t, table, err)
	})
}

func FuzzReadNPZ(f *testing.F) {
	x, y := npy("<f4", "(2, 2)", make([]byte, 16)...), npy("<i4", "(2,)", make([]byte, 8)...)
	f.Add(archive(f, map[string][]byte{"x.npy": x, "y.npy": y}))
	f.Add(archive(f, map[string][]byte{"x.npy": x}))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := records.ReadNPZ(bytes.NewReader(data), int64(len(data)),
			records.Image(1, 2).WithLabels("a", "b"))
		inSchema(t, table, err)
	})
}

func FuzzSchemaJSON(f *testing.F) {
	for _, s := range schemas() {
		text, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"kind":"image","height":65536,"width":65536}`))
	f.Add([]byte(`{"kind":"table","columns":[{"name":"a","type":"hashed","buckets":70000}]}`))
	for _, step := range []string{"0.01", "0", "-1", "0.3", "1e-300", "1e300", "0.1000000000000001"} {
		f.Add([]byte(`{"kind":"table","columns":[{"name":"a","type":"numeric","lo":0,"hi":1,"step":` +
			step + `}]}`))
	}
	for _, s := range []records.Schema{visits(f), constrained(f)} {
		text, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s records.Schema
		if json.Unmarshal(data, &s) != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("an invalid schema is read: %v", err)
		}
		text, err := json.Marshal(s)
		var back records.Schema
		if err != nil || json.Unmarshal(text, &back) != nil || !back.Equal(s) ||
			fmt.Sprint(back.Constraints()) != fmt.Sprint(s.Constraints()) {
			t.Fatalf("%s is not read back: %v", text, err)
		}
	})
}

// FuzzReadTimes reads a moment, a length of time, a wide number, a hashed text and an identifier.
// Whatever the text, the row is inside the schema, and its own text is read back as the same row.
func FuzzReadTimes(f *testing.F) {
	for _, text := range []string{"2024-02-29T01:02:03.5+05:00", "2024-02-30", "1.5", "-1h", "1e300",
		"9223372036854775808", "0000-00-00", "1709209801", "-0.0000000001", "99999-01-01"} {
		f.Add(text)
	}
	s := visits(f)
	f.Fuzz(func(t *testing.T, text string) {
		row := make([]any, len(s.Columns()))
		for j := range row {
			row[j] = text
		}
		frame := must(records.FromValues(s, row))(t)
		validRow(t, s, frame.Row(nil, 0))
		for j := range row {
			row[j] = frame.Value(0, j)
			if row[j] == "" {
				row[j] = nil
			}
		}
		again, err := records.FromValues(s, row)
		if err != nil || records.Check(again) != nil || !sameFrame(frame, again) {
			t.Fatalf("%q is read back as another row: Check returns %v", row, records.Check(again))
		}
	})
}
