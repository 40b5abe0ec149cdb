package marginal

import (
	"context"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// A Survey is the release of the counts of all columns' codes. The class has less noise than the
// other columns.
type Survey struct {
	Attributes []Attribute
	Relation   accountant.Relation
}

const classNoise = 0.5 // noise of the class's counts, relative to that of other columns

// Std returns the standard deviations for the counts of the other columns and of the class. The
// joint release of all columns' counts then has an effect of 1/noise.
//
// A record has one code in each attribute, so adding or removing it changes one count of each
// attribute by 1, and replacing it changes two counts.
func (s Survey) Std(noise float64) (others, class float64) {
	weights := 0.0
	for _, a := range s.Attributes {
		if a.Class() {
			weights += 1 / (classNoise * classNoise)
		} else {
			weights++
		}
	}
	std := noise * mechanism.HistogramSensitivity(s.Relation) * math.Sqrt(weights)
	return std, classNoise * std
}

// Sizes returns the numbers of counts of the class and of the other columns.
func (s Survey) Sizes() (others, class int) {
	for _, a := range s.Attributes {
		if a.Class() {
			class += a.Codes
		} else {
			others += a.Codes
		}
	}
	return others, class
}

// Grids returns the grids of the two sums.
func (s Survey) Grids() (others, class float64) {
	std, classStd := s.Std(1)
	return TableGrid(std), TableGrid(classStd)
}

// Drawable reports whether noise of the given multiplier can be drawn on the grids of the counts. A
// fit with other noise would fail after it has spent its budget. Releases with a checkpoint use up
// to three times the noise.
func (s Survey) Drawable(noise float64) bool {
	const inShares = 1 << 43 // largest noise in steps of a grid; a release draws 1 to 2^45
	others, class := s.Std(noise)
	grid, classGrid := s.Grids()
	return others >= grid && others <= inShares*grid && class >= classGrid &&
		class <= inShares*classGrid
}

// Counter returns a counter of the codes of every attribute. Its numbers are private.
func (s Survey) Counter() *Histogram {
	grid, classGrid := s.Grids()
	others, class := s.Sizes()
	sums := []*mechanism.FixedSum{mechanism.NewFixedSum(others, grid)}
	if class > 0 {
		sums = append(sums, mechanism.NewFixedSum(class, classGrid))
	}
	cells := func(codes [][]uint16, shares, counts []int64) {
		first := 0
		for j, a := range s.Attributes {
			for i, code := range codes[j] {
				counts[first+int(code)] += shares[i]
			}
			first += a.Codes
		}
	}
	return NewHistogram(s.Attributes, cells, sums...)
}

// Release releases the counts with noise of the given multiplier. It returns the noisy counts and
// the number of records that they imply.
func (s Survey) Release(ctx context.Context, r *synth.Run, purpose string,
	noise float64) (known Surveyed, err error) {
	std, classStd := s.Std(noise)
	others, class := s.Sizes()
	sizes := []int{others}
	if class > 0 {
		sizes = append(sizes, class)
	}
	out, err := r.Once(purpose, sizes, func() (float64, []mechanism.Part, error) {
		sums, err := r.Read(ctx, synth.Pass{Purpose: purpose})
		if err != nil {
			return 0, nil, err
		}
		list := sums.Sums()
		parts := []mechanism.Part{{Sum: list[0], Std: std}}
		if class > 0 {
			parts = append(parts, mechanism.Part{Sum: list[1], Std: classStd})
		}
		return 1 / noise, parts, nil
	})
	if err != nil {
		return known, err
	}
	r.Report(purpose, 1, 1)
	wider := r.Wider(purpose)
	counts := slices.Concat(out...)
	weights, first := 0.0, 0
	// total is the mean of the columns' sums, weighted by their precision.
	for _, a := range s.Attributes {
		one := wider * std
		if a.Class() {
			one = wider * classStd
		}
		known.Counts = append(known.Counts, counts[first:first+a.Codes])
		known.Noise = append(known.Noise, one)
		first += a.Codes
		sum := 0.0
		for _, c := range counts[first-a.Codes : first] {
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
// Attribute.Grouped.
func (k Surveyed) Grouping(j int, a Attribute, groups int) Grouping {
	g := a.Grouped(Simplex(k.Counts[j], k.Total), min(leastGroup*k.Noise[j]/k.Total, 0.5), groups)
	a.thin(g, k.Noise[j]/k.Total)
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
