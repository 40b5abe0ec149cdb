package accountant_test

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// Two uses cost at least as much as one. A window of losses that lie far apart ends so far above
// the answer that the tilted δ sought overflows there; this says nothing of the losses below.
func TestTwoUsesOfAFarLossCostNoLessThanOne(t *testing.T) {
	one := accountant.Curve{Epsilons: []float64{0, 100}, Deltas: []float64{0.05, 0}}
	two := accountant.Repeated{Event: one, Count: 2} // δ(199) is 0.05²·(1−e^−1), about 0.0016
	b, err := accountant.Epsilon(two, 4e-12, accountant.AddOrRemoveOne)
	if err != nil || !(b.Upper >= 199) {
		t.Errorf("ε of two uses: %v, %v; want about 200", b, err)
	}
}

// The mechanism is ideal up to a loss of −4: P has e^−4 of its mass there, where Q has all of it,
// and the rest where Q has none. A sample of half of the records has P = Q/2 + P/2 against Q. The
// point at −35.82 lies on the curve. It must not give Q a mass of its own.
func TestLowerEndOfASampledCurveOfFarNegativeLosses(t *testing.T) {
	c, err := accountant.Tabulate("floor", []float64{-35.82, -4},
		func(e float64) float64 { return -math.Expm1(e) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := accountant.Composed{Events: []accountant.Event{
		accountant.PoissonSampled{Probability: 0.5, Event: c}, accountant.Pure{Epsilon: 1}}}
	inf := -math.Expm1(-4) / 2 // both directions were counted by hand
	plus := 1 / (1 + math.Exp(-1))
	finite := max(0, plus*(1-inf)-(1-plus)) + max(0, (1-plus)*(1-inf)-plus)
	b, err := accountant.Delta(e, 0, accountant.AddOrRemoveOne)
	if want := inf + finite; err != nil || !(b.Lower <= want*(1+1e-9)) {
		t.Errorf("δ at ε = 0: %v, %v; want a lower end of at most %v", b, err, want)
	}
}

// An attack that accuses nobody falsely still recognises the share δ whose loss is infinite.
func TestTradeOffKeepsTinyDeltas(t *testing.T) {
	for _, delta := range []float64{1e-12, 1e-17, 1e-30} {
		p, err := accountant.TradeOff(accountant.Approximate{Delta: delta},
			accountant.AddOrRemoveOne, 0)
		if err != nil || !(p[0].TruePositive >= delta*(1-1e-9)) {
			t.Errorf("δ = %g: %v, %v", delta, p, err)
		}
	}
}

// Q has 1−1/e of its mass where P has practically none, the rest at loss 1. All of that mass has
// the loss log(1−q) in a sample, which a grid must not miss between losses that are far apart.
func TestPriceOfASampleIsTightAtItsFloor(t *testing.T) {
	for _, low := range []float64{-20, -34, -37, -50, -300} {
		c := accountant.Curve{Epsilons: []float64{low, 1}, Deltas: []float64{-math.Expm1(low), 0}}
		for _, q := range []float64{1e-3, 0.25, 0.5, 0.99} {
			b, err := accountant.Delta(accountant.Composed{Events: []accountant.Event{
				accountant.PoissonSampled{Probability: q, Event: c},
				accountant.Gaussian{NoiseMultiplier: 40}}}, 0, accountant.AddOrRemoveOne)
			want := q * -math.Expm1(-1) // without the Gaussian, which moves losses by .025
			if err != nil || !(b.Upper > want*0.98 && b.Upper < b.Lower*1.001) {
				t.Errorf("floor %v, rate %v: %v, %v; want about %v", low, q, b, err, want)
			}
		}
	}
}
