package records_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// mined is correct data, except that reading row bad calls end.
type mined struct {
	wild
	bad int32
	end func()
}

func (m mined) Gather(rows []int32, b *device.Batch) {
	if slices.Contains(rows, m.bad) {
		m.end()
	}
	m.wild.Gather(rows, b)
}

func (m mined) Range(lo, hi int, b *device.Batch) {
	if lo <= int(m.bad) && int(m.bad) < hi {
		m.end()
	}
	m.wild.Range(lo, hi, b)
}

// TestARowThatFailsMovesNoOther: a row that cannot be read becomes neutral, and the other rows of
// its batch stay the same.
func TestARowThatFailsMovesNoOther(t *testing.T) {
	labels := []int32{1, 1, 1, 1}
	rows := [][]float32{{1, 2, 3}, {3, 2, 1}, {2, 2, 2}, {3, 3, 1}}
	sets := [][]uint32{{1}, {2, 4}, {3}, {0, 1, 2}}
	ends := map[string]func(){"panic": func() { panic("7") }, "goexit": runtime.Goexit}
	for _, s := range []records.Schema{records.Interval(3, 1, 3).WithLabels("a", "b"),
		records.Sets(5, 3).WithLabels("a", "b"), records.Sets(5, 3)} {
		for name, end := range ends {
			good := wild{s, rows, sets, labels}
			c := records.Clamped(mined{good, 2, end})
			order := []int32{3, 2, 0, 1}
			var got, want device.Batch
			c.Gather(order, &got)
			records.Clamped(good).Gather(order, &want)
			sameButOne(t, name, got, want, 1)
			c.Range(1, 4, &got)
			records.Clamped(good).Range(1, 4, &want)
			sameButOne(t, name, got, want, 1)
			if !records.Failed(c) {
				t.Errorf("%v, %s: no failure is reported", s, name)
			}
		}
	}
}

// sameButOne checks that row neutral of batch got is neutral, and that all other rows of the two
// batches agree.
func sameButOne(t *testing.T, name string, got, want device.Batch, neutral int) {
	t.Helper()
	if got.Rows != want.Rows || !slices.Equal(got.Index, want.Index) {
		t.Fatalf("%s: got %d rows with wrong index %v", name, got.Rows, got.Index)
	}
	for i := range got.Rows {
		same := want.Labels == nil || got.Labels[i] == want.Labels[i]
		still := got.Labels == nil || got.Labels[i] == 0
		if want.Sparse != nil {
			same = same && slices.Equal(got.Sparse.Row(i), want.Sparse.Row(i))
			still = still && len(got.Sparse.Row(i)) == 0
		} else {
			same = same && slices.Equal(got.Dense.Row(i), want.Dense.Row(i))
			still = still && slices.Equal(got.Dense.Row(i), []float32{1, 1, 1})
		}
		if i == neutral && !still || i != neutral && !same {
			t.Errorf("%s: row %d of %d has the wrong values", name, i, got.Rows)
		}
	}
}

// bent changes the batches of correct data.
type bent struct {
	wild
	bend func(*device.Batch)
}

func (d bent) Gather(rows []int32, b *device.Batch) {
	d.wild.Gather(rows, b)
	d.bend(b)
}

func (d bent) Range(lo, hi int, b *device.Batch) {
	d.wild.Range(lo, hi, b)
	d.bend(b)
}

// TestEveryWrongShapeIsAFailure: a batch of a wrong shape is a failure, even if it has the right
// number of rows.
func TestEveryWrongShapeIsAFailure(t *testing.T) {
	dense, sparse := records.Interval(3, 1, 3).WithLabels("a", "b"), records.Sets(5, 3)
	for name, c := range map[string]struct {
		schema records.Schema
		bend   func(*device.Batch)
	}{
		"short":      {dense, func(b *device.Batch) { b.Dense.Rows-- }},
		"narrow":     {dense, func(b *device.Batch) { b.Dense.Cols-- }},
		"little":     {dense, func(b *device.Batch) { b.Dense.Data = b.Dense.Data[1:] }},
		"no labels":  {dense, func(b *device.Batch) { b.Labels = nil }},
		"few labels": {dense, func(b *device.Batch) { b.Labels = b.Labels[1:] }},
		"sparse":     {dense, func(b *device.Batch) { b.Sparse = &device.Sparse{} }},
		"nothing":    {dense, func(b *device.Batch) { *b = device.Batch{} }},
		"no sets":    {sparse, func(b *device.Batch) { b.Sparse = nil }},
		"few sets":   {sparse, func(b *device.Batch) { b.Sparse.Offsets = b.Sparse.Offsets[1:] }},
		"far":        {sparse, func(b *device.Batch) { b.Sparse.Offsets[b.Rows] = 99 }},
		"backwards":  {sparse, func(b *device.Batch) { b.Sparse.Offsets[0] = 99 }},
		"negative":   {sparse, func(b *device.Batch) { b.Sparse.Offsets[0] = -1 }},
		"universe":   {sparse, func(b *device.Batch) { b.Sparse.Cols++ }},
	} {
		good := wild{c.schema, [][]float32{{1, 2, 3}, {3, 2, 1}}, [][]uint32{{1}, {2, 4}}, []int32{0, 1}}
		for _, guard := range []func(records.Data) records.Data{records.Clamped, records.Guarded} {
			d := guard(bent{good, c.bend})
			var b device.Batch
			d.Range(0, 2, &b)
			if !records.Failed(d) || b.Rows != 2 || len(b.Index) != 2 || b.Dim() != c.schema.Dim() {
				t.Errorf("%s: Failed returns %v, want true; got %d rows", name, records.Failed(d), b.Rows)
			}
			d = guard(bent{good, func(*device.Batch) {}})
			if d.Range(0, 2, &b); records.Failed(d) {
				t.Errorf("%s: correct data are reported as failed", name)
			}
		}
	}
}
