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
			part += (s[1] - s[0]) * float64(a.Cells)
		}
		return min(part, 1)
	}
	x := float32(code) / float32(last)
	return is(slices.ContainsFunc(c.Spans,
		func(s records.Span) bool { return s.Lo <= x && x <= s.Hi }))
}

// within returns the parts of a cell whose numbers round to a float32 in one of the spans.
func (a Attribute) within(code int, spans []records.Span) (parts [][2]float64) {
	from, to := float64(code-1)/float64(a.Cells), float64(code)/float64(a.Cells)
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
	u := rng.Float64()
	if spans == nil {
		return float32((float64(code-1) + u) / float64(a.Cells))
	}
	parts := a.within(code, spans)
	width := 0.0
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
	return float32(float64(code-1) / float64(a.Cells)) // no part of the cell is allowed
}
