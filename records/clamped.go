package records

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/device"
)

// ErrData is returned if data fail while they are read; see [Failed]. It gives no details, since
// these would be private.
var ErrData = errors.New("the data set failed while it was read")

// Clamped returns d if its type is from this package, and otherwise a wrapper that enforces the
// contract of [Data]. The wrapper clamps values and items that d returns into the schema, as
// readers do, and replaces invalid labels by the first class. Private algorithms whose sensitivity
// depends on the schema read records through Clamped, since Data may be user-defined.
//
// Schema and length are read once. If d fails to return a batch, each row of the batch is read
// again separately. A panic, a call of runtime.Goexit and a wrong shape are failures. Rows that
// fail again become neutral: zeros clamped into the schema, empty sets, and the first class. So an
// unreadable record does not affect others if d treats each row separately. [Failed] reports every
// failure.
func Clamped(d Data) Data {
	if d == nil {
		return nil
	}
	return guard(d, false)
}

// Guarded is [Clamped] for algorithms whose sensitivity does not depend on values, for example
// because they clip each record's contribution. Values of dense records are passed on unchanged,
// including NaN. Shapes, labels, items and failures are handled as by Clamped; dense rows that fail
// are zero.
func Guarded(d Data) Data { return guard(d, true) }

func guard(d Data, anyValue bool) Data {
	switch own := d.(type) {
	case *Table, *SetTable, *Frame, *Persons, *Linked, nil:
		return d
	case *clamped:
		if anyValue || !own.anyValue {
			return d
		}
	case stated:
		own.Data = guard(own.Data, anyValue)
		return own
	}
	c := &clamped{data: d, unit: UnitRecord, anyValue: anyValue}
	c.try(func() {
		c.schema, c.unit = d.Schema(), UnitOf(d)
		if c.rows = d.Len(); c.rows < 0 || c.rows > math.MaxInt32 {
			c.rows = 0
			c.failed.Store(true)
		}
	})
	return c
}

// Failed reports whether data returned by [Clamped] or [Guarded] have violated the contract of
// [Data]. Other types report a failure by a method
// Failed() bool. It does not reveal which records failed, or their values.
func Failed(d Data) bool {
	switch own := unstated(d).(type) {
	case *clamped:
		return own.failed.Load() || Failed(own.data)
	case interface{ Failed() bool }:
		return own.Failed()
	}
	return false
}

// clamped clamps the records that a user-defined type returns into its schema.
type clamped struct {
	private
	data   Data
	schema Schema
	unit   string
	rows   int
	failed atomic.Bool

	anyValue bool // dense values stay as they are
}

func (c *clamped) Schema() Schema { return c.schema }
func (c *clamped) Len() int       { return c.rows }

// Unit returns the unit of the data.
func (c *clamped) Unit() string { return c.unit }

// try runs read and reports whether it returned; a failure is remembered.
func (c *clamped) try(read func()) bool {
	ok := returns(read)
	if !ok {
		c.failed.Store(true)
	}
	return ok
}

// returns reports whether a call of user-defined code returns, rather than ending in a panic or in
// runtime.Goexit. Goexit ends the goroutine that calls it, so the call runs in a separate one.
func returns(call func()) bool {
	done := make(chan bool, 1)
	go func() {
		finished := false
		defer func() {
			_ = recover()
			done <- finished
		}()
		call()
		finished = true
	}()
	return <-done
}

func (c *clamped) Gather(rows []int32, b *device.Batch) {
	rows = slices.Clone(rows) // rows may be b.Index itself
	// Each call gets a copy: user-defined code could write to the list, which is read again.
	c.fill(b, len(rows), func(lo, hi int, b *device.Batch) {
		c.data.Gather(slices.Clone(rows[lo:hi]), b)
	})
	indexRows(b, rows)
}

func (c *clamped) Range(lo, hi int, b *device.Batch) {
	c.fill(b, hi-lo, func(from, to int, b *device.Batch) { c.data.Range(lo+from, lo+to, b) })
	indexRange(b, lo, hi)
}

// fill reads n rows of the data and clamps them into the schema. If reading them together fails, it
// reads them one at a time.
func (c *clamped) fill(b *device.Batch, n int, read func(lo, hi int, b *device.Batch)) {
	keys := b.Keys
	all, ok := c.read(0, n, read)
	if !ok {
		all = c.singly(n, read)
	}
	*b = all
	b.Keys = keys
}

// read reads the requested rows lo to hi-1 into a new batch. A row that the data fail to write
// therefore never keeps the values of an earlier row.
func (c *clamped) read(lo, hi int, read func(lo, hi int, b *device.Batch)) (device.Batch, bool) {
	var b device.Batch
	fit := false
	ok := c.try(func() {
		read(lo, hi, &b)
		if fit = fits(c.schema, &b, hi-lo); fit {
			c.clamp(&b, hi-lo)
		}
	})
	if !fit {
		c.failed.Store(true)
	}
	return b, ok && fit
}

// singly reads n rows one at a time. Rows that fail are neutral.
func (c *clamped) singly(n int, read func(lo, hi int, b *device.Batch)) (out device.Batch) {
	c.clamp(&out, n)
	for i := range n {
		if one, ok := c.read(i, i+1, read); ok {
			copyRow(&out, i, one)
		}
		if out.Sparse != nil {
			out.Sparse.Offsets[i+1] = len(out.Sparse.Items)
		}
	}
	return out
}

// copyRow copies the only row of a batch to row i of another. Sets must be copied in the order of
// their rows.
func copyRow(b *device.Batch, i int, one device.Batch) {
	if b.Sparse != nil {
		b.Sparse.Items = append(b.Sparse.Items, one.Sparse.Items...)
	} else {
		copy(b.Dense.Row(i), one.Dense.Row(0))
	}
	if b.Labels != nil {
		b.Labels[i] = one.Labels[0]
	}
}

// fits reports whether a batch has the shape of n records of a schema.
func fits(s Schema, b *device.Batch, n int) bool {
	if b.Rows != n || s.Classes() > 0 && len(b.Labels) != n {
		return false
	}
	if s.Sparse() {
		return b.Sparse != nil && b.Sparse.Cols == s.dim && offsetsFit(b.Sparse, n)
	}
	d := b.Dense
	if b.Sparse != nil || d.Mem != nil || d.Rows != n || d.Cols != s.dim || d.Stride < d.Cols {
		return false
	}
	return n == 0 || len(d.Data) >= d.Cols && (len(d.Data)-d.Cols)/max(d.Stride, 1) >= n-1
}

func offsetsFit(s *device.Sparse, n int) bool {
	if s.Rows() != n {
		return false
	}
	o := s.Offsets
	return n == 0 || o[0] >= 0 && slices.IsSorted(o) && o[n] <= len(s.Items)
}

// clamp clamps a batch of n rows; rows that it lacks become neutral.
func (c *clamped) clamp(b *device.Batch, n int) {
	s := c.schema
	labels := b.Labels
	if s.Sparse() {
		clampSets(s, b, n)
	} else {
		c.clampRows(s, b, n)
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

func (c *clamped) clampRows(s Schema, b *device.Batch, n int) {
	flat := make([]float32, n*s.dim)
	for i := range min(n, b.Dense.Rows) {
		copy(flat[i*s.dim:(i+1)*s.dim], b.Dense.Row(i))
	}
	if !c.anyValue {
		s.Clamp(flat)
	}
	b.Rows, b.Sparse = n, nil
	b.Dense = device.Matrix{Rows: n, Cols: s.dim, Stride: s.dim, Data: flat}
}

func clampSets(s Schema, b *device.Batch, n int) {
	given := b.Sparse
	b.Sparse = nil
	out := sparseBuffer(b, n, s.dim)
	for i := range n {
		if given != nil && i < b.Rows && i+1 < len(given.Offsets) {
			row := slices.DeleteFunc(slices.Clone(given.Row(i)), func(item uint32) bool {
				return int64(item) >= int64(s.dim)
			})
			slices.Sort(row)
			out.Items = append(out.Items, CutSet(slices.Compact(row), s.MaxItems())...)
		}
		out.Offsets[i+1] = len(out.Items)
	}
}
