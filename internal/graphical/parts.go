package graphical

import "slices"

// parts divides groups of attributes into connected parts, since a group changes only the cliques
// of the parts that it touches.
type parts struct {
	domain Domain
	of     []int // the part of each attribute
	list   []part
	total  [2]float64 // cells of all parts, by order of elimination
}

type part struct {
	groups [][]int
	cells  [2]float64
}

// newParts returns the connected parts of the groups.
func newParts(d Domain, groups [][]int) *parts {
	p := &parts{domain: d, of: components(len(d), groups)}
	p.list = make([]part, len(d))
	for a := range d {
		if p.of[a] == a {
			p.list[a].groups = [][]int{{a}}
		}
	}
	for _, group := range groups {
		if len(group) > 1 {
			q := &p.list[p.of[group[0]]]
			q.groups = append(q.groups, group)
		}
	}
	for i := range p.list {
		q := &p.list[i]
		q.cells = p.cells(q.groups)
		p.total[0] += q.cells[0]
		p.total[1] += q.cells[1]
	}
	return p
}

// components returns the smallest attribute that is connected with each attribute.
func components(n int, groups [][]int) []int {
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

// fits reports whether a tree of all groups and one more group has at most limit cells. A pair of
// attributes of two parts becomes a clique of its own, since each part has an order of elimination
// that ends with its attribute of the pair. Otherwise the parts of the group are eliminated anew.
func (p *parts) fits(group []int, limit float64) bool {
	groups, left := [][]int{group}, p.total
	joins := len(group) == 2 && p.of[group[0]] != p.of[group[1]]
	for k, a := range group {
		q := &p.list[p.of[a]]
		if joins && len(q.groups) > 1 || slices.ContainsFunc(group[:k], func(b int) bool {
			return p.of[a] == p.of[b]
		}) {
			continue
		}
		groups = append(groups, q.groups...)
		left[0] -= q.cells[0]
		left[1] -= q.cells[1]
	}
	cells := [2]float64{p.domain.Cells(group), p.domain.Cells(group)}
	if !joins {
		cells = p.cells(groups)
	}
	return left[0]+cells[0] <= limit || left[1]+cells[1] <= limit
}

// cells returns the cells of the cliques of some groups, for both orders of elimination. Only the
// attributes of the groups count.
func (p *parts) cells(groups [][]int) (cells [2]float64) {
	var used []int
	for _, group := range groups {
		used = append(used, group...)
	}
	slices.Sort(used)
	used = slices.Compact(used)
	d, renamed := make(Domain, len(used)), make([][]int, len(groups))
	for i, a := range used {
		d[i] = p.domain[a]
	}
	for i, group := range groups {
		for _, a := range group {
			k, _ := slices.BinarySearch(used, a)
			renamed[i] = append(renamed[i], k)
		}
	}
	cells[0] = cellsOf(d, eliminated(d, renamed, false))
	cells[1] = cellsOf(d, eliminated(d, renamed, true))
	return cells
}

func cellsOf(d Domain, cliques [][]int) float64 {
	total := 0.0
	for _, c := range cliques {
		total += d.Cells(c)
	}
	return total
}
