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

// mostPacked is the largest number of cells of the table of several factors, and largeClique the
// smallest of a clique whose factors are put together.
const mostPacked, largeClique = 1 << 12, 1 << 16

// packs divides groups of attributes. Groups of a clique with fewer cells than least stay alone.
func (t Tree) packs(d Domain, groups [][]int, least float64) (list []pack) {
	for i, g := range groups {
		k, node := -1, t.Holder(d, g)
		if d.Cells(g) <= mostPacked && d.Cells(t.Cliques[node].Attributes) >= least {
			k = slices.IndexFunc(list, func(p pack) bool {
				return p.node == node && d.Cells(union(p.attributes, g)) <= mostPacked
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

// addFactors adds every factor to the table of its clique.
func (m *Model) addFactors(table func(node int) []float64) {
	var groups [][]int
	for i, p := range m.places {
		if groups = append(groups, m.Factors[i].Attributes); p.view.run > 0 { // a fit has made all views
			p.view.add(table(p.node), m.Factors[i].Theta, 1)
		}
	}
	if len(m.places) == 0 || m.places[0].view.run > 0 {
		return
	}
	for _, p := range m.Tree.packs(m.Domain, groups, largeClique) {
		theta := m.Factors[p.factors[0]].Theta
		if len(p.factors) > 1 {
			theta = make([]float64, int(m.Domain.Cells(p.attributes)))
			for _, i := range p.factors {
				m.Domain.newView(p.attributes, groups[i]).add(theta, m.Factors[i].Theta, 1)
			}
		}
		p.from(m.Domain, m.Tree).add(table(p.node), theta, 1)
	}
}
