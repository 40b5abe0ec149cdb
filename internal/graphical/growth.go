package graphical

import (
	"math"
	"math/bits"
	"sync"
)

// Growth answers, for one list of groups, whether a tree with one more group has room. It is safe
// for concurrent use.
type Growth struct {
	domain Domain
	of     []int // the smallest attribute that is connected with each attribute
	logs   []float64
	graph  graph
	all    []uint64
	prices [2][]price // of each attribute before the first elimination, by order of elimination
	// whether only the parts that a group touches are eliminated: for more than 64 attributes
	divided bool
	parts   []part     // the connected parts, by their smallest attribute
	total   [2]float64 // cells of all parts, by order of elimination
	free    sync.Pool  // of *elimination
}

// part is a connected part of the groups. A group changes only the cliques of the parts that it
// touches.
type part struct {
	attributes []uint64
	size       int
	cells      [2]float64 // by order of elimination
}

// price is the price of an attribute in eliminated.
type price struct {
	value float64
	pairs int // of neighbours without an edge, counted twice; 0 unless they are part of the price
}

// NewGrowth returns the Growth of a list of groups.
func NewGrowth(d Domain, groups [][]int) *Growth {
	g := &Growth{domain: d, of: components(len(d), groups), logs: d.logs(),
		graph: newGraph(len(d), groups), divided: len(d) > 64, parts: make([]part, len(d))}
	g.all = make([]uint64, g.graph.words)
	g.free.New = func() any { return new(elimination) }
	for a := range d {
		p := &g.parts[g.of[a]]
		if p.attributes == nil {
			p.attributes = make([]uint64, g.graph.words)
		}
		p.attributes[a/64] |= 1 << (a % 64)
		g.all[a/64] |= 1 << (a % 64)
		p.size++
		for k := range g.prices {
			g.prices[k] = append(g.prices[k], g.price(g.graph, a, k == 1))
		}
	}
	for i := range g.parts {
		if p := &g.parts[i]; p.size > 0 {
			for k := range p.cells {
				p.cells[k] = g.cells(p.attributes, nil, k == 1, 0, math.Inf(1))
				g.total[k] += p.cells[k]
			}
		}
	}
	return g
}

// components returns the smallest attribute that is connected with each attribute.
func components(n int, groups [][]int) []int {
	of := make([]int, n)
	for a := range of {
		of[a] = a
	}
	root := func(a int) int {
		for of[a] != a {
			of[a] = of[of[a]]
			a = of[a]
		}
		return a
	}
	for _, group := range groups {
		for _, b := range group[1:] {
			x, y := root(group[0]), root(b)
			of[max(x, y)] = min(x, y)
		}
	}
	for a := range of {
		of[a] = root(a)
	}
	return of
}

// Connected reports whether the groups connect the attributes a and b.
func (g *Growth) Connected(a, b int) bool { return g.of[a] == g.of[b] }

// Fits returns the result of [Fits] for the groups and one more group. For more than 64 attributes
// the result may differ if the group is a pair that joins two parts with cycles, or if attributes
// have the same price.
func (g *Growth) Fits(group []int, limit float64) bool {
	switch {
	case !g.divided:
		return g.wordCells(group, false, limit) <= limit || g.wordCells(group, true, limit) <= limit
	case len(group) == 2 && !g.Connected(group[0], group[1]):
		return g.joined(group, limit)
	}
	within, left := make([]uint64, g.graph.words), g.total
	for _, a := range group {
		p := &g.parts[g.of[a]]
		if within[a/64]>>(a%64)&1 == 1 {
			continue
		}
		for w, word := range p.attributes {
			within[w] |= word
		}
		left[0] -= p.cells[0]
		left[1] -= p.cells[1]
	}
	return left[0]+g.cells(within, group, false, left[0], limit) <= limit ||
		left[1]+g.cells(within, group, true, left[1], limit) <= limit
}

// joined is Fits for a pair of attributes of two parts. The pair becomes a clique of its own, since
// each part has an order of elimination that ends with its attribute of the pair. In its clique, an
// attribute without a group does not count any more.
func (g *Growth) joined(group []int, limit float64) bool {
	left, own := g.total, g.domain.Cells(group)
	for _, a := range group {
		if p := &g.parts[g.of[a]]; p.size == 1 {
			left[0] -= p.cells[0]
			left[1] -= p.cells[1]
		}
	}
	return left[0]+own <= limit || left[1]+own <= limit
}

// elimination holds the state of eliminated, with bits for sets of attributes.
type elimination struct {
	next                []uint64
	prices              []price
	left, stale, clique []uint64
	kept                []uint64 // the cliques, one after another
}

// cells returns the number of cells of the cliques that eliminated returns for the groups and one
// more group, among the given attributes, which have no neighbour outside. If cells and base are
// together more than limit, it may stop early and return any such number. It makes the same
// computations in the same order, but prices only attributes whose neighbours may have changed.
func (g *Growth) cells(within []uint64, group []int, fill bool, base,
	limit float64) (total float64) {
	e := g.free.Get().(*elimination)
	defer g.free.Put(e)
	words, order := g.graph.words, 0
	if fill {
		order = 1
	}
	e.next = append(e.next[:0], g.graph.bits...)
	e.prices = append(e.prices[:0], g.prices[order]...)
	e.left = append(e.left[:0], within...)
	e.clique = append(e.clique[:0], within...) // for its length
	e.stale = append(e.stale[:0], within...)
	e.kept = e.kept[:0]
	clear(e.stale)
	next := graph{words, e.next}
	for _, a := range group {
		for _, b := range group {
			if a != b {
				next.of(a)[b/64] |= 1 << (b % 64)
			}
		}
	}
	for _, a := range group {
		e.touch(next, a, fill)
		e.stale[a/64] |= 1 << (a % 64)
	}
	for {
		for w, word := range e.stale {
			for word &= e.left[w]; word != 0; word &= word - 1 {
				a := 64*w + bits.TrailingZeros64(word)
				e.prices[a] = g.price(next, a, fill)
			}
		}
		a := e.lowest()
		if a < 0 {
			return total
		}
		e.left[a/64] &^= 1 << (a % 64)
		own := next.of(a)
		copy(e.clique, own)
		e.clique[a/64] |= 1 << (a % 64)
		if !e.covered(a) {
			e.kept = append(e.kept, e.clique...)
			if total += g.cellsIn(e.clique); base+total > limit {
				return total
			}
		}
		clear(e.stale)
		next.remove(a)
		e.touch(next, a, fill && e.prices[a].pairs > 0)
	}
}

// touch makes the prices of the neighbours of an attribute stale, and those of their neighbours if
// wide is set.
func (e *elimination) touch(next graph, a int, wide bool) {
	for w, word := range next.of(a) {
		e.stale[w] |= word
		for ; wide && word != 0; word &= word - 1 {
			for v, more := range next.of(64*w + bits.TrailingZeros64(word)) {
				e.stale[v] |= more
			}
		}
	}
}

// covered reports whether a clique that was kept contains the clique of attribute a.
func (e *elimination) covered(a int) bool {
	words := len(e.clique)
	for i := 0; i < len(e.kept); i += words {
		if e.kept[i+a/64]>>(a%64)&1 == 0 {
			continue
		}
		outside := uint64(0)
		for w, word := range e.clique {
			outside |= word &^ e.kept[i+w]
		}
		if outside == 0 {
			return true
		}
	}
	return false
}

// lowest returns the first attribute that is left whose price is lowest, up to rounding, or -1.
func (e *elimination) lowest() int {
	best, limit := -1, math.Inf(1)
	for w, word := range e.left {
		for ; word != 0; word &= word - 1 {
			if a := 64*w + bits.TrailingZeros64(word); best < 0 || e.prices[a].value < limit {
				best, limit = a, e.prices[a].value-1e-9
			}
		}
	}
	return best
}

// price returns the price of an attribute in eliminated.
func (g *Growth) price(next graph, a int, fill bool) (p price) {
	own := next.of(a)
	p.value = g.logs[a]
	for w, word := range own {
		for ; word != 0; word &= word - 1 {
			b := 64*w + bits.TrailingZeros64(word)
			p.value += g.logs[b]
			if fill {
				for v, near := range next.of(b) {
					p.pairs += bits.OnesCount64(own[v] &^ near)
				}
				p.pairs-- // b is not its own neighbour
			}
		}
	}
	if fill {
		p.value = float64(p.pairs/2) + 1e-3*p.value
	}
	return p
}

// cellsIn returns the number of cells of a set of attributes.
func (g *Growth) cellsIn(set []uint64) float64 {
	cells := 1.0
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			cells *= float64(g.domain[64*w+bits.TrailingZeros64(word)])
		}
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
