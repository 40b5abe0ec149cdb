package graphical

import (
	"math/bits"
	"slices"
)

// A Tree is a junction tree: cliques of attributes, with parents before their children. All cliques
// on the path between two cliques contain the attributes that the two cliques share.
type Tree struct {
	Cliques []Clique
}

// A Clique is one node of a tree.
type Clique struct {
	Attributes []int // ascending
	Parent     int   // -1 for the root
	Shared     []int // attributes shared with the parent
}

// NewTree returns a tree in which every given group of attributes is within a clique, and every
// attribute is in some clique. Attributes are eliminated greedily, once by the smallest table and
// once by the fewest new edges. NewTree uses the order that gives fewer cells.
func NewTree(d Domain, groups [][]int) Tree {
	cliques := eliminated(d, groups, false)
	if other := eliminated(d, groups, true); cellsOf(d, other) < cellsOf(d, cliques) {
		cliques = other
	}
	return joined(cliques)
}

// Cells returns the total number of cells of the cliques of the tree that [NewTree] returns,
// without building the tree.
func Cells(d Domain, groups [][]int) float64 {
	return min(cellsOf(d, eliminated(d, groups, false)), cellsOf(d, eliminated(d, groups, true)))
}

// Fits reports whether [Cells] is at most limit.
func Fits(d Domain, groups [][]int, limit float64) bool {
	return cellsOf(d, eliminated(d, groups, false)) <= limit ||
		cellsOf(d, eliminated(d, groups, true)) <= limit
}

func cellsOf(d Domain, cliques [][]int) float64 {
	total := 0.0
	for _, c := range cliques {
		total += d.Cells(c)
	}
	return total
}

// graph holds the neighbours of each attribute as bits.
type graph struct {
	words int
	bits  []uint64 // words for each attribute
}

func newGraph(n int, groups [][]int) graph {
	g := graph{words: (n + 63) / 64}
	g.bits = make([]uint64, n*g.words)
	for _, group := range groups {
		for _, a := range group {
			for _, b := range group {
				if a != b {
					g.of(a)[b/64] |= 1 << (b % 64)
				}
			}
		}
	}
	return g
}

func (g graph) of(a int) []uint64 { return g.bits[a*g.words : (a+1)*g.words] }

// each calls visit for the neighbours of an attribute, in ascending order.
func (g graph) each(a int, visit func(b int)) {
	for w, word := range g.of(a) {
		for ; word != 0; word &= word - 1 {
			visit(64*w + bits.TrailingZeros64(word))
		}
	}
}

// remove connects the neighbours of an attribute and removes it.
func (g graph) remove(a int) {
	own := g.of(a)
	for v, near := range own {
		for ; near != 0; near &= near - 1 {
			b := 64*v + bits.TrailingZeros64(near)
			to := g.of(b)
			for w, word := range own {
				to[w] |= word
			}
			to[b/64] &^= 1 << (b % 64)
			to[a/64] &^= 1 << (a % 64)
		}
	}
}

// missing returns the number of pairs of an attribute's neighbours that have no edge between them.
func (g graph) missing(a int) (pairs int) {
	own := g.of(a)
	g.each(a, func(b int) {
		for w, word := range g.of(b) {
			pairs += bits.OnesCount64(own[w] &^ word)
		}
		pairs-- // b is not its own neighbour
	})
	return pairs / 2
}

// endless is a number of cells that no model has: such cliques are not followed further.
const endless = 1 << 30

// eliminated returns the maximal cliques of a triangulation, or the first that is endless. It
// eliminates the attribute of lowest price first. The price is the logarithm of the number of cells
// of the attribute's table or, if fill is set, mainly the number of edges that its neighbours lack.
func eliminated(d Domain, groups [][]int, fill bool) (cliques [][]int) {
	g := newGraph(len(d), groups)
	logs := d.logs()
	price := func(a int) float64 {
		cells := logs[a]
		g.each(a, func(b int) { cells += logs[b] })
		if fill {
			return float64(g.missing(a)) + 1e-3*cells
		}
		return cells
	}
	prices, left, stale := make([]float64, len(d)), make([]int, len(d)), make([]bool, len(d))
	for a := range d {
		left[a], prices[a] = a, price(a)
	}
	for len(left) > 0 {
		best := 0
		for k, a := range left {
			if stale[a] {
				prices[a], stale[a] = price(a), false
			}
			if prices[a] < prices[left[best]]-1e-9 {
				best = k
			}
		}
		a := left[best]
		left = slices.Delete(left, best, best+1)
		clique := []int{a}
		g.each(a, func(b int) { clique = append(clique, b) })
		slices.Sort(clique)
		if d.Cells(clique) > endless {
			return [][]int{clique}
		}
		if !slices.ContainsFunc(cliques, func(c []int) bool { return within(clique, c) }) {
			cliques = append(cliques, clique)
		}
		g.remove(a)
		g.each(a, func(b int) {
			stale[b] = true
			if fill {
				g.each(b, func(c int) { stale[c] = true })
			}
		})
	}
	return cliques
}

// within reports whether the ascending list all contains every element of the ascending list part.
func within(part, all []int) bool {
	k := 0
	for _, a := range all {
		if k < len(part) && part[k] == a {
			k++
		}
	}
	return k == len(part)
}

func common(a, b []int) (out []int) {
	for _, x := range a {
		if _, found := slices.BinarySearch(b, x); found {
			out = append(out, x)
		}
	}
	return out
}

// Parts returns, for each of n attributes, the smallest attribute that groups connect with it.
func Parts(n int, groups [][]int) []int {
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

// joined builds a tree of cliques: a spanning tree that maximises the numbers of shared attributes.
// Such a tree is a junction tree, since the cliques are the maximal cliques of a triangulation.
func joined(cliques [][]int) Tree {
	slices.SortStableFunc(cliques, slices.Compare[[]int])
	var t Tree
	n := len(cliques)
	best, from, left := make([]int, n), make([]int, n), make([]int, n)
	for i := range cliques {
		best[i], from[i], left[i] = -1, -1, i
	}
	for len(left) > 0 {
		k := 0
		for j, i := range left {
			if best[i] > best[left[k]] {
				k = j
			}
		}
		i := left[k]
		left = slices.Delete(left, k, k+1)
		c := Clique{Attributes: cliques[i], Parent: from[i]}
		if from[i] >= 0 {
			c.Shared = common(cliques[i], t.Cliques[from[i]].Attributes)
		}
		at := len(t.Cliques)
		t.Cliques = append(t.Cliques, c)
		for _, j := range left {
			if n := len(common(cliques[j], cliques[i])); n > best[j] {
				best[j], from[j] = n, at
			}
		}
	}
	return t
}

// Holder returns the index of the smallest clique that contains the given attributes, or -1 if
// there is none.
func (t Tree) Holder(d Domain, attributes []int) int {
	best := -1
	for i, c := range t.Cliques {
		if within(attributes, c.Attributes) &&
			(best < 0 || d.Cells(c.Attributes) < d.Cells(t.Cliques[best].Attributes)) {
			best = i
		}
	}
	return best
}
