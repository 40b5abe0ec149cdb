package accountant

import (
	"math"
	"testing"
)

// mixed returns a random composition of discrete, sampled and other events, of up to four kinds.
func (d draws) mixed() Event {
	rate := func() float64 { return d.between(1e-4, 0.9) }
	laplace := func() Event { return Laplace{d.between(0.1, 20)} }
	geometric := func() Event { return DiscreteLaplace{d.between(0.01, 2), 1 + d.IntN(5)} }
	normal := func() Event { return DiscreteGaussian{d.between(0.7, 30), 1 + d.IntN(4)} }
	kinds := []func() Event{laplace, geometric, normal,
		func() Event { return PoissonSampled{rate(), laplace()} },
		func() Event { return PoissonSampled{rate(), geometric()} },
		func() Event { return PoissonSampled{rate(), normal()} },
		func() Event { return PoissonSampled{rate(), Gaussian{d.between(0.5, 30)}} },
		func() Event { return Pure{d.between(0.001, 2)} }}
	var all []Event
	for range 1 + d.IntN(4) {
		all = append(all, Repeated{kinds[d.IntN(len(kinds))](), int(d.between(1, 300))})
	}
	return Composed{all}
}

// TestDeltaOfMixedSums: δ of compositions of discrete and sampled events is bracketed within a
// factor of two. This holds for δ of at least 1e−12, the smallest δ of a budget.
func TestDeltaOfMixedSums(t *testing.T) {
	d := newDraws(99)
	const rounds = 5
	checked := 0
	for range rounds {
		e := d.mixed()
		near := must[Bound](t)(Epsilon(e, 1e-5, AddOrRemoveOne))
		if !(near.Upper < 300) {
			continue
		}
		for _, at := range []float64{0.05, 0.5, 1, 1.3} {
			b := must[Bound](t)(Delta(e, near.Estimate*at, AddOrRemoveOne))
			if b.Upper < 1e-12 {
				continue
			}
			checked++
			if !(b.Lower <= b.Estimate && b.Estimate <= b.Upper) || b.Upper > 2*b.Lower {
				t.Errorf("%s: δ(%g) = %v, want Upper at most twice Lower", Describe(e), near.Estimate*at, b)
			}
		}
	}
	if checked < 2*rounds {
		t.Errorf("%d answers were checked, want at least two for each round", checked)
	}
}

// TestDirectionsWithoutAWindow: if the losses of one direction can hardly add up to ε, or cannot at
// all, the other direction gives the answer.
func TestDirectionsWithoutAWindow(t *testing.T) {
	for _, c := range []struct {
		e   Event
		eps float64
	}{
		{Repeated{PoissonSampled{0.03, DiscreteGaussian{3.6, 4}}, 2}, 1.134},
		{Repeated{PoissonSampled{0.24, DiscreteLaplace{0.48, 3}}, 16}, 4.4},
		{Repeated{Laplace{1.2192}, 3}, 2.4605},
		{Composed{[]Event{Repeated{PoissonSampled{0.00074, Laplace{3.48}}, 67},
			Repeated{Pure{0.0024}, 3}}}, 0.012},
	} {
		b := must[Bound](t)(Delta(c.e, c.eps, AddOrRemoveOne))
		if !(b.Lower > 0 && b.Upper <= 1.1*b.Lower) {
			t.Errorf("%s: δ(%g) = %v, want 0 < Lower and Upper at most 1.1 times Lower", Describe(c.e),
				c.eps, b)
		}
	}
}

// TestHundredDifferentEvents: ε of a hundred different events is bracketed within one percent.
func TestHundredDifferentEvents(t *testing.T) {
	d := newDraws(100)
	sets := map[string][]Event{"the benchmark's": hundredEvents()}
	for _, name := range []string{"sampled", "sampled sums", "Laplace", "of three kinds"} {
		var events []Event
		for i := range 100 {
			sigma := d.between(0.8, 8)
			sampled := PoissonSampled{d.between(1e-4, 0.1), Gaussian{sigma}}
			switch {
			case name == "sampled sums":
				events = append(events, SampledSum{d.between(1e-3, 0.1), sigma})
			case name == "Laplace" || i%3 == 1 && name == "of three kinds":
				events = append(events, Laplace{5 * sigma})
			case i%3 == 2 && name == "of three kinds":
				events = append(events, DiscreteGaussian{6 * sigma, 1})
			default:
				events = append(events, sampled)
			}
		}
		sets[name] = events
	}
	for name, events := range sets {
		relation := AddOrRemoveOne
		if name == "sampled sums" {
			relation = ReplaceOne
		}
		for _, delta := range []float64{1e-9} {
			b := must[Bound](t)(Epsilon(Composed{events}, delta, relation))
			if width := 1 - b.Lower/b.Upper; !(width < 0.01) || math.IsInf(b.Upper, 1) {
				t.Errorf("%s, δ=%g: %v is %.2g %% wide, want less than 1 %%", name, delta, b, 100*width)
			}
		}
	}
}
