package network

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// Block is the position of one column of a table in an encoded record.
type Block = rff.Block

// TableBlocks returns the layout of a table's encoded rows and the number of values of each column.
// It returns nil for records that are not rows of a table.
func TableBlocks(s records.Schema) []Block {
	columns := s.Columns()
	var list []Block
	for _, b := range s.Blocks() {
		list = append(list, Block{Offset: b.Offset, Width: b.Width, OneHot: b.OneHot,
			Levels: levelsOf(columns[b.Column])})
	}
	return list
}

// levelsOf returns the number of evenly spaced values of a column that is encoded as one number, or
// 0 if the column may have any value.
func levelsOf(c records.Column) int {
	switch c.Kind() {
	case records.FlagColumn:
		return 2
	case records.OrdinalColumn:
		return max(len(c.Levels()), 2)
	}
	if n := stepsOf(c); n >= 1 && n < 1<<20 {
		return int(n) + 1
	}
	return 0
}

// stepsOf returns the number of evenly spaced steps between the bounds of a column of numbers, or 0
// if there are none. Bounds of whole numbers beyond 2^53 are rounded as float64, and are read as
// int64.
func stepsOf(c records.Column) float64 {
	switch {
	case c.LogUnit() > 0 || !(c.Step() > 0):
		return 0
	case c.Kind() == records.IntegerColumn:
		lo, hi := c.WholeBounds()
		return float64(uint64(hi) - uint64(lo))
	}
	lo, hi := c.Bounds()
	return math.Round((hi - lo) / c.Step())
}

// Rows turns a network's output for rows of a table, probabilities and numbers in [0,1], into
// encoded rows, in place. It draws levels, and draws whether a value is missing. For every output
// of a network, records.DecodeFlat decodes the result to valid rows.
//
// Columns are drawn independently given the probabilities. So a feature that is linear in each
// column has the same mean over drawn rows as over the probabilities. An example is the fraction of
// records with a given pair of levels.
//
// Shapes: flat holds whole rows; blocks are the result of TableBlocks.
func Rows(rng *rand.Rand, blocks []Block, flat []float32) {
	tableSampler{rng}.rows(blocks, flat)
}

// reach is the distance from an end of its range within which a number is moved to the end. A
// network's numbers come close to the bounds but never reach them. Many real columns are mostly at
// a bound, such as amounts of zero or rates of one.
const reach = 0.01

// tableSampler draws the values of rows, one row after another.
type tableSampler struct{ rng *rand.Rand }

func (t tableSampler) rows(blocks []Block, flat []float32) {
	if len(blocks) == 0 {
		return
	}
	last := blocks[len(blocks)-1]
	for row := range slices.Chunk(flat, last.Offset+last.Width) {
		for _, b := range blocks {
			part := row[b.Offset : b.Offset+b.Width]
			switch {
			case b.OneHot:
				t.level(part)
			case len(part) == 2:
				t.missing(part, b.Levels)
			default:
				part[0] = t.number(part[0], b.Levels)
			}
		}
	}
}

// level draws one of the levels.
func (t tableSampler) level(p []float32) {
	u, chosen := t.rng.Float32(), len(p)-1
	for j, v := range p {
		if u < v {
			chosen = j
			break
		}
		u -= v
	}
	clear(p)
	p[chosen] = 1
}

// missing draws whether a number is missing.
func (t tableSampler) missing(p []float32, levels int) {
	if t.rng.Float32() < p[1] {
		p[0], p[1] = 0, 1
		return
	}
	p[0], p[1] = t.number(p[0], levels), 0
}

// number draws one of the two levels of a flag. The decoder rounds numbers with more levels to the
// nearest level.
func (t tableSampler) number(x float32, levels int) float32 {
	if levels != 2 {
		return min(max((x-reach)/(1-2*reach), 0), 1)
	}
	if t.rng.Float32() < x {
		return 1
	}
	return 0
}
