package marginal

import (
	"math"
	"slices"
)

// leastTail is the smallest number of codes in a group whose records are thinned out. clearCode is
// the count of a code that is kept, in standard deviations of its noise.
const leastTail, clearCode = 4, 3.5

// thin divides the records of the first and of the last group of numbers among their codes: fewer
// and fewer towards the end, at the rate that fits their number and the density of the group beside
// them. The bounds of a column are often far beyond its values, and the noise of many empty cells
// would otherwise look like a heavy tail. Codes whose counts clearly exceed the noise, whose
// standard deviation is a fraction of all records, keep their records. A single code beside the
// group says nothing about the density there, and the group is not thinned out.
func (a Attribute) thin(g Grouping, noise float64) {
	order := g.inOrder(a.Ordered())
	if a.Cells == 0 || len(order) < 2 {
		return
	}
	of := make([][]int, g.Size)
	held := make([]float64, g.Size)
	for code := range a.Ordered() {
		group := g.Group[code]
		of[group], held[group] = append(of[group], code), held[group]+g.Part[code]
	}
	for _, last := range []bool{false, true} {
		if last {
			slices.Reverse(order)
		}
		width := float64(len(of[order[1]]))
		mass, density := held[order[0]], held[order[1]]/width
		codes := slices.DeleteFunc(slices.Clone(of[order[0]]), func(code int) bool {
			clear := g.Part[code] > clearCode*noise
			if clear {
				mass -= g.Part[code]
			}
			return clear
		})
		if len(codes) < leastTail || width == 1 || !(mass > 0) || !(density > 0) {
			continue
		}
		if !last {
			slices.Reverse(codes) // away from the group beside
		}
		// A density d·exp(-x/mean) that begins beside the group has the mass d·mean. The density of the
		// group beside is known in its middle.
		mean := mass / density
		for range 8 {
			mean = min(mass/density*math.Exp(width/(2*mean)), float64(len(codes)))
		}
		total := 0.0
		for k, code := range codes {
			g.Part[code] = math.Exp(-float64(k) / mean)
			total += g.Part[code]
		}
		for _, code := range codes {
			g.Part[code] *= mass / total
		}
	}
}
