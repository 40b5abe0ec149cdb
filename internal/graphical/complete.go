package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Completer draws the last attributes of rows whose first attributes are given. Given those, the
// factors of the first attributes alone are constants, and every other factor is a factor of its
// last attributes only. So a row is drawn from the tree of the last attributes, which has no more
// cells than the tree of all, and mostly far fewer. A Completer is not safe for concurrent use.
type Completer struct {
	*Drawer
	first  int           // number of attributes that are given
	domain Domain        // of all attributes
	fixed  [][]float64   // logarithms of the factors of each clique that no given attribute changes
	varied []conditional // the other factors
	packs  []varying
	ready  [][]float64 // factors in fixed, with 1 as the largest
	last   []uint16    // values that were given in the last pass
	passes int
	summed [][]int // by clique and shared cell: the pass that the sums belong to
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
	c := &Completer{first: first, domain: m.Domain}
	var factors []Factor
	var parts, cliques [][]int // the last attributes of varied factors, and of m's cliques
	for a := range own {       // so that every attribute is in a clique
		factors = append(factors, Factor{[]int{a}, make([]float64, own[a])})
	}
	for _, f := range m.Factors {
		rest := after(f.Attributes, first)
		split := len(f.Attributes) - len(rest)
		switch {
		case len(rest) == 0:
		case split == 0:
			factors = append(factors, Factor{rest, f.Theta})
		default:
			factors = append(factors, Factor{rest, make([]float64, int(own.Cells(rest)))})
			c.varied = append(c.varied, conditional{given: f.Attributes[:split], theta: f.Theta})
			parts = append(parts, rest)
		}
	}
	for _, clique := range m.Tree.Cliques {
		cliques = append(cliques, after(clique.Attributes, first))
	}
	inner := NewModel(own, factors, cliques...)
	c.Drawer = inner.Drawer()
	for _, p := range inner.Tree.packs(own, parts, 1) {
		for _, i := range p.factors {
			c.varied[i].view = own.newView(p.attributes, parts[i])
		}
		work := make([]float64, int(own.Cells(p.attributes)))
		c.packs = append(c.packs, varying{p, p.from(own, inner.Tree), work})
	}
	for i := range inner.nodes {
		c.fixed = append(c.fixed, make([]float64, len(inner.nodes[i].work)))
	}
	for i := range inner.packs {
		p := &inner.packs[i]
		inner.sum(p).add(c.fixed[p.node], p.table)
	}
	inner.starts = nil
	for i := range inner.nodes {
		c.ready = append(c.ready, make([]float64, len(c.fixed[i])))
		weigh(c.ready[i], c.fixed[i], len(c.fixed[i]))
		c.summed = append(c.summed, make([]int, inner.nodes[i].up.cells))
	}
	for i := range c.varied {
		v := &c.varied[i]
		v.weights = make([]float64, len(v.theta))
		weigh(v.weights, v.theta, v.view.cells)
	}
	return c
}

// after returns the ascending attributes from first on, renumbered.
func after(attributes []int, first int) (rest []int) {
	for split, _ := slices.BinarySearch(attributes, first); split < len(attributes); split++ {
		rest = append(rest, attributes[split]-first)
	}
	return rest
}

// weigh sets dst to the exponentials of numbers, with 1 as the largest of each n. It returns the
// sum of the logarithms of what it divides by. dst may be the numbers.
func weigh(dst, theta []float64, n int) (tops float64) {
	for lo := 0; lo < len(theta); lo += n {
		top := maximum(theta[lo : lo+n])
		tops += top
		exponentials(dst[lo:lo+n], theta[lo:lo+n], top)
	}
	return tops
}

// exponentials sets dst to e^(x−top), where no x is above top.
func exponentials(dst, x []float64, top float64) {
	for k := 0; k < len(x); k++ {
		if k%4 == 0 {
			k += expVectors(dst[k:], x[k:], top)
		}
		if k < len(x) {
			dst[k] = math.Exp(x[k] - top)
		}
	}
}

// maximum returns the largest of some numbers, and NaN if one is NaN. It compares four at a time,
// because each comparison waits for the one before.
func maximum(x []float64) float64 {
	top := x[0]
	for ; len(x) >= 4; x = x[4:] {
		top = max(top, max(max(x[0], x[1]), max(x[2], x[3])))
	}
	for _, v := range x {
		top = max(top, v)
	}
	return top
}

// of returns the numbers of list, theta or weights, for the given values.
func (v *conditional) of(list []float64, d Domain, row []uint16) []float64 {
	cell, n := 0, v.view.cells
	for _, a := range v.given {
		cell = cell*d[a] + int(row[a])
	}
	return list[cell*n : (cell+1)*n]
}

// quick passes messages to the root in products of weights, and reports whether they are exact up
// to rounding.
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
	return m.quickUp()
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
			v.view.add(p.work, v.of(v.theta, c.domain, row))
		}
		p.view.add(m.nodes[p.node].work, p.work)
	}
	m.carefulUp()
}

// Complete sets the last attributes of a row whose first attributes are set. Rows that follow each
// other with the same first attributes share a pass of messages.
func (c *Completer) Complete(rng *rand.Rand, row []uint16) {
	if c.passes == 0 || !slices.Equal(c.last, row[:c.first]) {
		c.last = append(c.last[:0], row[:c.first]...)
		if c.passes++; !c.quick(row) {
			c.careful(row)
		}
	}
	m := c.model
	own := row[c.first:]
	for i, clique := range m.Tree.Cliques {
		at := 0
		for _, a := range clique.Shared {
			at = at*m.Domain[a] + int(own[a])
		}
		cell := c.picked(rng, i, at)
		for _, f := range c.fresh[i] {
			a := clique.Attributes[f]
			own[a] = uint16(int(cell) / c.back[i][f] % m.Domain[a])
		}
	}
}

// picked returns one of a clique's cells at random, given its shared cell. Sums of weights are in
// the memory of the clique's distribution, which no row needs.
func (c *Completer) picked(rng *rand.Rand, i, at int) int32 {
	n, cells := &c.model.nodes[i], c.cells[i][at]
	sums := n.law[at*len(cells):][:len(cells)]
	if c.summed[i][at] != c.passes {
		all := 0.0
		for k, cell := range cells {
			all += n.work[cell]
			sums[k] = all
		}
		c.summed[i][at] = c.passes
	}
	all := sums[len(sums)-1]
	least := math.Nextafter(all*rng.Float64(), math.Inf(1)) // the cell has a weight even if this is 0
	k, _ := slices.BinarySearch(sums, min(least, all))
	return cells[k]
}
