package records

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// Clamped is d where its type is this package's own, and otherwise the same records with
// the promise of [Data] kept for them: whatever d hands out is moved into the schema,
// values and items as when they are read, labels that do not exist to the first class.
// A private algorithm whose sensitivity rests on records lying in their schema reads
// them through this, since anybody may implement Data.
func Clamped(d Data) Data {
	switch own := d.(type) {
	case *Table, *SetTable, *Frame, *MappedSets, clamped, nil:
		return d
	case stated:
		return stated{Clamped(own.Data), own.unit}
	}
	return clamped{d}
}

// clamped moves what foreign data hand out into their schema.
type clamped struct{ Data }

// Unit is that of the data.
func (c clamped) Unit() string { return UnitOf(c.Data) }

func (c clamped) Gather(rows []int32, b *device.Batch) {
	rows = slices.Clone(rows) // they may be b.Index itself
	c.Data.Gather(rows, b)
	c.clamp(b, len(rows))
	indexRows(b, rows)
}

func (c clamped) Range(lo, hi int, b *device.Batch) {
	c.Data.Range(lo, hi, b)
	c.clamp(b, hi-lo)
	indexRange(b, lo, hi)
}

// clamp rewrites a batch of n rows.
func (c clamped) clamp(b *device.Batch, n int) {
	s := c.Data.Schema()
	labels := b.Labels
	if s.Sparse() {
		clampSets(s, b, n)
	} else {
		clampRows(s, b, n)
	}
	b.Labels = nil
	if s.Classes() == 0 {
		return
	}
	b.Labels = make([]int32, n)
	for i, l := range labels[:min(len(labels), n)] {
		if l > 0 && int(l) < s.Classes() {
			b.Labels[i] = l
		}
	}
}

func clampRows(s Schema, b *device.Batch, n int) {
	flat := make([]float32, n*s.dim)
	for i := range min(n, b.Dense.Rows) {
		copy(flat[i*s.dim:(i+1)*s.dim], b.Dense.Row(i))
	}
	s.Clamp(flat)
	b.Rows, b.Sparse = n, nil
	b.Dense = device.Matrix{Rows: n, Cols: s.dim, Stride: s.dim, Data: flat}
}

func clampSets(s Schema, b *device.Batch, n int) {
	given := b.Sparse
	b.Sparse = nil
	out := sparseBuffer(b, n, s.dim)
	for i := range n {
		if given != nil && i < b.Rows && i+1 < len(given.Offsets) {
			row := slices.DeleteFunc(slices.Clone(given.Row(i)), func(item uint32) bool { return int64(item) >= int64(s.dim) })
			slices.Sort(row)
			out.Items = append(out.Items, CutSet(slices.Compact(row), s.MaxItems())...)
		}
		out.Offsets[i+1] = len(out.Items)
	}
}
