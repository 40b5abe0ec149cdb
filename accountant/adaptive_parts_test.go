package accountant

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// chosenDelta is δ(ε) of a Gaussian release of effect mu that decides which curve follows.
func chosenDelta(mu, eps float64, curves ...func(float64) float64) float64 {
	const h = 1e-3
	sum := 0.0
	for y := mu - 9; y < mu+9; y += h {
		worst := 0.0
		for _, curve := range curves {
			worst = max(worst, curve(eps-mu*y+mu*mu/2))
		}
		sum += math.Exp(-(y-mu)*(y-mu)/2) / math.Sqrt(2*math.Pi) * worst * h
	}
	return sum
}

// TestChosenCompositions: parts that are compositions have no loss distribution of their maximum.
// Their price lies between the dearest part's and that at half of δ.
func TestChosenCompositions(t *testing.T) {
	a := Composed{[]Event{Repeated{PoissonSampled{0.01, Gaussian{1}}, 500}, Laplace{20}}}
	b := Composed{[]Event{Repeated{PoissonSampled{0.1, Gaussian{3}}, 100}, Laplace{30}}}
	all := func(e Event) Event { return Composed{[]Event{Gaussian{2}, e}} }
	r, parts := AddOrRemoveOne, Disjoint{Parts: []Event{a, b}}
	// The same with parts whose curves are known: pure responses, and a loss of everything with a
	// small probability.
	known := Disjoint{Parts: []Event{Composed{[]Event{Pure{1.5}, Pure{0.5}}},
		Composed{[]Event{Approximate{Delta: 4e-6}, Approximate{Delta: 5e-6}}}}}
	responses := func(x float64) (sum float64) {
		for _, l := range [][2]float64{{1.5, .5}, {1.5, -.5}, {-1.5, .5}, {-1.5, -.5}} {
			p := 1 / (1 + math.Exp(-l[0])) / (1 + math.Exp(-l[1]))
			sum += p * max(0, -math.Expm1(x-l[0]-l[1]))
		}
		return sum
	}
	rare := func(x float64) float64 { return 9e-6 + (1-9e-6)*max(0, -math.Expm1(x)) }
	within(t, "δ at ε", chosenDelta(0.5, upper(t, all(known), 1e-5, r), responses, rare), 0.3e-5,
		1e-5*(1+1e-6))
	got := upper(t, all(parts), 1e-5, r)
	dearest := max(upper(t, all(a), 1e-5, r), upper(t, all(b), 1e-5, r))
	half := max(upper(t, all(a), 5e-6, r), upper(t, all(b), 5e-6, r))
	if got < dearest || got > half*1.001 {
		t.Errorf("ε = %g, want between %g and %g", got, dearest, half)
	}
	d := must[Bound](t)(Delta(all(parts), got, r)).Upper
	if d < must[Bound](t)(Delta(all(a), got, r)).Lower+must[Bound](t)(Delta(all(b), got, r)).Lower {
		t.Errorf("δ(%g) = %g is below the sum of the parts", got, d)
	}
	alone := upper(t, parts, 1e-5, r)
	if want := max(upper(t, a, 1e-5, r), upper(t, b, 1e-5, r)); alone != want {
		t.Errorf("parts that nothing decides cost %g, want %g", alone, want)
	}
}

// TestChosenPartsOfManyUses: a part of many equal uses pays for all of them, beside other releases
// and alone.
func TestChosenPartsOfManyUses(t *testing.T) {
	many, other := Repeated{Laplace{20}, 30}, Event(Laplace{50})
	for _, e := range []Event{OneOf{[]Event{many, other}}, Disjoint{Parts: []Event{other, many}}} {
		for _, with := range []Event{Gaussian{2}, Laplace{40}} {
			least := must[Bound](t)(Epsilon(Composed{[]Event{with, many}}, 1e-5, AddOrRemoveOne)).Lower
			got := upper(t, Composed{[]Event{with, e}}, 1e-5, AddOrRemoveOne)
			if got < least {
				t.Errorf("%s beside %s: ε = %g, want at least %g", Describe(e), Describe(with), got, least)
			}
		}
	}
}

// TestMovesOfInnerParts: a record that moves between outer parts joins an inner part, at the cost
// of the inner Moving.
func TestMovesOfInnerParts(t *testing.T) {
	inner := Disjoint{Parts: []Event{Gaussian{10}, Gaussian{10}},
		Moving: []Event{Gaussian{0.5}, Gaussian{0.5}}, Fixed: true}
	for _, e := range []Event{inner, Repeated{inner, 1}, Composed{[]Event{inner}},
		OneOf{[]Event{inner}}} {
		v := upper(t, Disjoint{Parts: []Event{e, e}}, 1e-5, ReplaceOne)
		// Two Gaussians of multiplier 0.5 are one of 0.5/√2.
		lower, _, _ := pld.GaussianEpsilon(math.Sqrt(8), 1e-5)
		if v < lower || v > lower*1.001 {
			t.Errorf("%s: ε = %g, want %g", Describe(e), v, lower)
		}
	}
	// A record moves between these inner parts for less than between the outer ones, or not at all.
	for _, e := range []Event{
		Disjoint{Parts: inner.Parts, Moving: []Event{Gaussian{0.5}, Gaussian{50}}},
		Disjoint{Parts: inner.Parts[:1], Moving: inner.Moving[:1]}} {
		lower, _, _ := pld.GaussianEpsilon(math.Sqrt(8), 1e-5)
		if v := upper(t, Disjoint{Parts: []Event{e, e}}, 1e-5, ReplaceOne); v < lower {
			t.Errorf("%s: ε = %g, want at least %g", Describe(e), v, lower)
		}
	}
}

// TestDPAccountingUnderReplaceOne: only sampled sums are written as samples, and randomised
// responses are listed, because dp_accounting ignores their count.
func TestDPAccountingUnderReplaceOne(t *testing.T) {
	for _, e := range []Event{PoissonSampled{0.1, Gaussian{0.5}},
		Repeated{PoissonSampled{0.1, SameBatch{[]float64{1, 2}}}, 3}} {
		if s, err := dpAccounting(e, ReplaceOne); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %q, %v", Describe(e), s, err)
		}
	}
	s := must[string](t)(dpAccounting(SampledSum{0.1, 0.7}, ReplaceOne))
	want := "sampling_probability=0.1, event=dp_event.GaussianDpEvent(noise_multiplier=0.7)"
	if !strings.Contains(s, want) {
		t.Errorf("got %s, want %s", s, want)
	}
	s = must[string](t)(dpAccounting(Repeated{Composed{[]Event{RandomizedResponse{0.7, 4}}}, 7},
		ReplaceOne))
	if !strings.HasSuffix(s, "] * 7)") {
		t.Errorf("got %s, want a list of seven", s)
	}
}

// TestEveryParameterIsInTheKey: two events that differ in one parameter are two terms. Terms with
// one key would have the price of two uses of the event that comes first.
func TestEveryParameterIsInTheKey(t *testing.T) {
	curve := func(add ...float64) Event {
		return Curve{"one", []float64{0, 1, 2}, []float64{0.3, 0.1, 0}, add}
	}
	for _, c := range []struct {
		r    Relation
		list []Event
	}{
		{AddOrRemoveOne, []Event{DiscreteGaussian{5, 1}, DiscreteGaussian{5, 3},
			DiscreteGaussian{9, 3}}},
		{AddOrRemoveOne, []Event{DiscreteLaplace{0.5, 1}, DiscreteLaplace{0.5, 4},
			DiscreteLaplace{0.7, 1}}},
		{AddOrRemoveOne, []Event{Laplace{3}, Laplace{1}}},
		{AddOrRemoveOne, []Event{ZCDP{0.01}, ZCDP{0.1}}},
		{AddOrRemoveOne, []Event{Approximate{1, 1e-7}, Approximate{2, 1e-7}, Approximate{1, 3e-6}}},
		{AddOrRemoveOne, []Event{ExponentialMechanism{Epsilon: 0.2}, ExponentialMechanism{Epsilon: 1}}},
		{ReplaceOne, []Event{RandomizedResponse{0.5, 2}, RandomizedResponse{0.5, 9},
			RandomizedResponse{0.8, 2}}},
		{AddOrRemoveOne, []Event{GaussianMixture{2, []float64{0, 1}, []float64{0.5, 0.5}},
			GaussianMixture{2, []float64{0, 2}, []float64{0.5, 0.5}},
			GaussianMixture{2, []float64{0, 1}, []float64{0.9, 0.1}},
			GaussianMixture{1, []float64{0, 1}, []float64{0.5, 0.5}}}},
		{ReplaceOne, []Event{SparseHistogram{3, 9, 1}, SparseHistogram{3, 9, 2},
			SparseHistogram{2, 9, 1}, SparseHistogram{3, 12, 1}}},
		{AddOrRemoveOne, []Event{PoissonSampled{0.1, Gaussian{1}}, PoissonSampled{0.3, Gaussian{1}},
			PoissonSampled{0.1, Gaussian{0.5}}, PoissonSampled{0.1, Laplace{1}},
			PoissonSampled{0.3, Laplace{1}}, PoissonSampled{0.1, Laplace{0.5}}}},
		{ReplaceOne, []Event{PoissonSampled{0.1, Gaussian{1}}, SampledSum{0.1, 1}, SampledSum{0.3, 1},
			SampledSum{0.1, 2}, SampledWithoutReplacement{10, 1, Gaussian{1}},
			SampledWithoutReplacement{10, 3, Gaussian{1}}}},
		{AddOrRemoveOne, []Event{TruncatedPoisson{0.1, 100, 12, 1}, TruncatedPoisson{0.1, 100, 40, 1},
			TruncatedPoisson{0.1, 150, 12, 1}, TruncatedPoisson{0.2, 100, 12, 1},
			TruncatedPoisson{0.1, 100, 12, 2}}},
		{AddOrRemoveOne, []Event{RepeatAndSelect{Pure{0.1}, 3, 1, false},
			RepeatAndSelect{Pure{0.1}, 9, 1, false}, RepeatAndSelect{Pure{0.1}, 3, 0, false},
			RepeatAndSelect{Pure{0.3}, 3, 1, false}, RepeatAndSelect{Pure{0.1}, 3, 1, true}}},
		{AddOrRemoveOne, []Event{curve(), curve(0.5, 0.2, 0),
			Curve{"one", []float64{0, 1, 2}, []float64{0.3, 0.2, 0}, nil}}},
		{AddOrRemoveOne, []Event{OneOf{[]Event{Laplace{1}, Pure{0.5}}},
			OneOf{[]Event{Laplace{1}, Pure{0.9}}}}},
	} {
		for i, a := range c.list {
			for _, b := range c.list[:i] {
				one := must[[][]term](t)(reduce(Composed{[]Event{a, b}}, c.r))
				if len(one) != 1 || len(one[0]) != 2 {
					t.Errorf("%s and %s have %d terms under %v, want 2", Describe(a), Describe(b), len(one[0]),
						c.r)
				}
			}
		}
	}
}
