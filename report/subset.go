package report

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// some returns the ascending numbers of most rows drawn at random, or nil for all rows if d has no
// more than that.
func some(d records.Data, most int, seed uint64) []int32 {
	n := d.Len()
	if n <= most {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 0x736f6d65))
	rows := make([]int32, 0, most)
	for i := range n { // selection sampling
		if rng.IntN(n-i) < most-len(rows) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// subset is a selection of rows of other records.
type subset struct {
	records.Data
	rows []int32
}

// atMost returns d or, if it has more than most rows, that many of its rows drawn at random.
func atMost(d records.Data, most int, seed uint64) records.Data {
	if rows := some(d, most, seed); rows != nil {
		return subset{records.Clamped(d), rows}
	}
	return d
}

// Len returns the number of rows.
func (s subset) Len() int { return len(s.rows) }

// Range reads consecutive rows of the selection.
func (s subset) Range(lo, hi int, b *device.Batch) { s.Data.Gather(s.rows[lo:hi], b) }

// Gather reads rows by their position in the selection.
func (s subset) Gather(rows []int32, b *device.Batch) {
	picked := make([]int32, len(rows))
	for i, r := range rows {
		picked[i] = s.rows[r]
	}
	s.Data.Gather(picked, b)
}
