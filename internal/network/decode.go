package network

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// Unit maps a schema's coordinates to [0,1], where networks work, and back. Its zero value leaves
// them as they are.
type Unit struct{ lo, width float32 }

// UnitOf is the map of a schema.
func UnitOf(s records.Schema) Unit {
	lo, hi := s.Bounds()
	if s.Kind() != records.IntervalVector || lo == 0 && hi == 1 {
		return Unit{}
	}
	return Unit{float32(lo), float32(hi - lo)}
}

// Moves reports whether the map is anything but the identity.
func (u Unit) Moves() bool { return u.width != 0 }

// Shrink maps values into [0,1]. It is total: what does not fit float32's range ends at a bound.
func (u Unit) Shrink(values []float32) {
	if !u.Moves() {
		return
	}
	for i, v := range values {
		x := (v - u.lo) / u.width
		if !(x > 0) {
			x = 0
		}
		values[i] = min(x, 1)
	}
}

// Stretch is the inverse of Shrink.
func (u Unit) Stretch(values []float32) {
	if !u.Moves() {
		return
	}
	for i, v := range values {
		values[i] = u.lo + u.width*v
	}
}

// Records turns what a network states, numbers in [0,1] row by row, into records: binary
// coordinates and the levels of a table are drawn, other numbers moved into their bounds. It writes
// to flat.
func Records(rng *rand.Rand, s records.Schema, flat []float32,
	labels []int32) (records.Data, error) {
	if s.Kind() == records.MixedTable {
		Rows(rng, TableBlocks(s), flat)
		return records.DecodeFlat(s, flat, labels...)
	}
	if s.IsBinary() {
		Bernoulli(rng, flat)
	} else {
		UnitOf(s).Stretch(flat)
		s.Clamp(flat)
	}
	if s.Sparse() {
		return sets(s, flat, labels)
	}
	return records.FromFlat(s, flat, labels...)
}

// sets lists the items of every row. Of more than the schema allows those are left that reading
// such a set leaves.
func sets(s records.Schema, flat []float32, labels []int32) (records.Data, error) {
	offsets, items := []int{0}, []uint32(nil)
	for lo := 0; lo < len(flat); lo += s.Dim() {
		first := len(items)
		for j, v := range flat[lo : lo+s.Dim()] {
			if v != 0 {
				items = append(items, uint32(j))
			}
		}
		items = items[:first+len(records.CutSet(items[first:], s.MaxItems()))]
		offsets = append(offsets, len(items))
	}
	return records.FromCSR(s, offsets, items, labels...)
}
