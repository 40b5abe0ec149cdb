package records_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// grey returns a table of grey images with labels, as bytes.
func grey(t testing.TB, n int) *records.Table {
	t.Helper()
	s := records.Image(4, 3).WithLabels("a", "b", "c")
	rng := rand.New(rand.NewPCG(1, 2))
	levels, labels := make([]uint8, n*s.Dim()), make([]int32, n)
	for i := range levels {
		levels[i] = uint8(rng.Uint32())
	}
	for i := range labels {
		labels[i] = int32(rng.IntN(3))
	}
	table, err := records.FromBytes(s, levels, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// npyOf returns a table in NumPy's format, and its labels, nil if there are none.
func npyOf(t testing.TB, table *records.Table) (values, labels []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := records.WriteNPY(&out, table); err != nil {
		t.Fatal(err)
	}
	values = bytes.Clone(out.Bytes())
	if table.Schema().Classes() == 0 {
		return values, nil
	}
	flat := make([]float32, table.Len())
	for i := range flat {
		flat[i] = float32(table.Label(i))
	}
	column := must(records.FromFlat(records.Interval(1, 0, 255), flat))(t)
	out.Reset()
	if err := records.WriteNPY(&out, column); err != nil {
		t.Fatal(err)
	}
	return values, out.Bytes()
}

// npyParts divides a table into parts in NumPy's format.
func npyParts(t testing.TB, table *records.Table, cuts []int) (parts []records.TablePart) {
	t.Helper()
	for i := 1; i < len(cuts); i++ {
		values, labels := npyOf(t, table.Slice(cuts[i-1], cuts[i]))
		p, err := partOf(table.Schema(), values, labels)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return parts
}

// byteParts returns one part with the first n rows as bytes.
func byteParts(t testing.TB, table *records.Table, n int) []records.TablePart {
	t.Helper()
	var images bytes.Buffer
	head := table.Slice(0, n)
	if err := records.WriteIDX(&images, nil, head); err != nil {
		t.Fatal(err)
	}
	const header = 16 // of the idx file
	_, labels := npyOf(t, head)
	values := npy("|u1", fmt.Sprintf("(%d, 4, 3)", n), images.Bytes()[header:]...)
	p, err := partOf(table.Schema(), values, labels)
	if err != nil {
		t.Fatal(err)
	}
	return []records.TablePart{p}
}

func partOf(s records.Schema, values, labels []byte) (records.TablePart, error) {
	if labels == nil {
		return records.NPYPart(s, bytes.NewReader(values), int64(len(values)), nil, 0)
	}
	return records.NPYPart(s, bytes.NewReader(values), int64(len(values)), bytes.NewReader(labels),
		int64(len(labels)))
}

// TestPartsAreOneTable: Gather and Range return the same bits for parts and for one table, for
// also with empty parts and parts of bytes.
func TestPartsAreOneTable(t *testing.T) {
	const n = 60
	table := grey(t, n)
	for name, parts := range map[string][]records.TablePart{
		"one":              npyParts(t, table, []int{0, n}),
		"npy":              npyParts(t, table, []int{0, 0, 7, 8, 8, 30, n, n}),
		"bytes and floats": append(byteParts(t, table, 11), npyParts(t, table, []int{11, n})...),
	} {
		parted, err := records.NewPartedTable(table.Schema(), parts...)
		if err != nil {
			t.Fatal(err)
		}
		if parted.Len() != n || !parted.Schema().Equal(table.Schema()) {
			t.Fatalf("%s: got %d rows of the schema %v", name, parted.Len(), parted.Schema())
		}
		rng := rand.New(rand.NewPCG(3, 4))
		var a, b device.Batch
		for range 50 {
			rows := make([]int32, rng.IntN(20))
			for i := range rows {
				rows[i] = int32(rng.IntN(n))
			}
			if rng.IntN(2) == 0 {
				slices.Sort(rows)
			}
			table.Gather(rows, &a)
			parted.Gather(rows, &b)
			same(t, name, a, b)
			lo := rng.IntN(n + 1)
			hi := lo + rng.IntN(n+1-lo)
			table.Range(lo, hi, &a)
			parted.Range(lo, hi, &b)
			same(t, name, a, b)
		}
		if records.Failed(parted) || records.Clamped(parted) != records.Data(parted) {
			t.Errorf("%s: Failed returns true, or Clamped wraps the table", name)
		}
	}
}

func same(t *testing.T, name string, a, b device.Batch) {
	t.Helper()
	if a.Rows != b.Rows || !slices.Equal(a.Dense.Data, b.Dense.Data) ||
		!slices.Equal(a.Labels, b.Labels) || !slices.Equal(a.Index, b.Index) {
		t.Fatalf("%s: got %v, want %v", name, b, a)
	}
}

// failsFrom is a reader that fails at and after an offset.
type failsFrom struct {
	io.ReaderAt
	from   int64
	panics bool
}

func (r failsFrom) ReadAt(p []byte, at int64) (int, error) {
	if at >= r.from && r.panics {
		panic("private")
	}
	if at >= r.from {
		return 0, errors.New("private")
	}
	return r.ReaderAt.ReadAt(p, at)
}

// TestPartsThatFail: rows that cannot be read are neutral, other rows are unchanged, and the
// failure is reported.
func TestPartsThatFail(t *testing.T) {
	table := grey(t, 20)
	values, labels := npyOf(t, table)
	for _, panics := range []bool{false, true} {
		p, err := records.NPYPart(table.Schema(), failsFrom{bytes.NewReader(values), 400, panics},
			int64(len(values)), bytes.NewReader(labels), int64(len(labels)))
		if err != nil {
			t.Fatal(err)
		}
		parted, err := records.NewPartedTable(table.Schema(), p)
		if err != nil {
			t.Fatal(err)
		}
		var a, b device.Batch
		table.Gather([]int32{0, 2}, &a)
		parted.Gather([]int32{0, 2}, &b)
		same(t, "rows that can be read", a, b)
		if records.Failed(parted) {
			t.Error("Failed returns true before a read fails")
		}
		parted.Gather([]int32{0, 19}, &b)
		dim := table.Schema().Dim()
		if !slices.Equal(b.Dense.Data[:dim], a.Dense.Data[:dim]) || b.Labels[1] != 0 ||
			!slices.Equal(b.Dense.Data[dim:], make([]float32, dim)) || !records.Failed(parted) {
			t.Errorf("panics %v: %v, failed %v", panics, b, records.Failed(parted))
		}
	}
}

// TestPartsThatAreRefused checks for errors if a file contradicts its header or a part does not
// fit.
func TestPartsThatAreRefused(t *testing.T) {
	table := grey(t, 5)
	s := table.Schema()
	values, labels := npyOf(t, table)
	_, oneLabel := npyOf(t, table.Slice(0, 1))
	open := func(s records.Schema, values, labels []byte) error {
		_, err := partOf(s, values, labels)
		return err
	}
	for name, err := range map[string]error{
		"cut short":        open(s, values[:len(values)-1], labels),
		"no file":          open(s, nil, labels),
		"too few labels":   open(s, values, oneLabel),
		"another format":   open(s, make([]byte, len(values)), labels),
		"another shape":    open(records.Image(3, 5).WithLabels("a"), values, labels),
		"labels cut short": open(s, values, labels[:len(labels)-2]),
	} {
		if !errors.Is(err, records.ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
	var wrong *param.Error
	good := npyParts(t, table, []int{0, 5})
	_, other := records.NewPartedTable(records.Image(4, 3).WithLabels("x", "y", "z"), good...)
	_, zero := records.NewPartedTable(s, records.TablePart{})
	_, sets := records.NewPartedTable(records.Sets(3, 2))
	for name, err := range map[string]error{"another schema": other, "no part": zero, "sets": sets,
		"no classes": open(records.Image(4, 3), values, labels)} {
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
	none, err := records.NewPartedTable(s)
	if err != nil || none.Len() != 0 || new(records.PartedTable).Len() != 0 {
		t.Errorf("no parts: got error %v, or rows", err)
	}
}

func FuzzParts(f *testing.F) {
	values, labels := npyOf(f, grey(f, 3))
	f.Add(values, labels)
	f.Fuzz(func(t *testing.T, values, labels []byte) {
		s := records.Image(4, 3).WithLabels("a", "b", "c")
		p, err := partOf(s, values, labels)
		if err != nil {
			return
		}
		parted, err := records.NewPartedTable(s, p, p)
		if err != nil {
			t.Fatal(err)
		}
		var b device.Batch
		parted.Range(0, parted.Len(), &b)
		if err := records.Check(parted); err != nil {
			t.Errorf("the rows of the parts are not in the schema: %v", err)
		}
	})
}

// TestRowsOutsidePartsPanic checks that rows outside the table panic, as for other kinds of
// records, and do not count as rows that a reader failed to read.
func TestRowsOutsidePartsPanic(t *testing.T) {
	table := grey(t, 30)
	joined, err := records.NewPartedTable(table.Schema(), npyParts(t, table, []int{0, 10, 30})...)
	if err != nil {
		t.Fatal(err)
	}
	ahead, err := joined.WithReaders(2)
	if err != nil {
		t.Fatal(err)
	}
	panics := func(read func()) (yes bool) {
		defer func() { yes = recover() != nil }()
		read()
		return false
	}
	for name, d := range map[string]records.Data{"whole": table, "parts": joined, "ahead": ahead} {
		for _, row := range []int32{-1, math.MinInt32, 30, math.MaxInt32} {
			rows := []int32{3, row, 5}
			if a, ok := d.(records.Ahead); ok {
				a.ReadAhead(rows)
			}
			if !panics(func() { d.Gather(rows, new(device.Batch)) }) {
				t.Errorf("%s: row %d of 30 is read", name, row)
			}
		}
		if !panics(func() { d.Range(-1, 2, new(device.Batch)) }) ||
			!panics(func() { d.Range(28, 31, new(device.Batch)) }) {
			t.Errorf("%s: a range that is not in the table is read", name)
		}
		if records.Failed(d) {
			t.Errorf("%s: a wrong row number counts as a failed reader", name)
		}
	}
}
