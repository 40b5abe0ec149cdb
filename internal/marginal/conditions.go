package marginal

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/records"
)

// Allowed returns the fraction of a code's values that a condition allows.
func (a Attribute) Allowed(code int, c records.Condition) float64 {
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	if a.Class() {
		return is(c.Levels[code])
	}
	if a.Block.OneHot {
		if code >= len(c.Levels) {
			return is(c.Missing)
		}
		return is(c.Levels[code])
	}
	last := a.Codes - 1
	if a.Missing {
		if code == last {
			return is(c.Missing)
		}
		last--
	}
	if a.Cells > 0 && code > 0 && code < last {
		part := 0.0
		for _, s := range a.within(code, c.Spans) {
			part += s[1] - s[0]
		}
		from, to := a.ends(code)
		part /= to - from
		return min(part, 1)
	}
	x := float32(code) / float32(last)
	return is(slices.ContainsFunc(c.Spans,
		func(s records.Span) bool { return s.Lo <= x && x <= s.Hi }))
}

// ends returns the ends of the interval from which the numbers of a cell are drawn. It is the cell
// itself, if the column can have any number. Otherwise the interval holds the numbers that decode
// to one of the cell's values, so that no number of one cell decodes to a value of another. With
// MostCells cells it is the cell in both cases, because stored generators draw from it.
func (a Attribute) ends(code int) (from, to float64) {
	cells := float64(a.Cells)
	if a.Block.Levels == 0 || a.Cells == MostCells {
		return float64(code-1) / cells, float64(code) / cells
	}
	last := float64(a.Block.Levels - 1)
	return (a.first(code) - 0.5) / last, (a.first(code+1) - 0.5) / last
}

// first returns the smallest value, in steps above the lower bound, that lies in a cell. For the
// code after the last cell, it returns the upper bound.
func (a Attribute) first(code int) float64 {
	last := float64(a.Block.Levels - 1)
	cell := func(k float64) int { return 1 + int(float64(float32(k/last))*float64(a.Cells)) }
	k := min(max(math.Ceil(float64(code-1)*last/float64(a.Cells)), 1), last)
	if k > 1 && cell(k-1) >= code {
		k--
	}
	if k < last && cell(k) < code {
		k++
	}
	return k
}

// within returns the parts of a cell whose numbers round to a float32 in one of the spans.
func (a Attribute) within(code int, spans []records.Span) (parts [][2]float64) {
	from, to := a.ends(code)
	return overlaps(from, to, spans)
}

// overlaps returns the parts of an interval whose numbers round to a float32 in one of the spans.
func overlaps(from, to float64, spans []records.Span) (parts [][2]float64) {
	for _, s := range spans {
		lo := (float64(math.Nextafter32(s.Lo, -1)) + float64(s.Lo)) / 2
		hi := (float64(math.Nextafter32(s.Hi, 2)) + float64(s.Hi)) / 2
		if lo, hi = max(lo, from), min(hi, to); lo < hi {
			parts = append(parts, [2]float64{lo, hi})
		}
	}
	return parts
}

// draw returns a random number, uniform in the parts of a cell that are in spans, or in the whole
// cell if spans is nil.
func (a Attribute) draw(code int, spans []records.Span, rng *rand.Rand) float32 {
	from, to := a.ends(code)
	if spans != nil {
		return drawIn(a.within(code, spans), from, rng)
	}
	u := rng.Float64()
	if a.Cells == MostCells {
		return float32((float64(code-1) + u) / float64(a.Cells))
	}
	return float32(from + u*(to-from))
}

// drawIn returns a random number, uniform in a list of intervals, or from if there are none.
func drawIn(parts [][2]float64, from float64, rng *rand.Rand) float32 {
	u, width := rng.Float64(), 0.0
	for _, p := range parts {
		width += p[1] - p[0]
	}
	u *= width
	for i, p := range parts {
		if w := p[1] - p[0]; u < w || i == len(parts)-1 {
			return float32(p[0] + min(u, w))
		} else {
			u -= w
		}
	}
	return float32(from) // no part of the cell is allowed
}
