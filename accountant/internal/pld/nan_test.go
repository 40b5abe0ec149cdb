package pld

import (
	"math"
	"testing"
)

// faulty is a pair with one number of its cells replaced.
type faulty struct {
	Pair
	field int
	value float64
}

func (p faulty) cut(nodes []float64, c *cells) {
	p.Pair.cut(nodes, c)
	middle := func(s []float64) *float64 {
		if len(s) == 0 {
			return &c.topE
		}
		return &s[len(s)/2]
	}
	*[]*float64{&c.topE, &c.topErr, &c.topQ, &c.lowP, &c.lowErr, middle(c.e), middle(c.d),
		middle(c.err)}[p.field] = p.value
}

// TestFaultyCellsProveNothing plants NaN and +Inf in each field of the cells of a pair, and of the
// pairs that are derived from it. No upper end falls below the curve without the fault, and no
// lower end rises above it.
func TestFaultyCellsProveNothing(t *testing.T) {
	const eps, uses = 1.5, 2
	same := func(p Pair) Pair { return p }
	derived := []func(Pair) Pair{same, func(p Pair) Pair { return NewSampled(0.4, p) },
		func(p Pair) Pair { return NewMirror(p) },
		func(p Pair) Pair { return NewBlend(0.5, p, Gauss{0.1}) },
		func(p Pair) Pair { return NewMaximum([]Pair{Gauss{0.1}, p}) }}
	for _, base := range []Pair{Laplace(0.4), Gauss{1}} {
		for i, of := range derived {
			sound := &Pairs{Remove: of(base)}
			_, delta := NewSingle(sound, true).Delta(eps)
			many := NewComposition()
			many.Append(sound, uses)
			all := many.Delta(eps)
			divergence, bounded := Renyi(sound.Remove, 3)
			for field := range 8 {
				for _, v := range []float64{math.NaN(), math.Inf(1)} {
					p := &Pairs{Remove: of(faulty{base, field, v})}
					if lower, upper := NewSingle(p, true).Delta(eps); !(upper >= delta*(1-1e-9)) ||
						!(lower <= delta*(1+1e-9)) {
						t.Errorf("%T %d field %d = %v: δ of one use is in [%v, %v], want %v in it", base, i,
							field, v, lower, upper, delta)
					}
					if d, ok := Renyi(p.Remove, 3); ok && bounded && d < divergence*(1-1e-9) {
						t.Errorf("%T %d field %d = %v: the divergence is %v, want %v", base, i, field, v, d,
							divergence)
					}
					c := NewComposition()
					c.Append(p, uses)
					if a := c.Delta(eps); a.OK && (!(a.Upper >= all.Lower) || !(a.Lower <= all.Upper)) {
						t.Errorf("%T %d field %d = %v: δ is in %+v, want %+v", base, i, field, v, a, all)
					}
					if i > 0 {
						continue // slow, and the same as for the pair itself
					}
					if a := c.Epsilon(all.Lower/2, true); a.OK && !(a.Upper >= eps) {
						t.Errorf("%T %d field %d = %v: ε is in %+v, want at least %v", base, i, field, v, a, eps)
					}
				}
			}
		}
	}
}

// TestSteepLosses: pairs whose losses exceed the range of e^x have exact curves.
func TestSteepLosses(t *testing.T) {
	for _, a := range []float64{100, 600, 1000, 1500, 1e5, 1e300} {
		high := 1 / (1 + math.Exp(-a))
		response := NewSymmetric([]float64{-a, a}, []float64{math.Exp(-a), high}, 0)
		for _, eps := range []float64{0, 1, 50, 99} {
			laplace := -math.Expm1((eps - a) / 2)
			pure := high * -math.Expm1(eps-a)
			for i, c := range []struct {
				p     Pair
				delta float64
			}{
				{Laplace(1 / a), laplace}, {NewMirror(Laplace(1 / a)), laplace},
				{response, pure}, {NewMirror(response), pure}, {BoundedRange(a), laplace * laplace},
				{NewSampled(0.1, response), max(0, 0.1*high*-math.Expm1(baseLoss(0.1, eps)-a))},
			} {
				lower, upper := NewSingle(&Pairs{Remove: c.p}, true).Delta(eps)
				if !(lower <= c.delta*(1+1e-12)) || !(upper >= c.delta*(1-1e-12)) ||
					upper-lower > 1e-11 {
					t.Errorf("pair %d, a = %g: δ(%g) is in [%v, %v], want %v", i, a, eps, lower, upper,
						c.delta)
				}
			}
		}
	}
}

// TestLostMassIsInfinite: if the cells of a pair do not hold all of P, all of it is at infinite
// loss.
func TestLostMassIsInfinite(t *testing.T) {
	for _, lost := range []float64{0, 1e-3} {
		p := NewDiscrete([]float64{-0.1, 0.1}, []float64{0.475 * (1 - lost), 0.525 * (1 - lost)}, 0, 0)
		g := gridder{nodes: []float64{-1, 0, 1}}
		if _, inf := g.connect(p); (inf == 1) != (lost > 0) {
			t.Errorf("with %g of P lost: the mass at infinite loss is %v", lost, inf)
		}
	}
}
