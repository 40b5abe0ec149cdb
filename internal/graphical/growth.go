package graphical

import (
	"math"
	"math/bits"
	"slices"
)

// MostGrowth is the largest number of attributes of a [Growth].
const MostGrowth = 64

// Growth answers, for one list of groups of at most MostGrowth attributes, whether a tree with one
// more group has room. A set of attributes is one word. It is safe for concurrent use.
type Growth struct {
	domain Domain
	logs   []float64
	graph  graph
	prices [2][]price // of each attribute before the first elimination, by order of elimination
}

// price is the price of an attribute in eliminated.
type price struct {
	value float64
	pairs int // of neighbours without an edge, counted twice; 0 unless they are part of the price
}

// NewGrowth returns the Growth of a list of groups.
func NewGrowth(d Domain, groups [][]int) *Growth {
	g := &Growth{domain: d, logs: d.logs(), graph: newGraph(len(d), groups)}
	var next [MostGrowth]uint64
	copy(next[:], g.graph.bits)
	for a := range d {
		for k := range g.prices {
			g.prices[k] = append(g.prices[k], g.price(&next, a, k == 1))
		}
	}
	return g
}

// Fits returns the result of [Fits] for the groups and one more group.
func (g *Growth) Fits(group []int, limit float64) bool {
	return g.cells(group, false, limit) <= limit || g.cells(group, true, limit) <= limit
}

// cells returns the number of cells of the cliques that eliminated returns for the groups and one
// more group. If they are more than limit, it may stop early and return any such number. It makes
// the same computations in the same order, but prices only attributes whose neighbours may have
// changed.
func (g *Growth) cells(group []int, fill bool, limit float64) (total float64) {
	var next, cliques [MostGrowth]uint64
	var prices [MostGrowth]price
	copy(next[:], g.graph.bits)
	order, own := 0, uint64(0)
	if fill {
		order = 1
	}
	copy(prices[:], g.prices[order])
	for _, a := range group {
		own |= 1 << a
	}
	stale := own
	for _, a := range group {
		next[a] |= own &^ (1 << a)
		stale |= next[a]
	}
	kept := cliques[:0]
	for left := uint64(math.MaxUint64) >> (MostGrowth - len(g.domain)); left != 0; {
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
		for w := next[a]; prices[a].pairs > 0 && w != 0; w &= w - 1 {
			stale |= next[bits.TrailingZeros64(w)]
		}
	}
	return total
}

// price returns the price of an attribute in eliminated.
func (g *Growth) price(next *[MostGrowth]uint64, a int, fill bool) (p price) {
	p.value = g.logs[a]
	for w := next[a]; w != 0; w &= w - 1 {
		b := bits.TrailingZeros64(w)
		p.value += g.logs[b]
		p.pairs += bits.OnesCount64(next[a]&^next[b]) - 1 // b is not its own neighbour
	}
	if !fill {
		p.pairs = 0
		return p
	}
	p.value = float64(p.pairs/2) + 1e-3*p.value
	return p
}

// lowestPrice returns the first attribute whose price is lowest, up to rounding.
func lowestPrice(prices *[MostGrowth]price, left uint64) int {
	best := bits.TrailingZeros64(left)
	for w := left; w != 0; w &= w - 1 {
		if a := bits.TrailingZeros64(w); prices[a].value < prices[best].value-1e-9 {
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
