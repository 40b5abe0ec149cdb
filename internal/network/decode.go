package network

import (
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/records"
)

// Unit maps a schema's coordinates to [0,1], where networks work, and back. Its zero value leaves
// them as they are.
type Unit struct{ lo, width float32 }

// UnitOf returns the map of a schema.
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
// coordinates and the levels of a table are drawn, other numbers moved into their bounds. Where
// means are wanted, levels are the most probable. It writes to flat.
func Records(rng *rand.Rand, s records.Schema, means bool, flat []float32,
	labels []int32) (records.Data, error) {
	switch {
	case s.Kind() == records.MixedTable:
		if !means {
			Rows(rng, TableBlocks(s), flat)
		}
		return records.DecodeFlat(s, flat, labels...)
	case s.Sparse():
		return sets(rng, s, flat, labels)
	case s.IsBinary():
		Bernoulli(rng, flat)
	default:
		UnitOf(s).Stretch(flat)
		s.Clamp(flat)
	}
	return records.FromFlat(s, flat, labels...)
}

// sets draws every item from its mean. Of more than the schema allows those are left that reading
// such a set leaves.
func sets(rng *rand.Rand, s records.Schema, flat []float32, labels []int32) (records.Data, error) {
	offsets, items := []int{0}, []uint32(nil)
	for row := range slices.Chunk(flat, s.Dim()) {
		first := len(items)
		items = appendItems(rng, items, row)
		items = items[:first+len(records.CutSet(items[first:], s.MaxItems()))]
		offsets = append(offsets, len(items))
	}
	return records.FromCSR(s, offsets, items, labels...)
}

// appendItems draws one set. Sixteen bits of a uniform number nearly always decide, so a word
// serves four items; where they do not, more are drawn.
func appendItems(rng *rand.Rand, items []uint32, p []float32) []uint32 {
	var word uint64
	for j, v := range p {
		if j%4 == 0 {
			word = rng.Uint64()
		}
		lane := float32(word & 0xffff)
		word >>= 16
		if t := v * 0x1p16; lane+1 <= t || lane < t && rng.Float32() < t-lane {
			items = append(items, uint32(j))
		}
	}
	return items
}
