package records

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/device"
)

// Clamped is d where its type is this package's own, and otherwise the same records with the promise of
// [Data] kept for them: whatever d hands out is moved into the schema, values and items as when they are
// read, labels that do not exist to the first class. A private algorithm whose sensitivity rests on
// records lying in their schema reads them through this, since any package may implement Data.
//
// Schema and length are asked for once. Rows that d fails to hand out, by a panic or in another shape,
// become neutral rows, on whatever goroutine they are read; [Failed] then reports it.
func Clamped(d Data) Data {
	switch own := d.(type) {
	case *Table, *SetTable, *Frame, *MappedSets, *clamped, nil:
		return d
	case stated:
		return stated{Clamped(own.Data), own.unit}
	}
	c := &clamped{data: d, unit: UnitRecord}
	c.try(func() {
		c.schema, c.unit = d.Schema(), UnitOf(d)
		if c.rows = d.Len(); c.rows < 0 || c.rows > math.MaxInt32 {
			c.rows = 0
			c.failed.Store(true)
		}
	})
	return c
}

// Failed reports whether data that [Clamped] returned have failed to hand out records as they promise.
// It says nothing about which, or about their values.
func Failed(d Data) bool {
	switch own := d.(type) {
	case *clamped:
		return own.failed.Load()
	case stated:
		return Failed(own.Data)
	}
	return false
}

// clamped moves what a user-defined type hands out into its schema.
type clamped struct {
	data   Data
	schema Schema
	unit   string
	rows   int
	failed atomic.Bool
}

func (c *clamped) Schema() Schema { return c.schema }
func (c *clamped) Len() int       { return c.rows }

// Unit is that of the data.
func (c *clamped) Unit() string { return c.unit }

// try notes a panic of the data.
func (c *clamped) try(read func()) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
			c.failed.Store(true)
		}
	}()
	read()
	return true
}

func (c *clamped) Gather(rows []int32, b *device.Batch) {
	rows = slices.Clone(rows) // they may be b.Index itself
	c.fill(b, len(rows), func() { c.data.Gather(rows, b) })
	indexRows(b, rows)
}

func (c *clamped) Range(lo, hi int, b *device.Batch) {
	c.fill(b, hi-lo, func() { c.data.Range(lo, hi, b) })
	indexRange(b, lo, hi)
}

// fill lets the data write n rows and moves them into the schema; rows that fail are neutral.
func (c *clamped) fill(b *device.Batch, n int, read func()) {
	keys := b.Keys
	ok := c.try(func() {
		read()
		if b.Rows != n {
			c.failed.Store(true)
		}
		c.clamp(b, n)
	})
	if !ok {
		*b = device.Batch{}
		c.clamp(b, n)
	}
	b.Keys = keys
}

// clamp rewrites a batch of n rows.
func (c *clamped) clamp(b *device.Batch, n int) {
	s := c.schema
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
