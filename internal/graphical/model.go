package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Factor is the logarithm of a positive function of some attributes.
type Factor struct {
	Attributes []int     // ascending
	Theta      []float64 // one number for each cell; the last attribute varies fastest
}

// A Model is the distribution that is proportional to the exponential of a sum of factors. Only
// [Model.Fit] changes a model.
type Model struct {
	Domain  Domain
	Tree    Tree
	Factors []Factor
	places  []place // of the factors
	nodes   []node
}

// place is the clique that holds a factor.
type place struct {
	node int
	view view // of run 0 before the first fit
}

// node is the table of one clique.
type node struct {
	work  []float64 // factors and messages
	given []float64 // distribution of the clique given the attributes shared with its parent
	law   []float64 // distribution of the clique

	up     view // from the clique to the attributes shared with the parent
	parent view // from the parent's table to the same attributes
	top    []float64
	total  []float64
	shared []float64
}

// clampFactors clamps the numbers in factors to a finite range, and sets NaN to 0. It reports
// whether a number has changed.
func clampFactors(factors []Factor) (changed bool) {
	for _, f := range factors {
		for i, x := range f.Theta {
			kept := min(max(x, lowest), -lowest)
			if x != x {
				kept = 0
			}
			if kept != x {
				f.Theta[i], changed = kept, true
			}
		}
	}
	return changed
}

// NewModel returns the distribution with the given factors, which then belong to the model. Numbers
// in the factors are clamped to a finite range, and NaN becomes 0.
func NewModel(d Domain, factors []Factor) *Model {
	var groups [][]int
	for _, f := range factors {
		groups = append(groups, f.Attributes)
	}
	clampFactors(factors)
	t := NewTree(d, groups)
	m := &Model{Domain: d, Tree: t, Factors: factors, nodes: make([]node, len(t.Cliques))}
	for i, c := range t.Cliques {
		cells := int(d.Cells(c.Attributes))
		n := node{work: make([]float64, cells), given: make([]float64, cells),
			law: make([]float64, cells), up: d.newView(c.Attributes, c.Shared)}
		if c.Parent >= 0 {
			n.parent = d.newView(t.Cliques[c.Parent].Attributes, c.Shared)
		}
		shared := n.up.cells
		n.top, n.total, n.shared = make([]float64, shared), make([]float64, shared),
			make([]float64, shared)
		m.nodes[i] = n
	}
	for _, f := range factors {
		m.places = append(m.places, place{node: t.Holder(d, f.Attributes)})
	}
	m.pass()
	return m
}

// pass passes messages to the root and back. A clique's message to its parent is the logarithm of Σ
// exp(work), for each cell of the shared attributes. Dividing by that sum gives the clique's
// distribution given the shared attributes.
func (m *Model) pass() {
	for i := range m.nodes {
		clear(m.nodes[i].work)
	}
	m.addFactors(func(node int) []float64 { return m.nodes[node].work })
	m.up()
	for i := range m.nodes {
		n := &m.nodes[i]
		p := m.Tree.Cliques[i].Parent
		if p < 0 {
			copy(n.law, n.given)
			continue
		}
		n.parent.sum(n.shared, m.nodes[p].law)
		n.up.scale(n.law, n.given, n.shared)
	}
}

// up passes messages to the root, and leaves each clique's distribution given the shared
// attributes.
func (m *Model) up() {
	for i := len(m.nodes) - 1; i >= 0; i-- {
		n := &m.nodes[i]
		n.up.top(n.top, n.work)
		n.up.grow(n.given, n.work, n.top)
		n.up.sum(n.total, n.given)
		for s, total := range n.total {
			n.top[s] += math.Log(total)
			n.total[s] = 1 / total
		}
		n.up.scale(n.given, n.given, n.total)
		if p := m.Tree.Cliques[i].Parent; p >= 0 {
			n.parent.add(m.nodes[p].work, n.top, 1)
		}
	}
}

// Marginal returns the distribution of some attributes, or nil if no clique contains all of them.
func (m *Model) Marginal(attributes []int) []float64 {
	i := m.Tree.Holder(m.Domain, attributes)
	if i < 0 {
		return nil
	}
	v := m.Domain.newView(m.Tree.Cliques[i].Attributes, attributes)
	out := make([]float64, v.cells)
	v.sum(out, m.nodes[i].law)
	return out
}

// Given returns the model conditioned on the event that an attribute has an allowed value, and the
// probability of this event.
func (m *Model) Given(attribute int, allowed func(value int) bool) (*Model, float64) {
	weights := make([]float64, m.Domain[attribute])
	for v := range weights {
		if allowed(v) {
			weights[v] = 1
		}
	}
	return m.Weighted([]int{attribute}, weights)
}

// Weighted returns the model given an observation, and the probability of the observation. weights
// holds the probability of the observation given each cell of the attributes. The attributes must
// be ascending.
func (m *Model) Weighted(attributes []int, weights []float64) (*Model, float64) {
	theta := make([]float64, len(weights))
	for v, w := range weights {
		theta[v] = max(math.Log(w), lowest)
	}
	wide := m
	if m.Tree.Holder(m.Domain, attributes) < 0 {
		wide = m.Extended(attributes)
	}
	probability := 0.0
	for v, p := range wide.Marginal(attributes) {
		probability += p * weights[v]
	}
	return NewModel(m.Domain, append(slices.Clone(m.Factors), Factor{attributes, theta})), probability
}

// Drawer draws from a model. It is not safe for concurrent use.
type Drawer struct {
	model *Model
	cells [][][]int32 // cells of each clique, by the values of the attributes shared with its parent
	back  [][]int     // the strides of each clique's attributes
	fresh [][]int     // positions of each clique's attributes that are not shared with its parent
}

// Drawer returns a new Drawer.
func (m *Model) Drawer() *Drawer {
	d := &Drawer{model: m}
	for i, c := range m.Tree.Cliques {
		d.cells = append(d.cells, m.nodes[i].up.cellsOf())
		strides, cells := make([]int, len(c.Attributes)), 1
		var fresh []int
		for k := len(c.Attributes) - 1; k >= 0; k-- {
			strides[k] = cells
			cells *= m.Domain[c.Attributes[k]]
			if !slices.Contains(c.Shared, c.Attributes[k]) {
				fresh = append(fresh, k)
			}
		}
		d.back, d.fresh = append(d.back, strides), append(d.fresh, fresh)
	}
	return d
}

// Draw draws n rows, attribute by attribute: out[a][i] is the value of attribute a of row i. Every
// row follows the model's distribution. Rows are stratified clique by clique: given the values of
// shared attributes, the count of each cell of a clique differs from its expectation by at most
// one.
func (d *Drawer) Draw(rng *rand.Rand, n int) [][]uint16 {
	m := d.model
	out := make([][]uint16, len(m.Domain))
	for a := range out {
		out[a] = make([]uint16, n)
	}
	order, groups := make([]int32, n), make([]int32, n)
	var picks []int32
	for i, c := range m.Tree.Cliques {
		cells := d.cells[i]
		ends := make([]int, len(cells)+1)
		for row := range n {
			at := 0
			for _, a := range c.Shared {
				at = at*m.Domain[a] + int(out[a][row])
			}
			groups[row] = int32(at)
			ends[at+1]++
		}
		for g := range cells {
			ends[g+1] += ends[g]
		}
		next := slices.Clone(ends)
		for row, g := range groups {
			order[next[g]] = int32(row)
			next[g]++
		}
		for g, list := range cells {
			rows := order[ends[g]:ends[g+1]]
			if len(rows) == 0 {
				continue
			}
			picks = stratified(rng, m.nodes[i].given, list, len(rows), picks[:0])
			rng.Shuffle(len(picks), func(a, b int) { picks[a], picks[b] = picks[b], picks[a] })
			for k, row := range rows {
				for _, f := range d.fresh[i] {
					a := c.Attributes[f]
					out[a][row] = uint16(int(picks[k]) / d.back[i][f] % m.Domain[a])
				}
			}
		}
	}
	return out
}

// stratified appends n of the cells to picks, by systematic sampling. The range of probabilities is
// divided into n equal parts. One cell is picked from each part, at the same random position in all
// parts.
func stratified(rng *rand.Rand, p []float64, cells []int32, n int, picks []int32) []int32 {
	u, total := rng.Float64(), 0.0
	last := cells[0]
	for _, cell := range cells {
		if p[cell] > 0 {
			last = cell
		}
		total += p[cell] * float64(n)
		for float64(len(picks))+u < total && len(picks) < n {
			picks = append(picks, cell)
		}
	}
	for len(picks) < n { // rounding errors may leave some picks
		picks = append(picks, last)
	}
	return picks
}
