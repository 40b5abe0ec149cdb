package marginal

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

const (
	mostSingles = 4096 // largest number of values of a cell that has a part for each of them
	equalParts  = 16   // parts of equal width of other cells
	roundParts  = 16   // largest number of their parts of a single round value
)

// cellParts are the parts of a cell of numbers. A cell of at most mostSingles values has a part for
// each value. Any other cell has parts of equal width, and then parts of one value each for the
// roundest values in it, which are often frequent: 0, or multiples of 1000.
type cellParts struct {
	attribute *Attribute
	code      int
	n         int // number of parts; less than 2 if the cell is not divided
	equal     int // parts of equal width, which come first
	// The other parts are the values first, first+every and so on, in steps above the lower bound.
	first, every float64
}

// partsOf returns the parts of a cell. They are public: they depend on the schema and on the number
// of cells only.
func (a *Attribute) partsOf(code int) cellParts {
	p := cellParts{attribute: a, code: code, n: equalParts, equal: equalParts}
	last := a.Codes - 1
	if a.Missing {
		last--
	}
	if a.Cells == 0 || code < 1 || code >= last {
		p.n = 0
		return p
	}
	if a.grid.last == 0 || a.grid.last > 1<<53 {
		return p
	}
	from := max(a.firstValue(code), 1) // the lower bound has a code of its own
	to := a.firstValue(code + 1)
	if to-from <= mostSingles {
		p.first, p.every, p.n, p.equal = float64(from), 1, int(max(to-from, 0)), 0
		return p
	}
	first, every, n := a.grid.round(float64(from), float64(to), roundParts)
	p.first, p.every, p.n = first, every, equalParts+n
	return p
}

// firstValue returns the smallest value, in steps above the lower bound, whose coordinate lies in
// the cell of a code or above it. It is the upper bound if there is no such value below.
func (a *Attribute) firstValue(code int) int64 {
	low, high := int64(0), int64(a.grid.last)
	for low < high {
		k := low + (high-low)/2
		if a.cell(float64(a.grid.at(float64(k)))) >= code {
			high = k
		} else {
			low = k + 1
		}
	}
	return low
}

// cell returns the code of a coordinate between 0 and 1 of a column that is divided into cells.
func (a Attribute) cell(x float64) int { return min(1+int(x*float64(a.Cells)), a.Cells) }

// of returns the part of a coordinate in the cell. It is in range, whatever the coordinate is.
func (p cellParts) of(x float64) int {
	within := func(k float64, n int) int {
		if !(k > 0) { // also if it is not a number
			return 0
		}
		return int(min(k, float64(n-1)))
	}
	k := (p.attribute.grid.near(x) - p.first) / p.every
	if p.equal == 0 {
		return within(k, p.n)
	}
	if k == math.Floor(k) && k >= 0 && k < float64(p.n-p.equal) {
		return p.equal + int(k)
	}
	return within((x*float64(p.attribute.Cells)-float64(p.code-1))*float64(p.equal), p.equal)
}

// value returns the coordinate of the value of a part, which is none of the parts of equal width.
func (p cellParts) value(part int) float32 {
	return p.attribute.grid.at(p.first + float64(part-p.equal)*p.every)
}

// ends returns the ends of a part of equal width.
func (p cellParts) ends(part int) (from, to float64) {
	at := func(k int) float64 {
		return (float64(p.code-1) + float64(k)/float64(p.equal)) / float64(p.attribute.Cells)
	}
	return at(part), at(part + 1)
}

// Parts are the fractions of a divided cell's records in each of its parts.
type Parts struct {
	cellParts
	weights []float64
	choice  network.Choice
}

func newParts(p cellParts, weights []float64) *Parts {
	return &Parts{p, weights, network.NewChoice(weights)}
}

// Within returns the parts under a condition on the column's values, and the fraction of the cell's
// records that it allows. If it allows none, the parts are unchanged.
func (p *Parts) Within(spans []records.Span) (*Parts, float64) {
	all, some := 0.0, 0.0
	weights := make([]float64, p.n)
	for i, w := range p.weights {
		weights[i] = w * p.allowed(i, spans)
		all, some = all+w, some+weights[i]
	}
	if !(some > 0) {
		return p, 0
	}
	return newParts(p.cellParts, weights), min(some/all, 1)
}

// allowed returns the fraction of a part that lies in spans.
func (p cellParts) allowed(part int, spans []records.Span) float64 {
	if part >= p.equal {
		x := p.value(part)
		for _, s := range spans {
			if s.Lo <= x && x <= s.Hi {
				return 1
			}
		}
		return 0
	}
	from, to := p.ends(part)
	sum := 0.0
	for _, s := range overlaps(from, to, spans) {
		sum += s[1] - s[0]
	}
	return min(sum/(to-from), 1)
}

// draw returns a random number of the cell.
func (p *Parts) draw(spans []records.Span, rng *rand.Rand) float32 {
	return p.number(p.choice.Pick(rng, -1), spans, rng)
}

// number returns a random number of a part: its only value, or a number that is uniform within the
// part, or within the sections of the part that lie in spans.
func (p cellParts) number(part int, spans []records.Span, rng *rand.Rand) float32 {
	if part >= p.equal {
		return p.value(part)
	}
	from, to := p.ends(part)
	if spans == nil {
		return float32(from + rng.Float64()*(to-from))
	}
	return drawIn(overlaps(from, to, spans), from, rng)
}
