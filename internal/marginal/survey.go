package marginal

import (
	"context"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// A Survey is the release of the counts of all columns' codes. The goal, which is the class or the
// number to be predicted, has less noise than the other columns.
type Survey struct {
	Attributes []Attribute
	Relation   accountant.Relation
}

const goalNoise = 0.5 // noise of the goal's counts, relative to that of other columns

// goal reports whether an attribute is the goal.
func (a Attribute) goal() bool { return a.Class() || a.Target }

// firsts returns the index of the first count of each attribute. The goal's counts are last.
func (s Survey) firsts() []int {
	others, _ := s.Sizes()
	first, last, out := 0, others, make([]int, len(s.Attributes))
	for j, a := range s.Attributes {
		at := &first
		if a.goal() {
			at = &last
		}
		out[j], *at = *at, *at+a.Codes
	}
	return out
}

// Std returns the standard deviations for the counts of the other columns and of the goal. The
// joint release of all columns' counts then has an effect of 1/noise.
//
// A record has one code in each attribute, so adding or removing it changes one count of each
// attribute by 1, and replacing it changes two counts.
func (s Survey) Std(noise float64) (others, goal float64) {
	weights := 0.0
	for _, a := range s.Attributes {
		if a.goal() {
			weights += 1 / (goalNoise * goalNoise)
		} else {
			weights++
		}
	}
	std := noise * mechanism.HistogramSensitivity(s.Relation) * math.Sqrt(weights)
	return std, goalNoise * std
}

// Sizes returns the numbers of counts of the other columns and of the goal.
func (s Survey) Sizes() (others, goal int) {
	for _, a := range s.Attributes {
		if a.goal() {
			goal += a.Codes
		} else {
			others += a.Codes
		}
	}
	return others, goal
}

// Grids returns the grids of the two sums.
func (s Survey) Grids() (others, goal float64) {
	std, goalStd := s.Std(1)
	return TableGrid(std), TableGrid(goalStd)
}

// Drawable reports whether noise of the given multiplier can be drawn on the grids of the counts. A
// fit with other noise would fail after it has spent its budget. Releases with a checkpoint use up
// to three times the noise.
func (s Survey) Drawable(noise float64) bool {
	const inShares = 1 << 43 // largest noise in steps of a grid; a release draws 1 to 2^45
	others, goal := s.Std(noise)
	grid, goalGrid := s.Grids()
	return others >= grid && others <= inShares*grid && goal >= goalGrid &&
		goal <= inShares*goalGrid
}

// Counter returns a counter of the codes of every attribute. Its numbers are private.
func (s Survey) Counter() *Histogram {
	grid, goalGrid := s.Grids()
	others, goal := s.Sizes()
	sums := []*mechanism.FixedSum{mechanism.NewFixedSum(others, grid)}
	if goal > 0 {
		sums = append(sums, mechanism.NewFixedSum(goal, goalGrid))
	}
	cells := func(codes [][]uint16, shares, counts []int64) {
		for j, first := range s.firsts() {
			for i, code := range codes[j] {
				counts[first+int(code)] += shares[i]
			}
		}
	}
	return NewHistogram(s.Attributes, cells, sums...)
}

// Release releases the counts with noise of the given multiplier. It returns the noisy counts and
// the number of records that they imply.
func (s Survey) Release(ctx context.Context, r *synth.Run, purpose string,
	noise float64) (known Surveyed, err error) {
	std, goalStd := s.Std(noise)
	others, goal := s.Sizes()
	sizes := []int{others}
	if goal > 0 {
		sizes = append(sizes, goal)
	}
	out, err := r.Once(purpose, sizes, func() (float64, []mechanism.Part, error) {
		sums, err := r.Read(ctx, synth.Pass{Purpose: purpose})
		if err != nil {
			return 0, nil, err
		}
		list := sums.Sums()
		parts := []mechanism.Part{{Sum: list[0], Std: std}}
		if goal > 0 {
			parts = append(parts, mechanism.Part{Sum: list[1], Std: goalStd})
		}
		return 1 / noise, parts, nil
	})
	if err != nil {
		return known, err
	}
	r.Report(purpose, 1, 1)
	wider := r.Wider(purpose)
	counts := slices.Concat(out...)
	weights, firsts := 0.0, s.firsts()
	// total is the mean of the columns' sums, weighted by their precision.
	for j, a := range s.Attributes {
		one := wider * std
		if a.goal() {
			one = wider * goalStd
		}
		own := counts[firsts[j] : firsts[j]+a.Codes]
		known.Counts = append(known.Counts, own)
		known.Noise = append(known.Noise, one)
		sum := 0.0
		for _, c := range own {
			sum += c
		}
		weight := 1 / (float64(a.Codes) * one * one)
		known.Total, weights = known.Total+weight*sum, weights+weight
	}
	known.Total = max(known.Total/weights, 1)
	return known, nil
}

// Surveyed holds released counts.
type Surveyed struct {
	Counts [][]float64 // of each attribute's codes
	Noise  []float64   // standard deviation of the noise on each attribute's counts
	Total  float64     // estimated number of records
}

// Grouping merges the codes of an attribute into about the given number of groups; see
// Attribute.Grouped. It replaces counts of the first and of the last group by a density that fits
// them.
func (k Surveyed) Grouping(j int, a Attribute, groups int) Grouping {
	counts, noise := k.Counts[j], k.Noise[j]
	g := a.Grouped(Simplex(counts, k.Total), min(leastGroup*noise/k.Total, 0.5), groups)
	for _, e := range a.outer(g) {
		e.fit(counts, noise)
	}
	g.Part = Simplex(counts, k.Total)
	return g
}

// Sums returns the released counts of groups, and the number of codes in each group.
func (k Surveyed) Sums(j int, g Grouping) (values, parts []float64) {
	values, parts = make([]float64, g.Size), make([]float64, g.Size)
	for code, group := range g.Group {
		values[group] += k.Counts[j][code]
		parts[group]++
	}
	return values, parts
}

const leastGroup = 2.0 // smallest count of a group, in standard deviations of the noise
