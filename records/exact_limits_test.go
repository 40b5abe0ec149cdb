package records_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestExactLimits reads small inputs with every reader, within limits that they just meet, and with
// limits that are smaller by one: these refuse, and name the limit.
func TestExactLimits(t *testing.T) {
	all := readers(t)
	table := must(records.NewSchema(records.Numeric("x", 0, 1), records.Flag("y", "n", "y")))(t)
	small := records.Interval(3, 0, 1).WithLabels("a", "b")
	sets := records.Sets(9, 2)
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, f := range []struct {
		name string
		text []byte
	}{{"x.npy", npy("<f4", "(3, 2)", make([]byte, 24)...)}, {"y.npy", npy("|u1", "(3,)", 0, 1, 0)}} {
		file := must(w.Create(f.name))(t)
		must(file.Write(f.text))(t)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	reader := func(read func(data *bytes.Reader, l records.Limits) error) func([]byte,
		records.Limits) error {
		return func(data []byte, l records.Limits) error { return read(bytes.NewReader(data), l) }
	}
	of := func(name string) func([]byte, records.Limits) error {
		return func(data []byte, l records.Limits) error { return all[name](data, l) }
	}
	rows := []byte("0.5,y\n1,n\n0,y\n0,y\n")
	for name, c := range map[string]struct {
		read   func(data []byte, l records.Limits) error
		data   []byte
		values int64 // 0 if the reader has no such limit
		fields int
		packed bool // a gzip file of the data is read too
		lines  bool // a line has at most as many bytes as the longest
	}{
		"csv": {reader(func(r *bytes.Reader, l records.Limits) error {
			return second(records.CSV{Limits: l}.Read(r, small))
		}), []byte("0,1,0.5,a\n1,1,1,b\n"), 8, 0, true, false},
		"frame": {reader(func(r *bytes.Reader, l records.Limits) error {
			return second(records.CSV{Limits: l}.ReadFrame(r, table))
		}), rows, 8, 0, true, false},
		"frame, header": {reader(func(r *bytes.Reader, l records.Limits) error {
			return second(records.CSV{Header: true, Limits: l}.ReadFrame(r, table))
		}), append([]byte("x,y\n"), rows...), 8, 2, true, false},
		"stream": {reader(func(r *bytes.Reader, l records.Limits) error {
			for _, err := range (records.CSV{Limits: l}).Stream(r, table, 2) {
				if err != nil {
					return err
				}
			}
			return nil
		}), rows, 8, 0, true, false},
		"json lines": {reader(func(r *bytes.Reader, l records.Limits) error {
			return second(records.JSONLines{Limits: l}.ReadFrame(r, table))
		}), []byte("{\"x\":1,\"y\":\"n\"}\n{\"x\":0,\"y\":\"y\"}\n"), 4, 0, true, false},
		"persons": {reader(func(r *bytes.Reader, l records.Limits) error {
			return second(records.CSV{Header: true, Limits: l}.ReadPersons(r, table, "p", 2))
		}), []byte("p,x,y\na,1,y\na,0,n\nb,1,y\n"), 3*2 + 2*9, 3, true, false},
		"lines": {reader(func(r *bytes.Reader, l records.Limits) error {
			for _, err := range (records.CSV{Limits: l}).Lines(r) {
				if err != nil {
					return err
				}
			}
			return nil
		}), []byte("a,b,c\nd,e,f\n"), 0, 3, true, true},
		"visits": {reader(func(r *bytes.Reader, l records.Limits) error {
			return second(records.Visits{Column: 1, Limits: l}.Read(r, sets))
		}), []byte("ann,1\nann,2\nbob,3\n"), 3 + 2*10, 0, true, false},
		"transactions": {reader(func(r *bytes.Reader, l records.Limits) error {
			return second(records.ReadTransactions(r, sets, l))
		}), []byte("1 2\n3\n4 5\n"), 5 + 3, 0, true, false},
		"npy": {reader(func(r *bytes.Reader, l records.Limits) error {
			return second(records.ReadNPY(r, records.Interval(2, 0, 1), l))
		}), npy("<f4", "(3, 2)", make([]byte, 24)...), 6, 0, false, false},
		"npz": {of("npz"), archive.Bytes(), 6 + 3, 0, false, false},
		"idx": {reader(func(r *bytes.Reader, l records.Limits) error {
			return second(records.ReadIDX(r, nil, records.Image(1, 5), l))
		}), idx([]uint32{1, 1, 5}, 1, 2, 3, 4, 5), 2, 0, false, false},
		"idx labels": {of("idx labels"), idx([]uint32{9}, make([]byte, 9)...), 9, 0, false, false},
		"schema": {of("schema"), []byte(`{"kind":"table","columns":[` +
			`{"name":"a","type":"flag","levels":["n","y"],"aliases":{"0":"n"}},` +
			`{"name":"b","type":"flag","levels":["n","y"],"aliases":{"0":"n"}}]}`), 0, 2, false, false},
	} {
		exact := func(limit string, data []byte, most int64, set func(l *records.Limits, n int64)) {
			t.Helper()
			var enough, less records.Limits
			set(&enough, most)
			if err := c.read(data, enough); err != nil {
				t.Errorf("%s: %s of %d: %v", name, limit, most, err)
			}
			set(&less, most-1)
			over := new(records.LimitError)
			if err := c.read(data, less); !errors.As(err, &over) || over.Limit != limit {
				t.Errorf("%s: %s of %d: %v, want a LimitError", name, limit, most-1, err)
			}
		}
		if err := c.read(c.data, records.Limits{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.values > 0 {
			exact("Values", c.data, c.values, func(l *records.Limits, n int64) { l.Values = n })
		}
		if c.fields > 0 {
			exact("Fields", c.data, int64(c.fields), func(l *records.Limits,
				n int64) {
				l.Fields = int(n)
			})
		}
		if c.packed {
			exact("UnpackedBytes", gz(c.data), int64(len(c.data)),
				func(l *records.Limits, n int64) { l.UnpackedBytes = n })
			over := new(records.LimitError)
			if err := c.read(gz(c.data), records.Limits{Plain: true, UnpackedBytes: 1}); errors.As(err,
				&over) {
				t.Errorf("%s: a packed file is unpacked although it is declared plain: %v", name, err)
			}
		}
		if c.lines {
			exact("LineBytes", c.data, 5, func(l *records.Limits, n int64) { l.LineBytes = int(n) })
		}
		if name == "schema" {
			exact("DocumentBytes", c.data, int64(len(c.data)),
				func(l *records.Limits, n int64) { l.DocumentBytes = int(n) })
			exact("Depth", c.data, 4, func(l *records.Limits, n int64) { l.Depth = int(n) })
		}
		for field, l := range map[string]records.Limits{"LineBytes": {LineBytes: -1},
			"Fields": {Fields: -1}, "Depth": {Depth: -1}, "DocumentBytes": {DocumentBytes: -1},
			"UnpackedBytes": {UnpackedBytes: -1}, "Values": {Values: -1},
			"Parameters": {Parameters: -1}} {
			if err := c.read(c.data, l); err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("%s: a negative limit of %s: %v", name, field, err)
			}
		}
	}
}

// TestDefaultLimits: what the zero value allows for an input of some size, what each field
// replaces, and how much of the parameters each part of an input may have.
func TestDefaultLimits(t *testing.T) {
	for _, c := range []struct{ bytes, unpacked, values int64 }{{0, 8 << 20, 2 << 20},
		{1 << 20, 8 << 20, 2 << 20}, {1<<20 + 1, 8<<20 + 20, 2<<20 + 16},
		{3 << 20, 48 << 20, 34 << 20}} {
		var l records.Limits
		if u, v := l.UnpackedFor(c.bytes), l.ValuesFor(c.bytes); u != c.unpacked || v != c.values {
			t.Errorf("%d bytes: %d unpacked and %d values, want %d and %d", c.bytes, u, v, c.unpacked,
				c.values)
		}
		l = records.Limits{UnpackedBytes: 7, Values: 9}
		if u, v := l.UnpackedFor(c.bytes), l.ValuesFor(c.bytes); u != 7 || v != 9 {
			t.Errorf("limits of 7 and 9 for %d bytes: %d and %d", c.bytes, u, v)
		}
	}
	for _, most := range []int64{0, 640} {
		l := records.Limits{Parameters: most, Values: 3}
		whole := most
		if most == 0 {
			whole = 5 << 20
		}
		for n, parts := range map[int]int64{0: 1, 1: 1, 2: 2, 64: 64, 65: 65} {
			part, ok := l.Share(n)
			if part.Parameters != whole/parts || part.Values != 3 || ok != (whole/parts >= 5<<14) {
				t.Errorf("one of %d parts of %d: %+v, %t", n, whole, part, ok)
			}
		}
		over := new(records.LimitError)
		if err := l.CheckParameters("a network", whole); err != nil {
			t.Error(err)
		}
		if err := l.CheckParameters("a network", whole+1); !errors.As(err, &over) ||
			over.Limit != "Parameters" || !strings.Contains(err.Error(), "a network") {
			t.Errorf("more than %d parameters: %v", whole, err)
		}
		if err := l.CheckParameters("a network", math.MaxInt64); err == nil {
			t.Error("2⁶³ parameters are allowed")
		}
	}
	// The share of a small limit is not 0, which would mean the default.
	if part, _ := (records.Limits{Parameters: 3}).Share(5); part.CheckParameters("x", 2) == nil {
		t.Error("a fifth of 3 parameters allows 2")
	}
}
