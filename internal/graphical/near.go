package graphical

import (
	"context"
	"math"
	"slices"
)

// nearHops is the largest distance, in edges of the tree, of the cliques that FitNear changes.
const nearHops = 2

// FitNear is Fit for the factors near a group of attributes: those within cliques that are at most
// nearHops edges from a clique with the group. It returns a set of all attributes of these cliques.
// To them, the rest of the model is one factor on each list of attributes that they share with it,
// the message that it passes.
func (m *Model) FitNear(ctx context.Context, list []Measurement, total float64, passes int,
	group []int) (near []bool, err error) {
	inside := m.near(m.Tree.Holder(m.Domain, group))
	near, d := make([]bool, len(m.Domain)), slices.Repeat(Domain{1}, len(m.Domain))
	for i, c := range m.Tree.Cliques {
		for _, a := range c.Attributes {
			if inside[i] {
				near[a], d[a] = true, m.Domain[a]
			}
		}
	}
	if !slices.Contains(inside, false) {
		return near, m.Fit(ctx, list, total, passes)
	}
	var factors []Factor // they have the memory of the model's factors
	for _, f := range m.Factors {
		if inside[m.Tree.Holder(m.Domain, f.Attributes)] {
			factors = append(factors, f)
		}
	}
	m.careful() // messages are logarithms
	own := slices.DeleteFunc(slices.Clone(list), func(one Measurement) bool {
		return !slices.ContainsFunc(factors, func(f Factor) bool {
			return slices.Equal(f.Attributes, one.Attributes)
		})
	})
	for i, c := range m.Tree.Cliques {
		if c.Parent >= 0 && inside[i] != inside[c.Parent] {
			n := &m.nodes[i]
			n.parent.sum(n.shared, m.nodes[c.Parent].law)
			factors = append(factors, Factor{c.Shared, n.message(inside[i])})
		}
	}
	err = NewModel(d, factors).Fit(ctx, own, total, passes)
	m.pass()
	return near, err
}

// message returns the message of a clique to its parent or, if down is set, that of its parent to
// it: the distribution of what they share without the message that goes up. Its largest number is
// 0, so that NewModel, which clamps factors, keeps it.
func (n *node) message(down bool) []float64 {
	out := slices.Clone(n.top)
	for s, p := range n.shared {
		if down {
			out[s] = max(math.Log(p), lowest) - n.top[s]
		}
	}
	most := slices.Max(out)
	for s := range out {
		out[s] -= most
	}
	return out
}

// near reports for each clique whether it is at most nearHops edges from the given one.
func (m *Model) near(clique int) []bool {
	inside := make([]bool, len(m.Tree.Cliques))
	inside[clique] = true
	for range nearHops {
		last := slices.Clone(inside)
		for i, c := range m.Tree.Cliques {
			if len(c.Shared) > 0 && (last[i] || last[c.Parent]) {
				inside[i], inside[c.Parent] = true, true
			}
		}
	}
	return inside
}
