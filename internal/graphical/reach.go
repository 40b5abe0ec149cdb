package graphical

import (
	"math"
	"slices"
)

// Reach answers, for one tree, whether a tree with one more group has room. It counts the cells of
// one such tree. NewTree usually finds one that is not larger, but need not, since it is greedy.
type Reach struct {
	domain  Domain
	tree    Tree
	total   float64  // cells of all cliques
	near    [][]edge // of each clique, to the cliques with which it shares attributes
	holders [][]int  // of each attribute, the cliques that have it
	ways    [][]way  // of each attribute, to each clique
}

// edge leads to a clique.
type edge struct {
	to     int
	shared []int
}

// A way carries an attribute to a clique: the last edge, and the cells of the cliques that are
// added before it. Each of these has the attribute and what the clique's own edges share.
type way struct {
	edge
	cells float64
}

// NewReach returns the Reach of a tree.
func NewReach(d Domain, t Tree) *Reach {
	r := &Reach{domain: d, tree: t, near: make([][]edge, len(t.Cliques)),
		holders: make([][]int, len(d)), ways: make([][]way, len(d))}
	for i, c := range t.Cliques {
		if len(c.Shared) > 0 {
			r.near[i] = append(r.near[i], edge{c.Parent, c.Shared})
			r.near[c.Parent] = append(r.near[c.Parent], edge{i, c.Shared})
		}
		for _, a := range c.Attributes {
			r.holders[a] = append(r.holders[a], i)
		}
		r.total += d.Cells(c.Attributes)
	}
	for a := range d {
		r.ways[a] = r.waysOf(a)
	}
	return r
}

// waysOf returns the ways of an attribute to all cliques. Those of cells +Inf do not exist.
func (r *Reach) waysOf(a int) []way {
	out := make([]way, len(r.tree.Cliques))
	for i := range out {
		out[i].cells = math.Inf(1)
	}
	var open []int
	for _, i := range r.holders[a] {
		out[i].cells = 0
		open = append(open, i)
	}
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		for _, e := range r.near[i] {
			if out[e.to].cells < math.Inf(1) {
				continue
			}
			w := way{e, out[i].cells}
			if out[i].shared != nil {
				w.cells += float64(r.domain[a]) * r.cellsOf(out[i].shared, e.shared)
			}
			out[e.to] = w
			open = append(open, e.to)
		}
	}
	return out
}

// cellsOf returns the number of cells of the union of two lists.
func (r *Reach) cellsOf(list, more []int) float64 {
	cells := r.domain.Cells(list)
	for _, a := range more {
		if !slices.Contains(list, a) {
			cells *= float64(r.domain[a])
		}
	}
	return cells
}

// Fits reports whether the tree has room for a group. It has none for a group of more than two
// attributes of which no clique has all but one.
func (r *Reach) Fits(group []int, limit float64) bool {
	return r.tree.Holder(r.domain, group) >= 0 || r.least(group) <= limit
}

// least returns the fewest cells of the tree with a group that no clique has: a clique with all but
// one of its attributes stays, and the other one is carried there.
func (r *Reach) least(group []int) float64 {
	least := math.Inf(1)
	for k, a := range group {
		rest := slices.Delete(slices.Clone(group), k, k+1)
		for _, i := range r.holders[rest[0]] {
			if within(rest, r.tree.Cliques[i].Attributes) {
				least = min(least, r.added(a, rest, i))
			}
		}
	}
	return r.total + least
}

// added returns the number of cells that are added if an attribute is carried to a clique with
// other attributes. If its part of the tree is another one, a clique of them all joins the parts,
// and a clique that is one attribute, or has only the others, is no longer needed.
func (r *Reach) added(a int, rest []int, clique int) float64 {
	size := float64(r.domain[a])
	if w := r.ways[a][clique]; w.cells < math.Inf(1) {
		return w.cells + size*r.cellsOf(w.shared, rest)
	}
	cells := size * r.domain.Cells(rest)
	if len(r.tree.Cliques[clique].Attributes) == len(rest) {
		cells -= r.domain.Cells(rest)
	}
	if len(r.tree.Cliques[r.holders[a][0]].Attributes) == 1 {
		cells -= size
	}
	return cells
}
