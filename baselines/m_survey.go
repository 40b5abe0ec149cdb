package baselines

import (
	"context"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// A survey is the release of the counts of all columns' codes. The class has less noise than the
// other columns.
type survey struct {
	attributes []attribute
	relation   accountant.Relation
}

const classNoise = 0.5 // noise of the class's counts, relative to that of other columns

// std returns the standard deviations for the counts of the other columns and of the class. With
// them the joint release of all columns' counts has an effect of 1/noise.
//
// A record has one code in each attribute, so adding or removing it changes one count of each
// attribute by 1, and replacing it changes two counts.
func (s survey) std(noise float64) (others, class float64) {
	weights := 0.0
	for _, a := range s.attributes {
		if a.class() {
			weights += 1 / (classNoise * classNoise)
		} else {
			weights++
		}
	}
	std := noise * mechanism.HistogramSensitivity(s.relation) * math.Sqrt(weights)
	return std, classNoise * std
}

// sizes returns the numbers of counts of the class and of the other columns.
func (s survey) sizes() (others, class int) {
	for _, a := range s.attributes {
		if a.class() {
			class += a.codes
		} else {
			others += a.codes
		}
	}
	return others, class
}

// grids returns the grids of the two sums.
func (s survey) grids() (others, class float64) {
	std, classStd := s.std(1)
	return tableGrid(std), tableGrid(classStd)
}

// counter returns a counter of the codes of every attribute. Its numbers are private.
func (s survey) counter() *histogram {
	grid, classGrid := s.grids()
	others, class := s.sizes()
	sums := []*mechanism.FixedSum{mechanism.NewFixedSum(others, grid)}
	if class > 0 {
		sums = append(sums, mechanism.NewFixedSum(class, classGrid))
	}
	cells := func(codes [][]uint16, shares, counts []int64) {
		first := 0
		for j, a := range s.attributes {
			for i, code := range codes[j] {
				counts[first+int(code)] += shares[i]
			}
			first += a.codes
		}
	}
	return newHistogram(s.attributes, cells, sums...)
}

// release releases the counts with noise of the given multiplier, and returns what it learns of
// them.
func (s survey) release(ctx context.Context, r *synth.Run, purpose string,
	noise float64) (known surveyed, err error) {
	std, classStd := s.std(noise)
	others, class := s.sizes()
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
	for _, a := range s.attributes {
		one := wider * std
		if a.class() {
			one = wider * classStd
		}
		known.counts = append(known.counts, counts[first:first+a.codes])
		known.noise = append(known.noise, one)
		first += a.codes
		sum := 0.0
		for _, c := range counts[first-a.codes : first] {
			sum += c
		}
		weight := 1 / (float64(a.codes) * one * one)
		known.total, weights = known.total+weight*sum, weights+weight
	}
	known.total = max(known.total/weights, 1)
	return known, nil
}

// surveyed holds released counts.
type surveyed struct {
	counts [][]float64 // of each attribute's codes
	noise  []float64   // standard deviation of the noise on each attribute's counts
	total  float64     // estimated number of records
}

// grouping merges the codes of an attribute into about the given number of groups; see
// attribute.grouped.
func (k surveyed) grouping(j int, a attribute, groups int) grouping {
	return a.grouped(simplex(k.counts[j], k.total), min(leastGroup*k.noise[j]/k.total, 0.5), groups)
}

// sums returns the released counts of groups, and the number of codes in each group.
func (k surveyed) sums(j int, g grouping) (values, parts []float64) {
	values, parts = make([]float64, g.size), make([]float64, g.size)
	for code, group := range g.group {
		values[group] += k.counts[j][code]
		parts[group]++
	}
	return values, parts
}

const leastGroup = 2.0 // smallest count of a group, in standard deviations of the noise
