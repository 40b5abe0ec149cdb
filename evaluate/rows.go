package evaluate

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// rowsOf is some rows of other data.
type rowsOf struct {
	of   records.Data
	rows []int32
}

func (r rowsOf) Schema() records.Schema { return r.of.Schema() }
func (r rowsOf) Len() int               { return len(r.rows) }

func (r rowsOf) Range(lo, hi int, b *device.Batch) { r.of.Gather(r.rows[lo:hi], b) }

func (r rowsOf) Gather(rows []int32, b *device.Batch) {
	picked := make([]int32, len(rows))
	for i, row := range rows {
		picked[i] = r.rows[row]
	}
	r.of.Gather(picked, b)
}

// inSchema is the same records as their schema has them, since anybody may implement Data.
func inSchema(d records.Data) records.Data {
	if some, ok := d.(rowsOf); ok {
		return rowsOf{records.Clamped(some.of), some.rows}
	}
	return records.Clamped(d)
}

// someRows draws want of n rows without replacement, ascending.
func someRows(rng *rand.Rand, n, want int) []int32 {
	rows := make([]int32, 0, min(want, n))
	for i := range n { // selection sampling
		if rng.IntN(n-i) < want-len(rows) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// atMostRows is d, or that many of its rows drawn at random.
func atMostRows(d records.Data, most int, seed uint64) records.Data {
	if d.Len() <= most {
		return d
	}
	return rowsOf{d, someRows(rand.New(rand.NewPCG(seed, 0x726f7773)), d.Len(), most)}
}
