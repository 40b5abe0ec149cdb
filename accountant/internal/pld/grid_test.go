package pld

import (
	"math"
	"math/rand/v2"
	"testing"
)

// draws returns random parameters from a fixed seed, because the tests are about arithmetic and not
// about randomness.
type draws struct{ *rand.Rand }

func newDraws(seed uint64) draws { return draws{rand.New(rand.NewPCG(seed, 0xacc))} }

// between returns a log-uniform number.
func (d draws) between(lo, hi float64) float64 { return lo * math.Exp(d.Float64()*math.Log(hi/lo)) }

func (d draws) steps() (q, sigma float64, steps int, delta float64) {
	return d.between(1e-4, 1), d.between(0.6, 50), int(d.between(1, 2e4)), d.between(1e-10, 1e-2)
}

// TestGridAgreesWithClosedForm: the bracket of the grid contains the value of the closed form and
// is narrow.
func TestGridAgreesWithClosedForm(t *testing.T) {
	d := newDraws(4)
	for range 60 {
		_, sigma, steps, delta := d.steps()
		sigma *= math.Sqrt(float64(steps))
		_, exact, _ := GaussianEpsilon(math.Sqrt(float64(steps))/sigma, delta)
		q := question{pairs: []Pair{Gauss{1 / sigma}}, n: []int{steps}, total: float64(steps),
			delta: delta, lower: true}
		a := q.solve(&workspace{}, 1)
		if exact == 0 {
			continue
		}
		if !a.OK || a.Upper < exact || a.Lower > exact || a.Upper > exact*1.002+1e-9 {
			t.Errorf("σ=%g T=%d δ=%g: got %+v, want a narrow bracket of %g", sigma, steps, delta, a, exact)
		}
	}
}

// TestBracketsAgreeAcrossGrids: brackets from different grids and tilts contain the same true
// value, so no lower end is above any upper end.
func TestBracketsAgreeAcrossGrids(t *testing.T) {
	d := newDraws(5)
	for i := range 36 {
		q, sigma := d.between(1e-5, 1), d.between(0.35, 200)
		steps, delta := int(d.between(2, 1e5)), d.between(1e-12, 0.2)
		mu := 1 / sigma
		response := NewDiscrete([]float64{-mu, mu},
			[]float64{1 / (1 + math.Exp(mu)), 1 / (1 + math.Exp(-mu))}, 0, 0)
		both := []*Pairs{SampledBoth(q, &Pairs{Remove: Gauss{mu}}), {Remove: NewGlued(q, mu)},
			{Remove: Opposite{q, mu}},
			{Remove: Laplace(sigma)}, {Remove: response}, {Remove: BoundedRange(mu)}}[i%6]
		for _, p := range []Pair{both.Remove, both.Add} {
			if p == nil {
				continue
			}
			question := question{pairs: []Pair{p}, n: []int{steps}, total: float64(steps), delta: delta,
				lower: true}
			tail := question.tailMass()
			if !planFits(question.pairs, tail) {
				continue
			}
			s := newSketch(question.n, question.pairs, tail)
			ends, aim := question.ends(&s, tail), question.aim(&s)
			low, up := 0.0, math.Inf(1)
			var w workspace
			for _, f := range []float64{1, 0.7, 1.3} {
				if a := question.once(&w, &s, question.viewAt(&s, aim, aim.theta*f, 2*f), ends); a.OK {
					low, up = max(low, a.Lower), min(up, a.Upper)
				}
			}
			if low > up {
				t.Errorf("%s, T=%d δ=%g: lower %g above upper %g",
					[]string{"sampled", "glued", "opposite", "laplace", "response", "range"}[i%6], steps,
					delta, low, up)
			}
		}
	}
}

// TestOppositeLossInverts: pointAt inverts the loss of the opposite pair, even with so little noise
// that powers overflow.
func TestOppositeLossInverts(t *testing.T) {
	for _, sigma := range []float64{0.01, 0.02, 0.03, 0.04, 0.06, 1} {
		for _, q := range []float64{1e-9, 1e-4, 0.3, 0.999, 1 - 1e-11} {
			p := Opposite{q, 1 / sigma}
			for _, l := range []float64{-300, -2, 0, 1e-6, 5, 400} {
				if math.Abs(p.lossAt(p.pointAt(l))-l) > 1e-5*(1+math.Abs(l)) {
					t.Errorf("q=%g σ=%g: the point of loss %g has loss %g", q, sigma, l,
						p.lossAt(p.pointAt(l)))
				}
			}
		}
	}
}
