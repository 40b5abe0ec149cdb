package draft

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/records"
)

// histogram is the part of the release for one column: every record counts in exactly one of its
// cells.
type histogram struct {
	column int
	number bool
	edges  []float64 // of numbers: bin i holds [edges[i], edges[i+1]); the last bin includes its end
	levels int       // number of levels
	first  int       // index of its first cell among all cells
	cells  int
}

// histograms returns the histograms of all estimated columns. Their cells follow one another.
func (c Config) histograms() []histogram {
	var all []histogram
	columns, first := c.Candidates.Columns(), 0
	for _, j := range estimated(c.Candidates) {
		h := newHistogram(columns[j], c.withDefaults().BinsPerDoubling)
		h.column, h.first = j, first
		first += h.cells
		all = append(all, h)
	}
	return all
}

// newHistogram returns a histogram with a cell for every bin or level. Levels have one more cell,
// for values that are not levels. If the column has missing values, their cell is the last.
func newHistogram(c records.Column, perDoubling int) histogram {
	h := histogram{number: c.IsNumber()}
	if h.number {
		h.edges = geometric(c, perDoubling)
		h.cells = len(h.edges) - 1
	} else {
		h.levels = len(c.Levels())
		h.cells = h.levels + 1
	}
	if c.HasMissing() {
		h.cells++
	}
	return h
}

// doublings is the number of doublings from the smallest bin to the larger bound of a column of
// real numbers. Numbers closer to zero than the smallest bin share the bins next to zero.
const doublings = 40

// geometric returns the edges of bins that grow with the distance from zero, up to the column's
// bounds. Edges of whole numbers are whole.
func geometric(c records.Column, perDoubling int) []float64 {
	lo, hi := c.Bounds()
	edges := []float64{lo, hi}
	largest := max(math.Abs(lo), math.Abs(hi))
	smallest := math.Ldexp(largest, -doublings)
	whole := c.Kind() == records.IntegerColumn
	if whole {
		smallest = 1
	}
	add := func(e float64) {
		if whole {
			e = math.Round(e)
		}
		if e > lo && e < hi {
			edges = append(edges, e+0)
		}
	}
	add(0)
	for k := range 65 * perDoubling { // whole numbers have at most 63 bits
		e := smallest * math.Exp2(float64(k)/float64(perDoubling))
		if !(e < largest) {
			break
		}
		add(e)
		add(-e)
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}

// cell returns the cell in which a record counts.
func (h *histogram) cell(f *records.Frame, row int) int {
	if h.number {
		return h.first + h.bin(f.Number(row, h.column))
	}
	if f.Stray(row, h.column) {
		return h.first + h.levels
	}
	if l := f.Level(row, h.column); l >= 0 {
		return h.first + l
	}
	return h.first + h.cells - 1
}

// bin returns the bin of a number inside the schema, or the last cell for a missing number.
func (h *histogram) bin(v float64) int {
	if v != v {
		return h.cells - 1
	}
	i, found := slices.BinarySearch(h.edges, v)
	if !found {
		i--
	}
	return min(max(i, 0), len(h.edges)-2)
}

// bins returns the number of cells that are bins or levels.
func (h *histogram) bins() int {
	if h.number {
		return len(h.edges) - 1
	}
	return h.levels
}
