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
	codes  []int // outward
	beside []int // codes of the group beside
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
		e := end{slices.Clone(of[order[0]]), of[order[1]]}
		if e.codes[0] < e.beside[0] {
			slices.Reverse(e.codes)
		}
		if len(e.codes) >= leastTail && len(e.beside) > 1 {
			list = append(list, e)
		}
		slices.Reverse(order)
	}
	return list
}

// fit replaces the counts of an end by d·exp(−x/mean), where x is the distance from the middle of
// the group beside and d is its mean count. The mean is that of least squares: the empty codes far
// out, whose noise would dominate a sum of counts, have little weight in it. If the end clearly has
// more or fewer records, the counts stay.
func (e end) fit(counts []float64, noise float64) {
	d, middle := 0.0, float64(len(e.beside)+1)/2
	for _, code := range e.beside {
		d += counts[code] / float64(len(e.beside))
	}
	at := func(k int, mean float64) float64 { return d * math.Exp(-(middle+float64(k))/mean) }
	clear, best, off, n := make([]bool, len(e.codes)), 0.0, 0.0, 0.0
	for range 3 {
		least := math.Inf(1)
		for mean := 0.25; mean < 2*float64(len(e.codes)); mean *= 1.05 {
			squares := 0.0
			for k, code := range e.codes {
				if d := counts[code] - at(k, mean); !clear[k] {
					squares += d * d
				}
			}
			if squares < least {
				best, least = mean, squares
			}
		}
		off, n = 0, 0
		for k, code := range e.codes {
			more := counts[code] - at(k, best)
			if clear[k] = more > clearCode*noise; !clear[k] {
				off, n = off+more, n+1
			}
		}
	}
	if !(d > 0) || !(math.Abs(off) <= fitsTail*noise*math.Sqrt(n)) {
		return
	}
	for k, code := range e.codes {
		if !clear[k] {
			counts[code] = at(k, best)
		}
	}
}
