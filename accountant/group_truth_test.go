package accountant

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// TestGroupChances: both members are in the sample with probability q², however small it is beside
// the rounding error of 1 − (1−q)². With hardly any noise this decides ε at a δ below it.
func TestGroupChances(t *testing.T) {
	for _, c := range []struct {
		q, delta float64
		size     int
	}{{1e-8, 0.9e-16, 2}, {3e-9, 1e-18, 2}, {1e-7, 1e-22, 3}} {
		e := PoissonSampled{Probability: c.q, Event: Gaussian{NoiseMultiplier: 0.05}}
		b, err := GroupEpsilon(e, c.size, c.delta, AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		// δ(ε) is at least P(x > c) − e^ε·Q(x > c) for every c.
		k, mu := float64(c.size), 20*float64(c.size)
		tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
		least := 0.0
		for x := mu - 8; x < min(mu+8, 38); x += 0.01 {
			if p := math.Pow(c.q, k) * tail(x-mu); p > c.delta {
				least = max(least, math.Log(p-c.delta)-math.Log(tail(x)))
			}
		}
		for x := max(mu-8, 30); x < mu+8; x += 0.01 { // Φ(−x) ≤ φ(x)/x
			if p := math.Pow(c.q, k) * tail(x-mu); p > c.delta {
				least = max(least, math.Log(p-c.delta)+x*x/2+math.Log(x*math.Sqrt(2*math.Pi)))
			}
		}
		if !(b.Upper >= least) || !(least > 400) {
			t.Errorf("q %v, δ %v: group's ε %v, but at least %v", c.q, c.delta, b, least)
		}
	}
}

// TestGroupLowerEnd: an effect that is rounded up proves no lower end.
func TestGroupLowerEnd(t *testing.T) {
	e := Repeated{PoissonSampled{Probability: 0.5, Event: Gaussian{NoiseMultiplier: 1e10}}, 1000}
	b, err := GroupEpsilon(e, 2, 1e-20, AddOrRemoveOne)
	all := must[Bound](t)(Epsilon(Repeated{Gaussian{5e9}, 1000}, 1e-20, AddOrRemoveOne))
	if err != nil || b.Lower > all.Upper {
		t.Errorf("a group's lower end %v (%v), above all %v", b, err, all)
	}
}

// TestGroupOfBands: two members whose steps are neighbours overlap in every round with the next
// round too, so rounds are not independent.
func TestGroupOfBands(t *testing.T) {
	const rounds, q, z = 8, 1e-3, 0.07
	e := Repeated{BandedSum{Probability: q, NoiseMultiplier: z, Band: []float64{1, 1}}, rounds}
	delta := (rounds + 1) * q * q
	b, err := GroupEpsilon(e, 2, delta, AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	more, err := GroupEpsilon(Composed{Events: []Event{e, Gaussian{NoiseMultiplier: 1e6}}}, 2, delta,
		AddOrRemoveOne)
	if err != nil || !(more.Upper >= b.Upper*(1-1e-9)) {
		t.Errorf("with another release the group's ε is %v, error %v; without it %v", more, err, b)
	}
	// The members' groups differ in half of the cases. A is the event that the projection on one of
	// the 2·rounds sums of neighbouring rows is above c. Rows that neighbour have a sum of length
	// √3·μ, and equal rows of 2μ; rows of the last step are shorter, and left out.
	mu := 1 / z
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	least, once := 0.0, math.Pow(1-q, 2*rounds-2)
	for x := 1.0; x < 37; x += 0.05 {
		differ := float64(2*rounds-2) * q * q * once * tail(x-math.Sqrt(3)*mu)
		equal := float64(rounds-1) * q * q * once * tail(x-math.Sqrt(3)*mu)
		if p := (differ + equal) / 2; p > delta {
			least = max(least, math.Log(p-delta)-math.Log(float64(4*rounds)*tail(x)))
		}
	}
	if !(b.Upper >= least) || !(least > 250) {
		t.Errorf("group's ε %v, but at least %v", b, least)
	}
}

// TestGaussianEffectOfLargeLosses: δ(500) of the event is far above 1e-10, so a release that bounds
// its curve up to 500 only is none.
func TestGaussianEffectOfLargeLosses(t *testing.T) {
	e := PoissonSampled{Probability: 1e-3, Event: Gaussian{NoiseMultiplier: 0.02}}
	a, err := AttackBounds(e, 1e-5, AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	const eps, mu = 1200, 50 // δ ≥ P(x > c) − e^ε·Q(x > c), with Q(x > c) ≤ φ(c)/c
	c := (eps-math.Log(1e-3)+mu*mu/2)/mu + 0.1
	least := 1e-3*math.Erfc((c-mu)/math.Sqrt2)/2 - math.Exp(eps-c*c/2)/c
	if d := pld.GaussianDelta(a.GaussianEffect, eps); !(d >= least) || !(least > 1e-4) {
		t.Errorf("effect %v has δ(%d) = %v, but the event at least %v", a.GaussianEffect, eps, d, least)
	}
}

// TestGaussianEffectOfNothing: if ε is 0 at δ = 1e-10, a release of a tiny effect bounds the curve.
func TestGaussianEffectOfNothing(t *testing.T) {
	a, err := AttackBounds(Gaussian{NoiseMultiplier: 1e12}, 1e-5, AddOrRemoveOne)
	if err != nil || !(a.GaussianEffect < 1e-9) {
		t.Errorf("effect %v, %v", a.GaussianEffect, err)
	}
}
