package report

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/risk"
)

// risk attacks the generator and computes the bounds of the guarantee.
func (m *maker) risk(context.Context) error {
	empty := Curve{[]Number{}, []Number{}}
	out := &Risk{Attacks: []Attack{}, Bound: empty, SplitBound: empty, Epsilon: none, Delta: none}
	m.bounds(out)
	if m.in.Real == nil {
		if !out.Epsilon.IsNone() {
			m.out.Risk = out
		}
		return nil
	}
	n := m.set.Rows
	compared := []records.Data{atMost(m.in.Synthetic, n, m.set.Seed+2)}
	if m.in.HeldOut != nil {
		compared = append(compared, atMost(m.in.HeldOut, n, m.set.Seed+4))
	}
	found := compare.Matches(m.in.Real, compared...)
	out.Exact = Matches{found[0], compared[0].Len()}
	m.out.Risk = out
	if m.in.HeldOut == nil || min(m.in.HeldOut.Len(), m.in.Real.Len(), m.in.Synthetic.Len()) < 8 {
		m.omit("membership inference and distances", "they compare the records that the generator was "+
			"trained on with held-out real ones, and none, or too few, were given")
		return nil
	}
	out.ExactHeldOut = &Matches{found[1], compared[1].Len()}
	if m.schema().Sparse() || m.schema().Dim() <= mostCoordinates {
		return m.attack(out)
	}
	m.omit("membership inference and distances", "the records have more than 5,000 coordinates")
	return nil
}

// attack runs the membership attacks and measures distances.
func (m *maker) attack(out *Risk) error {
	attacks, err := risk.Membership{Rows: m.set.Near, Seed: m.set.Seed}.Attack(m.in.Synthetic,
		m.in.Real, m.in.HeldOut)
	if err != nil {
		return err
	}
	for _, a := range attacks {
		out.Attacks = append(out.Attacks, Attack{a.Name, a.Members, a.Others, Number(a.AUC),
			curveOf(a.Curve), Number(a.AtLow), Number(a.Best)})
	}
	near, err := risk.Distances(m.in.Synthetic, m.in.Real, m.in.HeldOut, m.set.Near, m.set.Seed)
	if err != nil {
		return err
	}
	out.Closest = &Closest{quantiles(near.Members), quantiles(near.Others),
		Number(near.CloserToMembers), len(near.Members)}
	return nil
}

func quantiles(sorted []float64) Quantiles {
	at := func(part float64) Number { return Number(sorted[int(part*float64(len(sorted)-1))]) }
	return Quantiles{at(0), at(0.05), at(0.5), at(0.95)}
}

// bounds computes the curves that no attack can exceed on average if the guarantee holds.
//
// An attack on equally many members and others compares data sets in which one record is replaced
// by another. Under add-or-remove-one a replacement is two changes. Since P(D) ≤ e^ε·P(D′) + δ
// holds for each change, both together have (2ε, (1+e^ε)·δ).
func (m *maker) bounds(out *Risk) {
	g := m.guarantee
	if !covers(g) {
		return
	}
	out.Epsilon, out.Delta = Number(g.Epsilon), Number(g.Delta)
	out.Bound = bound(g.Epsilon, g.Delta)
	out.SplitBound = out.Bound
	if g.Relation == accountant.AddOrRemoveOne {
		out.SplitBound = bound(2*g.Epsilon, min((1+math.Exp(g.Epsilon))*g.Delta, 1))
	}
}

// bound returns the highest true positive rate that (ε, δ) allows at each false positive rate x. It
// is the smaller of e^ε·x + δ and 1 − e^−ε·(1 − δ − x) (Kairouz, Oh and Viswanath 2015, Theorem
// 2.1).
func bound(epsilon, delta float64) Curve {
	var c Curve
	for _, x := range rates() {
		y := min(math.Exp(epsilon)*x+delta, 1-math.Exp(-epsilon)*(1-delta-x), 1)
		c.FalsePositive = append(c.FalsePositive, Number(x))
		c.TruePositive = append(c.TruePositive, Number(max(y, x)))
	}
	return c
}
