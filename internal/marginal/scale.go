package marginal

import (
	"math"
	"sort"
)

// A Scale maps the numbers of a column to ranks between 0 and 1, and ranks to numbers. The rank of
// a number is the fraction of records below it plus half the fraction of records with the same
// value. Within a cell of several values, records count as evenly spread.
type Scale struct {
	attribute Attribute
	below     []float64 // fraction of records with a smaller code, for each code and for the end
	first     []float64 // in columns with a step: the smallest value of each cell, in steps; else nil
}

// Scale returns the scale of a column of numbers. The argument part has the fraction of records
// with each code; a missing value does not count. Fractions may have any positive sum. If no
// fraction is positive, all codes have the same fraction.
func (a Attribute) Scale(part []float64) Scale {
	codes := a.Ordered()
	s := Scale{attribute: a, below: make([]float64, codes+1), first: a.firstValues()}
	total := 0.0
	for code := range codes {
		if p := part[code]; p > 0 && s.values(code) > 0 {
			total += p
		}
		s.below[code+1] = total
	}
	if !(total > 0) || math.IsInf(total, 0) {
		for code := range s.below {
			s.below[code] = float64(code) / float64(codes)
		}
		return s
	}
	for code := range s.below {
		s.below[code] /= total
	}
	return s
}

// firstValues returns the smallest value of each cell, in steps above the lower bound, for a column
// of numbers with a step that is divided into cells; nil for other columns. The value after the
// last cell is the upper bound.
func (a *Attribute) firstValues() []float64 {
	if a.Cells == 0 || a.grid.last == 0 || a.grid.last > 1<<53 {
		return nil
	}
	first := make([]float64, a.Cells+2)
	for code := 1; code <= a.Cells+1; code++ {
		first[code] = float64(max(a.firstValue(code), 1)) // the lower bound has a code of its own
	}
	return first
}

// values returns the number of values of a code, and 1 for a cell without a step.
func (s Scale) values(code int) float64 {
	if s.first == nil || !s.cell(code) {
		return 1
	}
	return s.first[code+1] - s.first[code]
}

// cell reports whether a code is a cell and not a single value.
func (s Scale) cell(code int) bool {
	return s.attribute.Cells > 0 && code > 0 && code < len(s.below)-2
}

// Rank returns the rank of a coordinate.
func (s Scale) Rank(x float64) float64 {
	code := s.code(x)
	return s.below[code] + s.within(code, x)*(s.below[code+1]-s.below[code])
}

// code returns the code of a coordinate. It is in range, whatever the coordinate is.
func (s Scale) code(x float64) int {
	last := len(s.below) - 2
	switch {
	case !(x > 0):
		return 0
	case x >= 1:
		return last
	case s.attribute.Cells > 0:
		return s.attribute.cell(x)
	}
	return min(int(math.Round(x*float64(last))), last)
}

// within returns the position of a coordinate within its code, between 0 and 1. It is ½ for a
// single value.
func (s Scale) within(code int, x float64) float64 {
	if !s.cell(code) {
		return 0.5
	}
	at := x*float64(s.attribute.Cells) - float64(code-1)
	if s.first != nil {
		at = (s.attribute.grid.near(x) - s.first[code] + 0.5) / s.values(code)
	}
	if !(at > 0) { // also if it is not a number
		return 0
	}
	return min(at, 1)
}

// Number returns the coordinate of a rank. Ranks that are spread evenly between 0 and 1 have
// coordinates whose codes have the scale's fractions.
func (s Scale) Number(rank float64) float32 {
	last := len(s.below) - 2
	code := min(sort.Search(last+1, func(c int) bool { return s.below[c+1] > rank }), last)
	for code > 0 && s.below[code+1] == s.below[code] { // a rank of 1: the last code with records
		code--
	}
	switch {
	case !s.cell(code) && s.attribute.Cells > 0 && code > 0:
		return 1
	case !s.cell(code):
		return float32(code) / float32(max(last, 1))
	}
	at := (rank - s.below[code]) / (s.below[code+1] - s.below[code])
	if !(at > 0) { // also if it is not a number
		at = 0
	}
	if s.first == nil {
		return float32((float64(code-1) + min(at, 1)) / float64(s.attribute.Cells))
	}
	k := min(math.Floor(at*s.values(code)), s.values(code)-1)
	return s.attribute.grid.at(s.first[code] + k)
}
