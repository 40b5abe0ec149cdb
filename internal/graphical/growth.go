package graphical

import (
	"math"
	"math/bits"
	"slices"
)

// Growth answers, for one list of groups, whether a tree with one more group has room. It is safe
// for concurrent use.
type Growth struct {
	domain Domain
	of     []int // the smallest attribute that is connected with each attribute
	logs   []float64
	bits   []uint64 // neighbours of each attribute; nil for more than 64 attributes
	parts  *parts   // for more than 64 attributes
}

// NewGrowth returns the Growth of a list of groups.
func NewGrowth(d Domain, groups [][]int) *Growth {
	g := &Growth{domain: d, of: components(len(d), groups), logs: d.logs()}
	if len(d) <= 64 {
		g.bits = newGraph(len(d), groups).bits
	} else {
		g.parts = newParts(d, groups)
	}
	return g
}

// Connected reports whether the groups connect the attributes a and b.
func (g *Growth) Connected(a, b int) bool { return g.of[a] == g.of[b] }

// Fits returns the result of [Fits] for the groups and one more group. For more than 64 attributes
// the result may differ if the group is a pair that joins two parts with cycles, or if attributes
// have the same price.
func (g *Growth) Fits(group []int, limit float64) bool {
	if g.parts != nil {
		return g.parts.fits(group, limit)
	}
	return g.cells(group, false, limit) <= limit || g.cells(group, true, limit) <= limit
}

// cells returns the number of cells of the cliques that eliminated returns for the groups and one
// more group, or a number above limit if there are more than limit. It makes the same computations
// in the same order, on one word for each attribute, and allocates nothing.
func (g *Growth) cells(group []int, fill bool, limit float64) (total float64) {
	var next [64]uint64
	copy(next[:], g.bits)
	own := uint64(0)
	for _, a := range group {
		own |= 1 << a
	}
	for _, a := range group {
		next[a] |= own &^ (1 << a)
	}
	var prices [64]float64
	var cliques [64]uint64
	kept := cliques[:0]
	left := uint64(1)<<len(g.domain) - 1
	for stale := left; left != 0; {
		for w := stale & left; w != 0; w &= w - 1 {
			a := bits.TrailingZeros64(w)
			prices[a] = g.price(&next, a, fill)
		}
		a := lowestPrice(&prices, left)
		left &^= 1 << a
		clique := next[a] | 1<<a
		if !slices.ContainsFunc(kept, func(c uint64) bool { return clique&^c == 0 }) {
			kept = append(kept, clique)
			if total += g.cellsIn(clique); total > limit {
				return total
			}
		}
		stale = next[a]
		for w := next[a]; w != 0; w &= w - 1 {
			b := bits.TrailingZeros64(w)
			next[b] = (next[b] | next[a]) &^ (1<<a | 1<<b)
		}
		for w := next[a]; fill && w != 0; w &= w - 1 {
			stale |= next[bits.TrailingZeros64(w)]
		}
	}
	return total
}

// price returns the price of an attribute in eliminated.
func (g *Growth) price(next *[64]uint64, a int, fill bool) float64 {
	cells, pairs := g.logs[a], 0
	for w := next[a]; w != 0; w &= w - 1 {
		b := bits.TrailingZeros64(w)
		cells += g.logs[b]
		pairs += bits.OnesCount64(next[a]&^next[b]) - 1 // b is not its own neighbour
	}
	if fill {
		return float64(pairs/2) + 1e-3*cells
	}
	return cells
}

// lowestPrice returns the first attribute whose price is lowest, up to rounding.
func lowestPrice(prices *[64]float64, left uint64) int {
	best := bits.TrailingZeros64(left)
	for w := left; w != 0; w &= w - 1 {
		if a := bits.TrailingZeros64(w); prices[a] < prices[best]-1e-9 {
			best = a
		}
	}
	return best
}

// cellsIn returns the number of cells of a set of attributes.
func (g *Growth) cellsIn(set uint64) float64 {
	cells := 1.0
	for ; set != 0; set &= set - 1 {
		cells *= float64(g.domain[bits.TrailingZeros64(set)])
	}
	return cells
}

// logs returns the logarithm of the number of values of each attribute.
func (d Domain) logs() []float64 {
	logs := make([]float64, len(d))
	for a, size := range d {
		logs[a] = math.Log(float64(size))
	}
	return logs
}
