package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
)

// lowest is the smallest number of a fitted factor.
const lowest = -1e5

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
	packs   []packing // of the factors
	nodes   []node
	starts  []int32 // memory of views
	weight  float64 // logarithm of the sum of the exponential over all rows
}

// node is the table of one clique.
type node struct {
	work []float64 // the product of factors and messages, for a distribution given what is shared
	law  []float64 // distribution of the clique

	up     view      // from the clique to the attributes shared with the parent
	parent view      // from the parent's table to the same attributes
	total  []float64 // sums of work
	top    []float64 // logarithms of the message to the parent, after careful
	shared []float64
	lost   float64 // bounds what the products of the children lost to underflow
}

// clampFactors clamps the numbers in factors to a finite range, sets -Inf to zero, the logarithm of
// 0, and NaN to 0. It reports whether a number has changed.
func clampFactors(factors []Factor, zero float64) (changed bool) {
	for _, f := range factors {
		for i, x := range f.Theta {
			kept := min(max(x, lowest), -lowest)
			if x != x {
				kept = 0
			} else if math.IsInf(x, -1) {
				kept = zero
			}
			if kept != x {
				f.Theta[i], changed = kept, true
			}
		}
	}
	return changed
}

// NewModel returns the distribution with the given factors, which then belong to the model. Numbers
// in the factors other than -Inf are clamped to a finite range, and NaN becomes 0. The tree has no
// more cells than that of cliques, if there are any; these must hold all factors.
func NewModel(d Domain, factors []Factor, cliques ...[]int) *Model {
	var groups [][]int
	for _, f := range factors {
		groups = append(groups, f.Attributes)
	}
	clampFactors(factors, math.Inf(-1))
	t := NewTree(d, groups)
	if cliques != nil && !Fits(d, groups, Cells(d, cliques)) {
		t = NewTree(d, cliques)
	}
	m := &Model{Domain: d, Tree: t, Factors: factors, nodes: make([]node, len(t.Cliques))}
	for i, c := range t.Cliques {
		cells := int(d.Cells(c.Attributes))
		n := node{work: make([]float64, cells), law: make([]float64, cells),
			up: d.newView(c.Attributes, c.Shared)}
		if c.Parent >= 0 {
			n.parent = d.newView(t.Cliques[c.Parent].Attributes, c.Shared)
		}
		k := n.up.cells
		n.top, n.total, n.shared = make([]float64, k), make([]float64, k), make([]float64, k)
		m.nodes[i] = n
	}
	for _, p := range t.packs(d, groups, packedPart) {
		m.packs = append(m.packs, d.newPacking(p, factors))
	}
	m.pass()
	m.starts = nil
	return m
}

// pass passes messages to the root and back.
func (m *Model) pass() {
	if !m.quick() {
		m.careful()
	}
	m.down()
}

// down passes messages back, which give the distributions of the cliques.
func (m *Model) down() {
	for i := range m.nodes {
		n := &m.nodes[i]
		if p := m.Tree.Cliques[i].Parent; p >= 0 {
			n.parent.sum(n.shared, m.nodes[p].law)
		} else {
			n.shared[0] = 1
		}
		for s, total := range n.total {
			if total > 0 {
				n.shared[s] /= total
			}
		}
		n.up.scale(n.law, n.work, n.shared)
	}
}

var ones = slices.Repeat([]float64{1}, 512)

// quick passes messages to the root in products of weights, whose largest is 1. It reports whether
// they are exact up to rounding.
func (m *Model) quick() bool {
	for i := range m.nodes {
		for left := m.nodes[i].work; len(left) > 0; {
			left = left[copy(left, ones):]
		}
	}
	m.weight = 0
	for i := range m.packs {
		p := &m.packs[i]
		view := m.sum(p)
		m.weight += weigh(p.table, p.table, len(p.table))
		view.scale(m.nodes[p.node].work, m.nodes[p.node].work, p.table)
	}
	return m.quickUp()
}

// mostLost is the largest part of all weight that products may lose to underflow, and leastProduct
// is more than any weight that is lost.
const mostLost, leastProduct = 1e-50, 1e-307

// quickUp passes messages to the root, without a logarithm or an exponential. The weights in the
// cliques' tables are at most 1, and so are messages, which are divided by their largest number. It
// reports whether the results are exact up to rounding. A cell is lost only if its product is below
// leastProduct. So a clique loses less than that for each of its cells, in addition to what its
// children have lost for one cell each; a message divides this by its largest number. What is lost
// are whole records, of which all cliques keep the distribution.
func (m *Model) quickUp() bool {
	for i := range m.nodes {
		m.nodes[i].lost = leastProduct
	}
	for i := len(m.nodes) - 1; i >= 0; i-- {
		n := &m.nodes[i]
		n.up.sum(n.total, n.work)
		top := maximum(n.total)
		lost := n.lost * float64(len(n.work)) / top
		if !(lost < mostLost) {
			return false
		}
		m.weight += math.Log(top)
		if p := m.Tree.Cliques[i].Parent; p >= 0 {
			for s, total := range n.total {
				n.shared[s] = total / top
			}
			n.parent.scale(m.nodes[p].work, m.nodes[p].work, n.shared)
			m.nodes[p].lost += lost
		}
	}
	return true
}

// careful passes messages to the root in logarithms.
func (m *Model) careful() {
	m.weight = 0
	for i := range m.nodes {
		clear(m.nodes[i].work)
	}
	for i := range m.packs {
		p := &m.packs[i]
		m.sum(p).add(m.nodes[p.node].work, p.table)
	}
	m.carefulUp()
}

// carefulUp passes messages to the root. A clique's message to its parent is the logarithm of Σ
// exp(work), for each cell of the shared attributes.
func (m *Model) carefulUp() {
	for i := len(m.nodes) - 1; i >= 0; i-- {
		n := &m.nodes[i]
		n.up.top(n.top, n.work)
		n.up.grow(n.work, n.top)
		n.up.sum(n.total, n.work)
		for s, total := range n.total {
			n.top[s] += math.Log(total)
		}
		if p := m.Tree.Cliques[i].Parent; p >= 0 {
			n.parent.add(m.nodes[p].work, n.top)
		} else {
			m.weight += n.top[0]
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

// Observation returns the factor of an observation. weights holds its probability given each cell
// of the attributes, which must be ascending.
func Observation(attributes []int, weights []float64) Factor {
	theta, least := make([]float64, len(weights)), math.Inf(-1) // no factor outweighs it
	if slices.Max(weights) == 0 {
		least = lowest // no row has what was observed: those of the model stay
	}
	for v, w := range weights {
		theta[v] = max(math.Log(w), least)
	}
	return Factor{attributes, theta}
}

// Given returns the model given observations, and their probability.
func (m *Model) Given(observed ...Factor) (*Model, float64) {
	out := NewModel(m.Domain, slices.Concat(m.Factors, observed))
	return out, min(math.Exp(out.weight-m.weight), 1)
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
			n := &m.nodes[i]
			picks = stratified(rng, n.work, n.total[g], list, len(rows), picks[:0])
			rng.Shuffle(len(picks), func(a, b int) { picks[a], picks[b] = picks[b], picks[a] })
			for _, f := range d.fresh[i] {
				a := c.Attributes[f]
				values, stride, size := out[a], uint32(d.back[i][f]), uint32(m.Domain[a])
				for k, row := range rows {
					values[row] = uint16(uint32(picks[k]) / stride % size)
				}
			}
		}
	}
	return out
}

// stratified appends n of the cells to picks, by systematic sampling. The range of weights, which
// have the sum all, is divided into n equal parts. One cell is picked from each part, at the same
// random position in all parts.
func stratified(rng *rand.Rand, weights []float64, all float64, cells []int32, n int,
	picks []int32) []int32 {
	u, total, each := rng.Float64(), 0.0, float64(n)/all
	last := cells[0]
	for _, cell := range cells {
		if weights[cell] > 0 {
			last = cell
		}
		total += weights[cell] * each
		for float64(len(picks))+u < total && len(picks) < n {
			picks = append(picks, cell)
		}
	}
	for len(picks) < n { // rounding errors may leave some picks
		picks = append(picks, last)
	}
	return picks
}
