package records_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
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

// npyParts divides a table into parts in NumPy's format, and idxParts into parts in MNIST's format.
func npyParts(t testing.TB, table *records.Table, cuts []int) (parts []records.TablePart) {
	t.Helper()
	s := table.Schema()
	for i := 1; i < len(cuts); i++ {
		piece := table.Slice(cuts[i-1], cuts[i])
		var values bytes.Buffer
		if err := records.WriteNPY(&values, piece); err != nil {
			t.Fatal(err)
		}
		var label io.ReaderAt
		var size int64
		if s.Classes() > 0 {
			flat := make([]float32, piece.Len())
			for i := range flat {
				flat[i] = float32(piece.Label(i))
			}
			column, err := records.FromFlat(records.Interval(1, 0, 255), flat)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := records.WriteNPY(&out, column); err != nil {
				t.Fatal(err)
			}
			label, size = bytes.NewReader(out.Bytes()), int64(out.Len())
		}
		p, err := records.NPYPart(s, bytes.NewReader(values.Bytes()), int64(values.Len()), label, size)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return parts
}

func idxParts(t testing.TB, table *records.Table, cuts []int) (parts []records.TablePart) {
	t.Helper()
	for i := 1; i < len(cuts); i++ {
		var images, labels bytes.Buffer
		piece := table.Slice(cuts[i-1], cuts[i])
		if err := records.WriteIDX(&images, &labels, piece); err != nil {
			t.Fatal(err)
		}
		p, err := records.IDXPart(table.Schema(), bytes.NewReader(images.Bytes()), int64(images.Len()),
			bytes.NewReader(labels.Bytes()), int64(labels.Len()))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return parts
}

// TestPartsAreOneTable: Gather and Range return the same bits for parts and for one table, for
// files of both formats, also with empty parts.
func TestPartsAreOneTable(t *testing.T) {
	const n = 60
	table := grey(t, n)
	for name, parts := range map[string][]records.TablePart{
		"one":  npyParts(t, table, []int{0, n}),
		"npy":  npyParts(t, table, []int{0, 0, 7, 8, 8, 30, n, n}),
		"idx":  idxParts(t, table, []int{0, 1, 1, 40, n}),
		"both": append(idxParts(t, table, []int{0, 11}), npyParts(t, table, []int{11, n})...),
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
	var images, labels bytes.Buffer
	if err := records.WriteIDX(&images, &labels, table); err != nil {
		t.Fatal(err)
	}
	for _, panics := range []bool{false, true} {
		p, err := records.IDXPart(table.Schema(), failsFrom{bytes.NewReader(images.Bytes()), 100, panics},
			int64(images.Len()), bytes.NewReader(labels.Bytes()), int64(labels.Len()))
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
	var images, labels bytes.Buffer
	if err := records.WriteIDX(&images, &labels, table); err != nil {
		t.Fatal(err)
	}
	idx := func(s records.Schema, image, label []byte) error {
		_, err := records.IDXPart(s, bytes.NewReader(image), int64(len(image)), bytes.NewReader(label),
			int64(len(label)))
		return err
	}
	short := images.Bytes()[:images.Len()-1]
	var one, oneLabel bytes.Buffer
	if err := records.WriteIDX(&one, &oneLabel, table.Slice(0, 1)); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"cut short":        idx(s, short, labels.Bytes()),
		"no file":          idx(s, nil, labels.Bytes()),
		"too few labels":   idx(s, images.Bytes(), oneLabel.Bytes()),
		"another format":   npyOf(s, images.Bytes()),
		"another shape":    idx(records.Image(3, 5).WithLabels("a"), images.Bytes(), labels.Bytes()),
		"labels cut short": idx(s, images.Bytes(), labels.Bytes()[:labels.Len()-2]),
	} {
		if !errors.Is(err, records.ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
	var wrong *param.Error
	good := idxParts(t, table, []int{0, 5})
	_, other := records.NewPartedTable(records.Image(4, 3).WithLabels("x", "y", "z"), good...)
	_, zero := records.NewPartedTable(s, records.TablePart{})
	_, sets := records.NewPartedTable(records.Sets(3, 2))
	for name, err := range map[string]error{"another schema": other, "no part": zero, "sets": sets,
		"no classes": idx(records.Image(4, 3), images.Bytes(), labels.Bytes())} {
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
	none, err := records.NewPartedTable(s)
	if err != nil || none.Len() != 0 || new(records.PartedTable).Len() != 0 {
		t.Errorf("no parts: got error %v, or rows", err)
	}
}

func npyOf(s records.Schema, b []byte) error {
	_, err := records.NPYPart(s, bytes.NewReader(b), int64(len(b)), bytes.NewReader(b), int64(len(b)))
	return err
}

func FuzzParts(f *testing.F) {
	var images, labels bytes.Buffer
	if err := records.WriteIDX(&images, &labels, grey(f, 3)); err != nil {
		f.Fatal(err)
	}
	f.Add(images.Bytes(), labels.Bytes())
	f.Fuzz(func(t *testing.T, image, label []byte) {
		s := records.Image(4, 3).WithLabels("a", "b", "c")
		for _, open := range []func(records.Schema, io.ReaderAt, int64, io.ReaderAt, int64) (
			records.TablePart, error){records.IDXPart, records.NPYPart} {
			p, err := open(s, bytes.NewReader(image), int64(len(image)), bytes.NewReader(label),
				int64(len(label)))
			if err != nil {
				continue
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
