package accountant_test

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// A point of a curve far above ε = 0 has a slope in e^ε that float64 cannot hold. The δ that lies
// between this point and the point before must not be lost.
func TestCurvesKeepTinyDeltasOfLargeLosses(t *testing.T) {
	curve := func(eps, deltas []float64) accountant.Event {
		return accountant.Curve{Name: "far", Epsilons: eps, Deltas: deltas}
	}
	// The mechanism reveals a record with probability d, except with probability e^-ε of that: its
	// curve is d·(1−e^(x−ε)), a chord of the table.
	for _, c := range []struct {
		event     accountant.Event
		delta, at float64 // of the true curve: δ(at) is above delta
	}{
		{curve([]float64{0, 690}, []float64{1e-25, 0}), 0, 689},
		{curve([]float64{0, 690}, []float64{1e-25, 0}), 1e-30, 680},
		{curve([]float64{0, 690}, []float64{1e-29, 1e-40}), 1e-30, 680},
		{curve([]float64{1, 690}, []float64{1e-25, 0}), 0, 689},
		{curve([]float64{0, 650, 690}, []float64{1e-10, 1e-28, 0}), 1e-30, 680},
		// 1 − (1−2.4e-20)^1e17 is above 2.3e-3.
		{accountant.Repeated{Event: accountant.Repeated{Event: curve([]float64{0, 700},
			[]float64{2.4e-20, 0}), Count: 1e9}, Count: 1e8}, 1e-3, 600},
	} {
		got, err := accountant.Epsilon(c.event, c.delta, accountant.AddOrRemoveOne)
		if err == nil && !(got.Upper >= c.at) {
			t.Errorf("%s at δ = %v: ε %v, want at least %v", accountant.Describe(c.event), c.delta,
				got.Upper, c.at)
		}
	}
	d, err := accountant.Delta(curve([]float64{0, 690}, []float64{1e-25, 0}), 1,
		accountant.AddOrRemoveOne)
	if err != nil || !(d.Upper >= 1e-25*(1-1e-9)) || math.IsNaN(d.Upper) {
		t.Errorf("δ(1) = %v, %v, want at least 1e-25", d.Upper, err)
	}
}

// A sample of a mechanism that may lose δ may lose it too, even if q·δ is no float64.
func TestSamplesKeepTinyDeltas(t *testing.T) {
	curve := accountant.Curve{Name: "tiny", Epsilons: []float64{0, 2}, Deltas: []float64{0.5, 5e-324}}
	for _, e := range []accountant.Event{accountant.PoissonSampled{Probability: 0.5, Event: curve},
		accountant.PoissonSampled{Probability: 1e-300,
			Event: accountant.Approximate{Epsilon: 1, Delta: 1e-30}}} {
		if b, err := accountant.Epsilon(e, 0, accountant.AddOrRemoveOne); err == nil {
			t.Errorf("%s has ε %v at δ = 0, want none", accountant.Describe(e), b)
		}
		if v, err := accountant.RDP(e, 2, accountant.AddOrRemoveOne); err == nil && !math.IsInf(v, 1) {
			t.Errorf("%s has the divergence %v, want none", accountant.Describe(e), v)
		}
	}
}

// TestResponsesOfMuchNoise: the loss of an answer that hardly depends on the truth keeps its
// digits. Such answers cost as much as pure mechanisms of the same loss.
func TestResponsesOfMuchNoise(t *testing.T) {
	for _, noise := range []float64{1 - 3e-15, 1 - 1.3e-14, 1 - 1e-13, 1 - 0.7e-12} {
		delta := func(e accountant.Event) accountant.Bound {
			b, err := accountant.Delta(accountant.Repeated{Event: e, Count: 1e5}, 0, accountant.ReplaceOne)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		a := delta(accountant.RandomizedResponse{Noise: noise, Categories: 2})
		b := delta(accountant.Pure{Epsilon: math.Log1p(2 * (1 - noise) / noise)})
		if a.Lower > b.Upper || a.Upper < b.Lower {
			t.Errorf("noise %v: δ(0) is %v, want %v", noise, a, b)
		}
	}
}

// TestOneSidedLosses: a loss that is infinite in one direction only is not added to those of the
// other direction, and a sample has none if it is the direction of adding.
func TestOneSidedLosses(t *testing.T) {
	with, without, l := []float64{0.5, 0.5, 0}, []float64{0.499, 0.5, 0.001}, 0.0021
	curve := func(p, q []float64) func(eps float64) float64 {
		return func(eps float64) (delta float64) {
			for i := range p {
				delta += max(0, p[i]-math.Exp(eps)*q[i])
			}
			return delta
		}
	}
	points := []float64{-l, 0, l}
	one, err1 := accountant.Tabulate("one", points, curve(with, without), curve(without, with))
	two, err2 := accountant.Tabulate("two", points, curve(without, with), curve(with, without))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, c := range []struct {
		e            accountant.Event
		delta, truth float64
	}{
		{accountant.PoissonSampled{Probability: 0.1, Event: one}, 1e-5, math.Log(0.99 / 0.9)},
		{accountant.PoissonSampled{Probability: 0.1, Event: one}, 0, math.Log(1 / 0.9)},
		{accountant.PoissonSampled{Probability: 0.1, Event: two}, 1e-5, math.Inf(1)},
		{accountant.Composed{Events: []accountant.Event{one, two}}, 1.9e-3, 0},
	} {
		b, err := accountant.Epsilon(c.e, c.delta, accountant.AddOrRemoveOne)
		if err != nil || !(b.Upper >= c.truth && b.Upper <= c.truth*(1+1e-6)+2*l) {
			t.Errorf("%s at δ = %v: ε %v, want %v (%v)", accountant.Describe(c.e), c.delta, b, c.truth, err)
		}
	}
}

// A sample that leaves a record out with probability 1−q still has a loss of −log(1−q), in the
// direction of adding, however small 1−q is.
func TestSamplesOfNearlyAllRecords(t *testing.T) {
	half := accountant.Curve{Epsilons: []float64{-math.Ln2, math.Ln2}, Deltas: []float64{0.75, 0},
		AddDeltas: []float64{0.5, 0.5}} // half of the answers without the record are new
	for _, q := range []float64{1 - 0x1p-53, 1 - 0x1p-50, 1 - 1e-12, 0.999} {
		for _, gap := range []float64{1e-3, 0.2, 2} {
			b, err := accountant.Delta(accountant.PoissonSampled{Probability: q, Event: half},
				-math.Log(1-q)-gap, accountant.AddOrRemoveOne)
			if x := b.Upper / (-0.5 * math.Expm1(-gap)); err != nil || !(math.Abs(x-1) < 1e-6) {
				t.Errorf("q = %v, %v below: δ is %v of the truth, %v", q, gap, x, err)
			}
		}
	}
	e := accountant.Repeated{Count: 3, Event: accountant.PoissonSampled{Probability: 0.99,
		Event: accountant.Approximate{Epsilon: 1e-3, Delta: 1e-30}}} // may spend δ on a smaller ε
	b, err := accountant.Epsilon(e, 1e-15, accountant.AddOrRemoveOne)
	if err != nil || !(b.Upper <= 3e-3) {
		t.Errorf("ε %v, %v, want less than 0.003", b, err)
	}
}
