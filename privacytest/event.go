package privacytest

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// score turns an output into one number.
type score struct {
	name string
	of   func(out []float64) float64
}

// outputs returns the score that is the number of outputs.
func outputs() score {
	return score{"the number of outputs", func(o []float64) float64 { return float64(len(o)) }}
}

// scores returns the scores by which the outputs a and b of two data sets are compared.
func scores(a, b [][]float64) []score {
	list := []score{outputs()}
	dim := 0
	for _, outs := range [][][]float64{a, b} {
		for _, o := range outs {
			dim = max(dim, len(o))
		}
	}
	const most = 24
	for i := range min(dim, most) {
		at := func(o []float64) float64 { return output(o, i) }
		name := fmt.Sprintf("output %d", i)
		list = append(list, score{name, at},
			score{"the size of " + name, func(o []float64) float64 { return math.Abs(at(o)) }},
			score{lowestBits + " " + name, func(o []float64) float64 { return lowestBit(at(o)) }})
		if i > 0 {
			difference := func(o []float64) float64 { return output(o, i) - output(o, i-1) }
			list = append(list, score{fmt.Sprintf("output %d − output %d", i, i-1), difference})
		}
	}
	if dim > 1 {
		list = append(list, projection(a, b, dim))
	}
	return list
}

func output(o []float64, i int) float64 {
	if i >= len(o) {
		return math.NaN()
	}
	return o[i]
}

// lowestBit returns the exponent of the lowest bit of x that is set. With floating-point noise this
// exponent depends on the size of the value that the noise was added to.
func lowestBit(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || x != x {
		return math.Inf(1)
	}
	m, e := math.Frexp(x)
	return float64(e - 53 + bits.TrailingZeros64(uint64(math.Abs(m)*0x1p53)))
}

// projection returns the score along the difference of the two means, where each output is scaled
// by its variance.
func projection(a, b [][]float64, dim int) score {
	ma, mb := means(a, dim), means(b, dim)
	w := make([]float64, dim)
	for i := range w {
		spread := 0.0
		for _, o := range a {
			if i < len(o) {
				spread += (o[i] - ma[i]) * (o[i] - ma[i])
			}
		}
		if spread /= float64(len(a)); spread > 0 {
			w[i] = (mb[i] - ma[i]) / spread
		}
	}
	return score{"the likelihood direction", func(o []float64) float64 {
		s := 0.0
		for i, v := range o[:min(len(o), dim)] {
			s += w[i] * v
		}
		return s
	}}
}

func means(outs [][]float64, dim int) []float64 {
	m := make([]float64, dim)
	for _, o := range outs {
		for i, v := range o[:min(len(o), dim)] {
			m[i] += v / float64(len(outs))
		}
	}
	return m
}

// sample holds the values of one score: the numbers sorted, and the count of NaNs.
type sample struct {
	sorted []float64
	none   int
}

func values(s score, outs [][]float64) sample {
	var v sample
	for _, o := range outs {
		if x := s.of(o); x != x {
			v.none++
		} else {
			v.sorted = append(v.sorted, x)
		}
	}
	slices.Sort(v.sorted)
	return v
}

func (v sample) count(e event) int {
	from, _ := slices.BinarySearch(v.sorted, e.threshold)
	to, _ := slices.BinarySearchFunc(v.sorted, e.threshold, func(x, t float64) int {
		if x <= t {
			return -1
		}
		return 1
	})
	switch e.relation {
	case "≥":
		return len(v.sorted) - from
	case "≤":
		return to
	case "=":
		return to - from
	}
	return v.none
}

// candidates returns the events to try: half-lines from the quantiles of both samples, values that
// occur often, and NaN.
func candidates(s score, x, y []float64) []event {
	list := []event{{score: s, relation: notANumber}}
	const cuts = 200
	for _, v := range [][]float64{x, y} {
		for i := range cuts {
			if len(v) == 0 {
				break
			}
			t := v[i*(len(v)-1)/(cuts-1)]
			list = append(list, event{score: s, relation: "≥", threshold: t},
				event{score: s, relation: "≤", threshold: t})
		}
		for i := 0; i < len(v); {
			to := i + 1
			for to < len(v) && v[to] == v[i] {
				to++
			}
			if to-i > len(v)/500+1 {
				list = append(list, event{score: s, relation: "=", threshold: v[i]})
			}
			i = to
		}
	}
	return list
}
