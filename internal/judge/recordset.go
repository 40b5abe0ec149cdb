package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Selection holds some rows of other data.
type Selection struct {
	Of   records.Data
	Rows []int32
}

// Schema returns the schema of the data.
func (r Selection) Schema() records.Schema { return r.Of.Schema() }

// Len returns the number of selected rows.
func (r Selection) Len() int { return len(r.Rows) }

// Range reads some of the selected rows, in order.
func (r Selection) Range(lo, hi int, b *device.Batch) { r.Of.Gather(r.Rows[lo:hi], b) }

// Gather reads selected rows by their place in the selection.
func (r Selection) Gather(rows []int32, b *device.Batch) {
	picked := make([]int32, len(rows))
	for i, row := range rows {
		picked[i] = r.Rows[row]
	}
	r.Of.Gather(picked, b)
}

// InSchema returns the same records clamped into their schema, since Data may be a user-defined
// type.
func InSchema(d records.Data) records.Data {
	if some, ok := d.(Selection); ok {
		return Selection{records.Clamped(some.Of), some.Rows}
	}
	return records.Clamped(d)
}

// Draw draws want of n rows without replacement, in ascending order.
func Draw(rng *rand.Rand, n, want int) []int32 {
	rows := make([]int32, 0, min(want, n))
	for i := range n { // selection sampling
		if rng.IntN(n-i) < want-len(rows) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// AtMost returns d, or the given number of its rows drawn at random if it has more.
func AtMost(d records.Data, most int, seed uint64) records.Data {
	if d.Len() <= most {
		return d
	}
	return Selection{d, Draw(rand.New(rand.NewPCG(seed, 0x726f7773)), d.Len(), most)}
}

// Labels returns the labels of all records.
func Labels(d records.Data) []int32 {
	const chunk = 4096
	var b device.Batch
	out := make([]int32, 0, d.Len())
	for lo := 0; lo < d.Len(); lo += chunk {
		d.Range(lo, min(lo+chunk, d.Len()), &b)
		out = append(out, b.Labels...)
	}
	return out
}

// Given returns an error if any of the data are nil.
func Given(path string, all ...records.Data) error {
	for _, d := range all {
		if d == nil {
			return param.New(path, nil, "records")
		}
	}
	return nil
}

// Share returns a/b, or 0 if b is 0.
func Share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Alike returns an error for data of different kinds or classes.
func Alike(path string, want records.Data, others ...records.Data) error {
	if err := Given(path, append([]records.Data{want}, others...)...); err != nil {
		return err
	}
	w := want.Schema()
	wantLo, wantHi := w.Bounds()
	for _, d := range others {
		s := d.Schema()
		lo, hi := s.Bounds()
		same := s.Dim() == w.Dim() && s.Sparse() == w.Sparse() && lo == wantLo && hi == wantHi
		if !same || !slices.Equal(s.ClassNames(), w.ClassNames()) ||
			!slices.Equal(s.Blocks(), w.Blocks()) {
			return param.New(path, s, fmt.Sprintf("records of the same schema as the others, %v", w))
		}
	}
	return nil
}

// Subset draws n distinct items, in ascending order, by Floyd's algorithm. Its time does not depend
// on the size of the universe.
func Subset(rng *rand.Rand, universe, n int) []uint32 {
	chosen := make(map[uint32]bool, n)
	for last := universe - n; last < universe; last++ {
		item := uint32(rng.IntN(last + 1))
		if chosen[item] {
			item = uint32(last)
		}
		chosen[item] = true
	}
	items := make([]uint32, 0, n)
	for item := range chosen {
		items = append(items, item)
	}
	slices.Sort(items)
	return items
}
