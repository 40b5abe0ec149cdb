package records_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// wild returns its values unchanged, whatever they are.
type wild struct {
	schema records.Schema
	rows   [][]float32
	sets   [][]uint32
	labels []int32
}

func (w wild) Schema() records.Schema { return w.schema }
func (w wild) Len() int               { return len(w.labels) }

func (w wild) Gather(rows []int32, b *device.Batch) {
	b.Rows, b.Labels, b.Sparse, b.Index = len(rows), nil, nil, nil
	b.Dense = device.HostMatrix(len(rows), w.schema.Dim(), make([]float32, len(rows)*w.schema.Dim()))
	if w.schema.Sparse() {
		b.Sparse = &device.Sparse{Cols: w.schema.Dim(), Offsets: []int{0}}
	}
	for i, row := range rows {
		b.Labels = append(b.Labels, w.labels[row])
		if w.schema.Sparse() {
			b.Sparse.Items = append(b.Sparse.Items, w.sets[row]...)
			b.Sparse.Offsets = append(b.Sparse.Offsets, len(b.Sparse.Items))
			continue
		}
		copy(b.Dense.Row(i), w.rows[row])
	}
}

func (w wild) Range(lo, hi int, b *device.Batch) {
	var rows []int32
	for i := lo; i < hi; i++ {
		rows = append(rows, int32(i))
	}
	w.Gather(rows, b)
}

// TestClampedKeepsThePromise: data of a user-defined type are clamped, and data of this package are
// returned unchanged.
func TestClampedKeepsThePromise(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	table := must(records.NewSchema(records.Numeric("x", 0, 1).WithMissing(),
		records.Categorical("c", "p", "q"), records.Label("y", "a", "b")))(t)
	labels := []int32{0, 1, 2, -1}
	rows := [][]float32{{nan, inf, -1, 7}, {-1e30, 1, 1, 1}, {0.5, 0.2, 0.3, 0.3}, {0, 0, 0, 0}}
	sets := [][]uint32{{3, 3, 1}, {99, 0}, {0, 1, 2, 3, 4}, nil}
	for _, s := range []records.Schema{records.Interval(4, -2, 3).WithLabels("a", "b"),
		records.Binary(4).WithLabels("a", "b"),
		records.Image(2, 2), table, records.Sets(5, 3).WithLabels("a", "b"), records.Sets(5, 3)} {
		d := records.Clamped(records.WithUnit(wild{s, rows, sets, labels}, records.UnitUser))
		if err := records.Check(d); err != nil {
			t.Errorf("%v: Check returns %v", s, err)
		}
		for _, free := range []records.Data{records.Guarded(wild{s, rows, sets, labels}),
			records.WithUnit(records.Guarded(wild{s, rows, sets, labels}), records.UnitUser)} {
			if err := records.Check(records.Clamped(free)); err != nil {
				t.Errorf("%v: guarded before they are clamped: Check returns %v", s, err)
			}
		}
		if records.UnitOf(d) != records.UnitUser || d.Len() != 4 {
			t.Errorf("%v: got unit %s and %d records, want users and 4", s, records.UnitOf(d), d.Len())
		}
		var whole, part device.Batch
		d.Range(0, 4, &whole)
		part.Index = []int32{3, 1}
		d.Gather(part.Index, &part)
		if part.Rows != 2 || part.Index[0] != 3 || whole.Index[1] != 1 {
			t.Errorf("%v: got rows %v and %v, with a wrong index", s, whole.Index, part.Index)
		}
		if s.Classes() > 0 && (part.Labels[0] != 0 || part.Labels[1] != 1) {
			t.Errorf("%v: got labels %v, want 0 and 1", s, part.Labels)
		}
		own := must(records.Concat(s))(t)
		if records.Clamped(own) != own {
			t.Errorf("%v: data of this package are wrapped", s)
		}
	}
}

// TestDataThatFail: data that fail in any way give neutral rows and a report, never a panic.
func TestDataThatFail(t *testing.T) {
	for _, s := range []records.Schema{
		records.Interval(3, 1, 3).WithLabels("a", "b"), records.Sets(5, 3)} {
		good := wild{s, [][]float32{{1, 2, 3}, {3, 2, 1}}, [][]uint32{{1}, {2, 4}}, []int32{0, 1}}
		for name, d := range map[string]records.Data{
			"panics":           faulty{wild: good, panics: true},
			"too long":         faulty{wild: good, claims: 7},
			"negative":         faulty{wild: good, claims: -1},
			"beyond every row": faulty{wild: good, claims: math.MaxInt},
			"other rows":       faulty{wild: good, other: true},
		} {
			if name == "beyond every row" && strconv.IntSize == 32 {
				continue // 2^31-1 rows are possible, and each of them would be read
			}
			c := records.Clamped(records.WithUnit(d, records.UnitUser))
			var b device.Batch
			b.Keys = []uint64{4, 5}
			for lo := 0; lo < c.Len(); lo += 2 {
				c.Range(lo, min(lo+2, c.Len()), &b)
				c.Gather([]int32{int32(lo)}, &b)
				if b.Rows != 1 || len(b.Index) != 1 || len(b.Keys) != 2 || b.Dim() != s.Dim() {
					t.Fatalf("%s: got a batch of %d rows, %d coordinates, want one row", name, b.Rows, b.Dim())
				}
			}
			if !records.Failed(c) {
				t.Errorf("%v, %s: no failure is reported", s, name)
			}
			if err := records.Check(c); err != nil {
				t.Errorf("%v, %s: Check returns %v", s, name, err)
			}
		}
		if c := records.Clamped(good); records.Check(c) != nil || records.Failed(c) {
			t.Errorf("%v: correct data are reported as failed", s)
		}
	}
}

// faulty violates one part of the contract of Data.
type faulty struct {
	wild
	panics, other bool
	claims        int
}

func (f faulty) Len() int {
	if f.claims != 0 {
		return f.claims
	}
	return f.wild.Len()
}

func (f faulty) Gather(rows []int32, b *device.Batch) {
	if f.panics {
		panic("private value 7")
	}
	if f.other {
		rows = rows[:0]
	}
	f.wild.Gather(rows, b)
}

func (f faulty) Range(lo, hi int, b *device.Batch) {
	if f.panics {
		panic("private value 7")
	}
	if f.other {
		hi = lo
	}
	f.wild.Range(lo, hi, b)
}
