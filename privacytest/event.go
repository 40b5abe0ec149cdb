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

// mostOutputs bounds the outputs that have several scores each.
const mostOutputs = 24

// scores returns the scores by which the outputs a and b of two data sets are compared.
func scores(a, b [][]float64) []score {
	list := []score{outputs()}
	dim := 0
	for _, outs := range [][][]float64{a, b} {
		for _, o := range outs {
			dim = max(dim, len(o))
		}
	}
	for i := range dim {
		at := func(o []float64) float64 { return output(o, i) }
		name := fmt.Sprintf("output %d", i)
		list = append(list, score{name, at})
		if i >= mostOutputs {
			continue
		}
		list = append(list, score{"the sign of a zero in " + name, zeroSign(at)},
			score{"the size of " + name, func(o []float64) float64 { return math.Abs(at(o)) }},
			score{lowestBits + " " + name, func(o []float64) float64 { return lowestBit(at(o)) }})
		list = append(list, whereBitsAreLow(name, at, a, b)...)
		if i > 0 {
			difference := func(o []float64) float64 { return output(o, i) - output(o, i-1) }
			list = append(list, score{fmt.Sprintf("output %d − output %d", i, i-1), difference})
		}
	}
	if dim > 1 {
		list = append(list, directions(a, b, dim)...)
	}
	return list
}

// zeroSign returns a score that tells −0 from 0, which texts and files show.
func zeroSign(at func([]float64) float64) func([]float64) float64 {
	return func(o []float64) float64 {
		if x := at(o); x == 0 {
			return math.Copysign(1, x)
		}
		return 0
	}
}

func output(o []float64, i int) float64 {
	if i >= len(o) {
		return math.NaN()
	}
	return o[i]
}

// whereBitsAreLow returns scores of the outputs whose lowest bit is among the lowest. Noise of few
// digits, such as float32, has low bits only where it is small. The lowest bit of a sum then gives
// the size of its noise away, so the sum gives the value away.
func whereBitsAreLow(name string, at func([]float64) float64, a, b [][]float64) []score {
	var list []score
	bits := values(score{of: func(o []float64) float64 { return lowestBit(at(o)) }},
		slices.Concat(a, b)).sorted
	n := len(bits)
	for _, most := range slices.Compact([]float64{bits[n/128], bits[n/32], bits[n/8]}) {
		list = append(list, score{fmt.Sprintf("%s %s is at most 2^%v, and %[2]s", lowestBits, name, most),
			func(o []float64) float64 {
				if x := at(o); lowestBit(x) <= most {
					return x
				}
				return math.NaN()
			}})
	}
	return list
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

// sample holds the values of one score: the numbers sorted, and the count of NaNs.
type sample struct {
	sorted []float64
	none   int
}

func values(s score, outs [][]float64) sample {
	v := sample{sorted: make([]float64, 0, len(outs))}
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
	if e.lo != e.lo {
		return v.none
	}
	below, _ := slices.BinarySearch(v.sorted, e.lo)
	return len(v.sorted) - below - above(v.sorted, e.hi)
}

// above returns how many numbers of an ascending list are larger than t.
func above(sorted []float64, t float64) int {
	at, _ := slices.BinarySearchFunc(sorted, t, func(x, t float64) int {
		if x <= t {
			return -1
		}
		return 1
	})
	return len(sorted) - at
}

// candidates returns the events to try: half-lines from the quantiles of both samples, values that
// occur often, and NaN. The quantiles are dense in the tails, where the ranks grow geometrically: a
// value that only one data set has is often rare.
func candidates(s score, x, y []float64) []event {
	list := []event{{score: s, lo: math.NaN()}}
	const cuts = 100 // on each side of the median
	for _, v := range [][]float64{x, y} {
		for i := -cuts; i <= cuts && len(v) > 0; i++ {
			n := float64(len(v))
			t := v[int(n/(1+math.Pow(n, float64(i)/cuts)))]
			list = append(list, event{score: s, lo: t, hi: math.Inf(1)},
				event{score: s, lo: math.Inf(-1), hi: t})
		}
		for i := 0; i < len(v); {
			to := i + 1
			for to < len(v) && v[to] == v[i] {
				to++
			}
			if to-i > len(v)/500+1 {
				list = append(list, event{score: s, lo: v[i], hi: v[i]})
			}
			i = to
		}
	}
	return list
}
