package network

import (
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/records"
)

// Unit maps a schema's coordinates to [0,1], the range of networks, and back. The zero value is the
// identity.
type Unit struct{ lo, width float32 }

// UnitOf returns the map of a schema.
func UnitOf(s records.Schema) Unit {
	lo, hi := s.Bounds()
	if s.Kind() != records.IntervalVector || lo == 0 && hi == 1 {
		return Unit{}
	}
	return Unit{float32(lo), float32(hi - lo)}
}

// Moves reports whether the map differs from the identity.
func (u Unit) Moves() bool { return u.width != 0 }

// Shrink maps values into [0,1]. Values outside the schema's bounds and infinities become 0 or 1,
// and NaN becomes 0.
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

// Records turns a network's output, rows of numbers in [0,1], into records. Binary coordinates and
// the levels of a table are drawn, and other numbers are scaled to their bounds. With means, the
// most probable levels of a table are used instead. Records overwrites flat.
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

// sets draws every item with its mean as the probability. A set with more items than the schema
// allows is cut with records.CutSet, like a set that is read from a file.
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

// appendItems draws one set. Sixteen bits of a uniform number nearly always determine whether an
// item is in the set, so one word is enough for four items. Otherwise more bits are drawn.
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
