package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReachIsATree builds the cliques whose cells Reach counts. Together with those of the tree
// they must be a triangulation, in which eliminating attributes without new edges finds as many
// cells, or fewer if one of the cliques contains another.
func TestReachIsATree(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	equal, far, larger, all := 0, 0, 0, 0
	for range 400 {
		d, groups := randomGroups(rng, 14)
		tree := NewTree(d, groups)
		r := NewReach(d, tree)
		for range 10 {
			group := someOf(rng, len(d), 2+rng.IntN(2))
			if tree.Holder(d, group) >= 0 {
				if !r.Fits(group, 0) {
					t.Fatalf("groups %v: a clique has %v, which does not fit", groups, group)
				}
				continue
			}
			a, rest := group[0], group[1:]
			for target, c := range tree.Cliques {
				if !within(rest, c.Attributes) {
					continue
				}
				added := carriers(tree, a, rest, target)
				cells := cellsOf(d, eliminated(d, append(cliquesOf(tree), added...), true))
				bound := r.total + r.added(a, rest, target)
				if cells > bound*(1+1e-12) {
					t.Fatalf("groups %v and %v: %v cells, %v counted", groups, group, cells, bound)
				}
				if math.Abs(cells-bound) < 1e-9*bound {
					equal++
				}
				if far += min(len(added)-1, 1); !r.Fits(group, bound) {
					t.Fatalf("groups %v and %v: no room for %v cells", groups, group, bound)
				}
			}
			if least := r.least(group); least < math.Inf(1) {
				if all++; Cells(d, append(slices.Clone(groups), group)) > least {
					larger++
				}
			}
		}
	}
	t.Logf("%d equal, %d with several cliques, %d of %d where NewTree has more cells", equal, far,
		larger, all)
	if equal < 1000 || far < 300 || larger*20 > all {
		t.Errorf("%d equal, %d with several cliques, %d of %d where NewTree has more cells", equal, far,
			larger, all)
	}
}

// carriers returns the cliques that carry an attribute to a clique of a tree.
func carriers(t Tree, a int, rest []int, target int) (added [][]int) {
	up := func(i int) (path []int) { // to the root of its part
		for path = []int{i}; len(t.Cliques[i].Shared) > 0; path = append(path, i) {
			i = t.Cliques[i].Parent
		}
		return path
	}
	has := func(i int) bool { return slices.Contains(t.Cliques[i].Attributes, a) }
	shortest := []int(nil)
	for i := range t.Cliques {
		if !has(i) {
			continue
		}
		x, y := up(i), up(target)
		if x[len(x)-1] != y[len(y)-1] {
			continue
		}
		for len(x) > 1 && len(y) > 1 && x[len(x)-2] == y[len(y)-2] {
			x, y = x[:len(x)-1], y[:len(y)-1]
		}
		slices.Reverse(y)
		if path := append(slices.Clone(x), y[1:]...); shortest == nil || len(path) < len(shortest) {
			shortest = path
		}
	}
	union := func(lists ...[]int) []int {
		all := slices.Concat(lists...)
		slices.Sort(all)
		return slices.Compact(all)
	}
	var last []int
	for k := 1; k < len(shortest); k++ {
		shared := common(t.Cliques[shortest[k-1]].Attributes, t.Cliques[shortest[k]].Attributes)
		if k > 1 {
			added = append(added, union(last, shared, []int{a}))
		}
		last = shared
	}
	return append(added, union(last, rest, []int{a}))
}

func cliquesOf(t Tree) (list [][]int) {
	for _, c := range t.Cliques {
		list = append(list, c.Attributes)
	}
	return list
}

// randomGroups returns the sizes of n attributes and groups of them, which often form several
// parts.
func randomGroups(rng *rand.Rand, n int) (d Domain, groups [][]int) {
	for range n {
		d = append(d, 2+rng.IntN(9))
	}
	for range 1 + rng.IntN(n) {
		groups = append(groups, someOf(rng, n, 2+rng.IntN(2)))
	}
	return d, groups
}
