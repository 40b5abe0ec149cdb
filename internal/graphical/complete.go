package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Completer draws the last attributes of rows whose first attributes are given. Given those, the
// factors of the first attributes alone are constants, and every other factor is a factor of its
// last attributes only. So a row is drawn from the tree of the last attributes, which has far
// fewer cells than the tree of all. A Completer is not safe for concurrent use.
type Completer struct {
	*Drawer
	first  int           // number of attributes that are given
	domain Domain        // of all attributes
	fixed  [][]float64   // logarithms of the factors of each clique that no given attribute changes
	varied []conditional // the other factors
	packs  []varying
	ready  [][]float64 // factors in fixed, with 1 as the largest
}

// A conditional is a factor of given and of other attributes.
type conditional struct {
	given   []int // ascending
	theta   []float64
	weights []float64 // exponentials of theta, with 1 as the largest for each cell of given
	view    view      // from the table of its pack to the other attributes
}

// varying is a pack of conditionals.
type varying struct {
	pack
	view view // from the clique
	work []float64
}

// Completer returns a Completer of rows whose first attributes are given.
func (m *Model) Completer(first int) *Completer {
	own := m.Domain[first:]
	var factors []Factor
	var parts [][]int    // the given attributes of each factor
	for a := range own { // so that every attribute is in a clique
		factors = append(factors, Factor{[]int{a}, make([]float64, own[a])})
	}
	var varied []conditional
	for _, f := range m.Factors {
		split, _ := slices.BinarySearch(f.Attributes, first)
		rest := make([]int, len(f.Attributes)-split)
		for k, a := range f.Attributes[split:] {
			rest[k] = a - first
		}
		switch {
		case len(rest) == 0:
		case split == 0:
			factors = append(factors, Factor{rest, f.Theta})
		default:
			factors = append(factors, Factor{rest, make([]float64, int(own.Cells(rest)))})
			varied = append(varied, conditional{given: f.Attributes[:split], theta: f.Theta})
			parts = append(parts, rest)
		}
	}
	c := &Completer{first: first, domain: m.Domain, varied: varied}
	inner := NewModel(own, factors)
	c.Drawer = inner.Drawer()
	for _, p := range inner.Tree.packs(own, parts, 0) {
		for _, i := range p.factors {
			c.varied[i].view = own.newView(p.attributes, parts[i])
		}
		work := make([]float64, int(own.Cells(p.attributes)))
		c.packs = append(c.packs, varying{p, p.from(own, inner.Tree), work})
	}
	for i := range inner.nodes {
		c.fixed = append(c.fixed, make([]float64, len(inner.nodes[i].work)))
	}
	inner.addFactors(func(node int) []float64 { return c.fixed[node] })
	for i := range inner.nodes {
		c.ready = append(c.ready, weightsOf(c.fixed[i], len(c.fixed[i])))
	}
	for i := range c.varied {
		c.varied[i].weights = weightsOf(c.varied[i].theta, c.varied[i].view.cells)
	}
	return c
}

// weightsOf returns the exponentials of numbers, with 1 as the largest of each n of them.
func weightsOf(theta []float64, n int) []float64 {
	out := make([]float64, len(theta))
	for lo := 0; lo < len(theta); lo += n {
		top := slices.Max(theta[lo : lo+n])
		for k := lo; k < lo+n; k++ {
			out[k] = math.Exp(theta[k] - top)
		}
	}
	return out
}

// of returns the numbers of list, theta or weights, for the given values.
func (v *conditional) of(list []float64, d Domain, row []uint16) []float64 {
	cell, n := 0, v.view.cells
	for _, a := range v.given {
		cell = cell*d[a] + int(row[a])
	}
	return list[cell*n : (cell+1)*n]
}

// leastTotal is the weight of all cells below which products may have lost some to underflow.
const leastTotal = 1e-200

// quick passes messages to the root in products of weights, without a logarithm or an exponential.
// It reports whether they are exact up to rounding. All weights are at most 1, and so are messages,
// which are divided by their largest number. A cell is lost only if its product is below 1e-307.
// Then its part of the root's total is below 1e-307 over the product of those largest numbers that
// are less than 1; a total that is far larger lacks nothing.
func (c *Completer) quick(row []uint16) bool {
	m := c.model
	for i := range m.nodes {
		copy(m.nodes[i].work, c.ready[i])
	}
	for _, p := range c.packs {
		for i := range p.work {
			p.work[i] = 1
		}
		for _, i := range p.factors {
			v := &c.varied[i]
			v.view.scale(p.work, p.work, v.of(v.weights, c.domain, row))
		}
		work := m.nodes[p.node].work
		p.view.scale(work, work, p.work)
	}
	whole := 1.0
	for i := len(m.nodes) - 1; i >= 0; i-- {
		n := &m.nodes[i]
		n.up.sum(n.total, n.work)
		p := m.Tree.Cliques[i].Parent
		top := slices.Max(n.total)
		whole *= min(top, 1)
		if p >= 0 {
			for s, total := range n.total {
				n.shared[s] = total / top
			}
			work := m.nodes[p].work
			n.parent.scale(work, work, n.shared)
		}
		for s, total := range n.total {
			if n.total[s] = 0; total > 0 {
				n.total[s] = 1 / total
			}
		}
		n.up.scale(n.given, n.work, n.total)
	}
	return whole > leastTotal
}

// careful passes messages to the root in logarithms.
func (c *Completer) careful(row []uint16) {
	m := c.model
	for i := range m.nodes {
		copy(m.nodes[i].work, c.fixed[i])
	}
	for _, p := range c.packs {
		clear(p.work)
		for _, i := range p.factors {
			v := &c.varied[i]
			v.view.add(p.work, v.of(v.theta, c.domain, row), 1)
		}
		p.view.add(m.nodes[p.node].work, p.work, 1)
	}
	m.up()
}

// Complete sets the last attributes of a row whose first attributes are set.
func (c *Completer) Complete(rng *rand.Rand, row []uint16) {
	if !c.quick(row) {
		c.careful(row)
	}
	m := c.model
	own := row[c.first:]
	for i, clique := range m.Tree.Cliques {
		at := 0
		for _, a := range clique.Shared {
			at = at*m.Domain[a] + int(own[a])
		}
		cell := picked(rng, m.nodes[i].given, c.cells[i][at])
		for _, f := range c.fresh[i] {
			a := clique.Attributes[f]
			own[a] = uint16(int(cell) / c.back[i][f] % m.Domain[a])
		}
	}
}

// picked returns one of the cells at random. Their probabilities add up to about 1.
func picked(rng *rand.Rand, p []float64, cells []int32) int32 {
	left, last := rng.Float64(), cells[0]
	for _, cell := range cells {
		if p[cell] == 0 {
			continue
		}
		if last, left = cell, left-p[cell]; left < 0 {
			break
		}
	}
	return last
}
