package graphical

import "slices"

// A pack is some factors of one clique. They are first put together in a table of their attributes.
// For a large clique, this takes far less time than to put each into the clique's table, and a view
// of that table for each would take far more memory.
type pack struct {
	node       int
	attributes []int
	factors    []int
}

// mostPacked is the largest number of cells of the table of several factors, and packedPart the
// largest as a part of the cells of the clique.
const mostPacked, packedPart = 1 << 12, 1.0 / 8

// packs divides groups of attributes. The table of several of them has at most a part of the cells
// of their clique.
func (t Tree) packs(d Domain, groups [][]int, part float64) (list []pack) {
	for i, g := range groups {
		k, node := -1, t.Holder(d, g)
		most := min(mostPacked, part*d.Cells(t.Cliques[node].Attributes))
		if d.Cells(g) <= most {
			k = slices.IndexFunc(list, func(p pack) bool {
				return p.node == node && d.Cells(union(p.attributes, g)) <= most
			})
		}
		if k < 0 {
			k, list = len(list), append(list, pack{node: node})
		}
		list[k].attributes = union(list[k].attributes, g)
		list[k].factors = append(list[k].factors, i)
	}
	return list
}

// from returns the view from the clique to the table of the pack.
func (p pack) from(d Domain, t Tree) view {
	return d.newView(t.Cliques[p.node].Attributes, p.attributes)
}

// union returns the attributes of either list in ascending order.
func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// A packing is a pack with its table and the views from there to its factors.
type packing struct {
	pack
	table []float64
	parts []view
	view  view // from the clique; of run 0 before the first fit
}

// newPacking returns a pack of factors.
func (d Domain) newPacking(p pack, factors []Factor) packing {
	out := packing{pack: p, table: make([]float64, int(d.Cells(p.attributes)))}
	for _, i := range p.factors {
		out.parts = append(out.parts, d.newView(p.attributes, factors[i].Attributes))
	}
	return out
}

// sum sets the table of a pack to the sum of its factors, and returns the view from the clique. It
// is valid until the next call: a view of its own for each pack of a file would take much memory.
func (m *Model) sum(p *packing) view {
	clear(p.table)
	for k, i := range p.factors {
		p.parts[k].add(p.table, m.Factors[i].Theta)
	}
	if p.view.run == 0 {
		v := m.Domain.newView(m.Tree.Cliques[p.node].Attributes, p.attributes, m.starts...)
		m.starts = v.starts
		return v
	}
	return p.view
}
