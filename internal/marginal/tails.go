package marginal

import (
	"math"
	"slices"
)

// leastTail is the smallest number of codes in an end that is fitted. clearCode is how far the
// count of a code that is kept exceeds the fit, and fitsTail how far the sum of the others may
// differ from it, in standard deviations of their noise.
const leastTail, clearCode, fitsTail = 4, 3.5, 2

// end is the first or the last group of numbers. The bounds of a column are often far beyond its
// values, and the noise of many empty codes would otherwise look like a heavy tail. So an end has
// fewer and fewer records outward. Codes with clearly more records keep them.
type end struct {
	codes  []int // outward; first those of the group beside
	beside int   // number of codes of the group beside
}

// outer returns the ends of a grouping. A single code beside an end says nothing about the density
// there.
func (a Attribute) outer(g Grouping) (list []end) {
	order := g.inOrder(a.Ordered())
	if a.Cells == 0 || len(order) < 2 {
		return nil
	}
	of := make([][]int, g.Size)
	for code := range a.Ordered() {
		of[g.Group[code]] = append(of[g.Group[code]], code)
	}
	for range 2 {
		out, beside := of[order[0]], of[order[1]]
		e := end{slices.Concat(beside, out), len(beside)}
		if slices.Sort(e.codes); out[0] < beside[0] {
			slices.Reverse(e.codes)
		}
		if len(out) >= leastTail && len(beside) > 1 {
			list = append(list, e)
		}
		slices.Reverse(order)
	}
	return list
}

// fit replaces the counts of an end by d·rᵏ for its k-th code, where d and r are those of least
// squares for the end and the group beside. The empty codes far out, whose noise would dominate a
// sum of counts, have little weight in them. If the end clearly has more or fewer records, the
// counts stay.
func (e end) fit(counts []float64, noise float64) {
	clear, rate, d := make([]bool, len(e.codes)), 1.0, 0.0
	off, n := 0.0, 0.0
	for range 3 {
		least := math.Inf(1)
		for mean := 0.25; mean < 2*float64(len(e.codes)); mean *= 1.05 {
			r, power, x, xx, cc := math.Exp(-1/mean), 1.0, 0.0, 0.0, 0.0
			for k, code := range e.codes {
				if c := counts[code]; !clear[k] {
					x, xx, cc = x+c*power, xx+power*power, cc+c*c
				}
				power *= r
			}
			if squares := cc - x*x/xx; squares < least {
				rate, d, least = r, x/xx, squares
			}
		}
		off, n = 0, 0
		for k, code := range e.codes[e.beside:] {
			k += e.beside
			more := counts[code] - d*math.Pow(rate, float64(k))
			if clear[k] = more > clearCode*noise; !clear[k] {
				off, n = off+more, n+1
			}
		}
	}
	if !(d > 0) || !(math.Abs(off) <= fitsTail*noise*math.Sqrt(n)) {
		return
	}
	for k, code := range e.codes {
		if k >= e.beside && !clear[k] {
			counts[code] = d * math.Pow(rate, float64(k))
		}
	}
}
