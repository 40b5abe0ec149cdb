package graphical

import (
	"math/bits"
	"slices"
)

// wordCells is cells for at most 64 attributes, all of which are eliminated. A set of attributes is
// one word.
func (g *Growth) wordCells(group []int, fill bool, limit float64) (total float64) {
	var next, cliques [64]uint64
	var prices [64]price
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
	for left := g.all[0]; left != 0; {
		for w := stale & left; w != 0; w &= w - 1 {
			a := bits.TrailingZeros64(w)
			prices[a] = g.wordPrice(&next, a, fill)
		}
		a := lowestPrice(&prices, left)
		left &^= 1 << a
		clique := next[a] | 1<<a
		if !slices.ContainsFunc(kept, func(c uint64) bool { return clique&^c == 0 }) {
			kept = append(kept, clique)
			if total += g.cellsIn([]uint64{clique}); total > limit {
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

func (g *Growth) wordPrice(next *[64]uint64, a int, fill bool) (p price) {
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
func lowestPrice(prices *[64]price, left uint64) int {
	best := bits.TrailingZeros64(left)
	for w := left; w != 0; w &= w - 1 {
		if a := bits.TrailingZeros64(w); prices[a].value < prices[best].value-1e-9 {
			best = a
		}
	}
	return best
}
