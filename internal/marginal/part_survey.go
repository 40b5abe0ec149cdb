package marginal

import (
	"context"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// A PartSurvey is the release of the counts of the parts of divided cells.
type PartSurvey struct {
	Attributes []Attribute
	Division   Division
	Relation   accountant.Relation
}

// Std returns the standard deviation for the counts. Their joint release then has an effect of
// 1/noise.
//
// A record is in at most one part in each column with divided cells, so adding or removing it
// changes one count of each of these columns by 1, and replacing it changes two counts.
func (s PartSurvey) Std(noise float64) float64 {
	columns := float64(max(s.Division.Columns(), 1))
	return noise * mechanism.HistogramSensitivity(s.Relation) * math.Sqrt(columns)
}

// Drawable reports whether noise of the given multiplier can be drawn for every division.
func (s PartSurvey) Drawable(noise float64) bool {
	const inShares = 1 << 43 // largest noise in steps of a grid; a release draws 1 to 2^45
	for columns := range s.Attributes {
		s.Division = slices.Repeat(Division{{1}}, columns+1)
		grid := TableGrid(s.Std(1))
		if std := s.Std(noise); !(std >= grid && std <= inShares*grid) {
			return false
		}
	}
	return true
}

// size returns the number of counts.
func (s PartSurvey) size() (n int) {
	for j, codes := range s.Division {
		for _, code := range codes {
			n += s.Attributes[j].partsOf(code).n
		}
	}
	return max(n, 1)
}

// Counter returns a counter of the parts. Its numbers are private.
func (s PartSurvey) Counter() *Histogram {
	attributes := slices.Clone(s.Attributes)
	var columns, firsts []int
	first := 0
	for j, d := range s.Division.divide(s.Attributes) {
		if d == nil {
			continue
		}
		attributes[j].parts = d
		columns, firsts = append(columns, j), append(firsts, first)
		first += d.parts
	}
	cells := func(codes [][]uint16, shares, counts []int64) {
		for k, j := range columns {
			for i, code := range codes[j] {
				if code > 0 {
					counts[firsts[k]+int(code)-1] += shares[i]
				}
			}
		}
	}
	return NewHistogram(attributes, cells, mechanism.NewFixedSum(s.size(), TableGrid(s.Std(1))))
}

// Release releases the counts with noise of the given multiplier. It returns the weights of the
// parts of each divided cell, in the order of the division, given the released counts of the cells.
// Without divided cells it releases a single count, which is 0.
func (s PartSurvey) Release(ctx context.Context, r *synth.Run, purpose string, noise float64,
	known Surveyed) ([]float64, error) {
	out, err := r.Once(purpose, []int{s.size()}, func() (float64, []mechanism.Part, error) {
		sums, err := r.Read(ctx, synth.Pass{Purpose: purpose, State: s.Division.State()})
		if err != nil {
			return 0, nil, err
		}
		return 1 / noise, []mechanism.Part{{Sum: sums.Sums()[0], Std: s.Std(noise)}}, nil
	})
	if err != nil {
		return nil, err
	}
	r.Report(purpose, 1, 1)
	return s.weights(out[0], r.Wider(purpose)*s.Std(noise), known), nil
}

// weights estimates the weights of all parts from their noisy counts.
func (s PartSurvey) weights(counts []float64, std float64, known Surveyed) (weights []float64) {
	for j, codes := range s.Division {
		for _, code := range codes {
			p := s.Attributes[j].partsOf(code)
			total := max(known.Counts[j][code], 0)
			weights = append(weights, partWeights(counts[:p.n], p.equal, std, total)...)
			counts = counts[p.n:]
		}
	}
	return weights
}

// leastTotal is the smallest total of a cell's weights. Fractions of smaller totals are not exact.
const leastTotal = 1e-300

// Parts returns the parts of the divided cells, by attribute and code, given their weights. It
// reports false if the weights are not those of such a division.
func (d Division) Parts(attributes []Attribute, weights []float64) ([]map[int]*Parts, bool) {
	list := make([]map[int]*Parts, len(attributes))
	for j, codes := range d {
		list[j] = make(map[int]*Parts, len(codes))
		for _, code := range codes {
			p := attributes[j].partsOf(code)
			if len(weights) < p.n {
				return nil, false
			}
			total := 0.0
			for _, w := range weights[:p.n] {
				if !(w >= 0) {
					return nil, false
				}
				total += w
			}
			if !(total > leastTotal) || math.IsInf(total, 0) {
				return nil, false
			}
			list[j][code] = newParts(p, weights[:p.n])
			weights = weights[p.n:]
		}
	}
	return list, len(weights) == 0
}
