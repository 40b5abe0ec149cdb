package graphical

import (
	"math/rand/v2"
	"slices"
)

// A Completer draws the last attributes of rows whose first attributes are given. Given those, the
// factors of the first attributes alone are constants, and every other factor is a factor of its last
// attributes only. So a row is drawn from the tree of the last attributes, which has far fewer cells
// than the tree of all. A Completer is not safe for concurrent use.
type Completer struct {
	*Drawer
	first  int           // number of attributes that are given
	domain Domain        // of all attributes
	fixed  [][]float64   // factors of each clique that no given attribute changes
	varied []conditional // the other factors
}

// A conditional is a factor of given and of other attributes.
type conditional struct {
	given []int // ascending
	theta []float64
	place place // of the other attributes
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
	for i, rest := range parts {
		at := inner.Tree.Holder(own, rest)
		c.varied[i].place = place{at, own.newView(inner.Tree.Cliques[at].Attributes, rest)}
	}
	for i := range inner.nodes {
		c.fixed = append(c.fixed, make([]float64, len(inner.nodes[i].work)))
	}
	for i, p := range inner.places {
		inner.viewOf(i).add(c.fixed[p.node], inner.Factors[i].Theta, 1)
	}
	return c
}

// Complete sets the last attributes of a row whose first attributes are set.
func (c *Completer) Complete(rng *rand.Rand, row []uint16) {
	m := c.model
	for i := range m.nodes {
		copy(m.nodes[i].work, c.fixed[i])
	}
	for i := range c.varied {
		v := &c.varied[i]
		cell := 0
		for _, a := range v.given {
			cell = cell*c.domain[a] + int(row[a])
		}
		n := v.place.view.cells
		v.place.view.add(m.nodes[v.place.node].work, v.theta[cell*n:(cell+1)*n], 1)
	}
	m.up()
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
