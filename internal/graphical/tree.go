package graphical

import (
	"cmp"
	"math"
	"slices"
)

// A Tree is a junction tree: cliques of attributes, parents before their children. Two cliques that
// share attributes share them with all cliques between them.
type Tree struct {
	Cliques []Clique
}

// A Clique is one node of a tree.
type Clique struct {
	Attributes []int // ascending
	Parent     int   // -1 for the root
	Shared     []int // with the parent
}

// NewTree returns a tree in which every given group of attributes is within a clique, and every
// attribute in some clique. Attributes are eliminated greedily: of those by the smallest table and
// those by the fewest new edges, the order with fewer cells is taken.
func NewTree(d Domain, groups [][]int) Tree {
	cliques := eliminated(d, groups, false)
	if other := eliminated(d, groups, true); cellsOf(d, other) < cellsOf(d, cliques) {
		cliques = other
	}
	return joined(cliques)
}

// Cells returns the number of cells of all cliques of the tree that [NewTree] returns, without
// making it. It stops with a number above most as soon as that is passed.
func Cells(d Domain, groups [][]int) float64 {
	return min(cellsOf(d, eliminated(d, groups, false)), cellsOf(d, eliminated(d, groups, true)))
}

func cellsOf(d Domain, cliques [][]int) float64 {
	total := 0.0
	for _, c := range cliques {
		total += d.Cells(c)
	}
	return total
}

// graph holds the neighbours of each attribute.
type graph []map[int]bool

func newGraph(n int, groups [][]int) graph {
	g := make(graph, n)
	for a := range g {
		g[a] = map[int]bool{}
	}
	for _, group := range groups {
		g.connect(group)
	}
	return g
}

func (g graph) connect(group []int) {
	for _, a := range group {
		for _, b := range group {
			if a != b {
				g[a][b] = true
			}
		}
	}
}

// eliminated returns the maximal cliques of a triangulation. The price of an attribute is the
// logarithm of its table's cells, or the number of edges that its neighbours lack.
func eliminated(d Domain, groups [][]int, fill bool) (cliques [][]int) {
	g := newGraph(len(d), groups)
	price := func(a int) float64 {
		cells := math.Log(float64(d[a]))
		for b := range g[a] {
			cells += math.Log(float64(d[b]))
		}
		if !fill {
			return cells
		}
		missing := 0
		for b := range g[a] {
			for c := range g[a] {
				if b < c && !g[b][c] {
					missing++
				}
			}
		}
		return float64(missing) + 1e-3*cells
	}
	prices := make([]float64, len(d))
	left := make([]int, len(d))
	for a := range d {
		left[a], prices[a] = a, price(a)
	}
	for len(left) > 0 {
		best := 0
		for k, a := range left {
			if prices[a] < prices[left[best]]-1e-9 {
				best = k
			}
		}
		a := left[best]
		left = slices.Delete(left, best, best+1)
		clique := []int{a}
		for b := range g[a] {
			clique = append(clique, b)
		}
		slices.Sort(clique)
		if !slices.ContainsFunc(cliques, func(c []int) bool { return within(clique, c) }) {
			cliques = append(cliques, clique)
		}
		g.connect(clique)
		touched := map[int]bool{}
		for b := range g[a] {
			delete(g[b], a)
			touched[b] = true
			if fill {
				for c := range g[b] {
					touched[c] = true
				}
			}
		}
		for b := range touched {
			prices[b] = price(b)
		}
	}
	return cliques
}

// within reports whether an ascending list is part of another.
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

// joined makes a tree of cliques: a spanning tree of largest common parts, which is a junction tree
// since the cliques are those of a triangulation.
func joined(cliques [][]int) Tree {
	slices.SortStableFunc(cliques, slices.Compare[[]int])
	var t Tree
	best, from := make([]int, len(cliques)), make([]int, len(cliques))
	for i := range cliques {
		best[i], from[i] = -1, -1
	}
	left := make([]int, len(cliques))
	for i := range left {
		left[i] = i
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

// Holder returns the smallest clique that holds some attributes, -1 for none.
func (t Tree) Holder(d Domain, attributes []int) int {
	best := -1
	for i, c := range t.Cliques {
		if within(attributes, c.Attributes) &&
			(best < 0 || cmp.Less(d.Cells(c.Attributes), d.Cells(t.Cliques[best].Attributes))) {
			best = i
		}
	}
	return best
}
