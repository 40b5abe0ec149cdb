package accountant

import (
	"errors"
	"math"
	"testing"
)

// TestLimitsThatAreReached: the largest group and the largest choices that have a price have one,
// and the next larger ones have none.
func TestLimitsThatAreReached(t *testing.T) {
	parts := func(n int, first float64) (e Disjoint) {
		for i := range n { // no part costs less than another one
			e.Parts = append(e.Parts, Composed{[]Event{Repeated{Laplace{first}, 1 + i},
				Repeated{Pure{1e-6}, n - i}}})
		}
		e.Fixed = true
		return e
	}
	for _, c := range []struct {
		e    Event
		good bool
	}{
		{parts(maxAlternatives, 1e6), true},
		{parts(maxAlternatives+1, 1e6), false},
		{Composed{[]Event{parts(16, 1e6), parts(16, 2e6)}}, true},
		{Composed{[]Event{parts(16, 1e6), parts(17, 2e6)}}, false},
	} {
		if _, err := Reduce(c.e, AddOrRemoveOne); (err == nil) != c.good ||
			err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%.60s: %v", Describe(c.e), err)
		}
	}
	for size, good := range map[int]bool{mostGroup: true, mostGroup + 1: false} {
		if _, err := GroupEpsilon(Gaussian{1e4}, size, 1e-5, ReplaceOne); (err == nil) != good {
			t.Errorf("a group of %d: %v", size, err)
		}
	}
}

// TestNoPriceOfOnePartOnly: what samples or selects from parts must not be priced by the first of
// them, and a sample without records of an event that has no price has none.
func TestNoPriceOfOnePartOnly(t *testing.T) {
	parts := Disjoint{Parts: []Event{Gaussian{9}, Laplace{2}}, Fixed: true}
	for _, c := range []struct {
		e Event
		r Relation
	}{
		{PoissonSampled{0.1, parts}, AddOrRemoveOne},
		{PoissonSampled{0.1, parts}, ReplaceOne},
		{SampledWithoutReplacement{9, 3, parts}, ReplaceOne},
		{PoissonSampled{0, RandomizedResponse{0.5, 3}}, AddOrRemoveOne},
	} {
		if b, err := Epsilon(c.e, 1e-5, c.r); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s under %s: %+v, %v", Describe(c.e), c.r, b, err)
		}
	}
	if s, err := DPAccountingScript(Gaussian{1}, 1e-5, Relation(2)); err == nil {
		t.Errorf("under no relation: %s", s)
	}
}

// TestRoundedUsesDoNotOverflow: samples that rounding makes equal are counted together only up to
// the largest count.
func TestRoundedUsesDoNotOverflow(t *testing.T) {
	var terms []term
	for i := range 40 {
		terms = append(terms, term{sampledGaussian{0.5 + 1e-9*float64(i), 1}, maxCount})
	}
	total := 0.0
	for _, one := range roundedTerms(terms, 1) {
		if one.n < 1 || one.n > maxCount {
			t.Errorf("%d uses", one.n)
		}
		total += float64(one.n)
	}
	if want := 40 * float64(maxCount); math.Abs(total/want-1) > 1e-9 {
		t.Errorf("%g uses, want %g", total, want)
	}
}

// TestRunningSumsStaySmall: a sum to which thousands of events are added holds neither the sums
// before it nor a list of all kinds, and keys of any length are not kept with prices.
func TestRunningSumsStaySmall(t *testing.T) {
	sum := must[Reduced](t)(Reduce(Gaussian{1e5}, AddOrRemoveOne))
	for i := range 3 * mostPlaces {
		sum = must[Reduced](t)(Reduce(Laplace{1e6 + float64(i)}, AddOrRemoveOne, sum))
	}
	if n := len(sum.running.costly); n > mostPlaces+1 {
		t.Errorf("a list of %d kinds", n)
	}
	few := must[Reduced](t)(Reduce(Laplace{9}, AddOrRemoveOne,
		must[Reduced](t)(Reduce(Gaussian{9}, AddOrRemoveOne))))
	must[Price](t)(few.Price(t.Context(), Budget{2, 1e-5, AddOrRemoveOne}, 0, false))
	if few.running.before != nil || few.running.lists != nil {
		t.Error("a sum that is known holds the sums before it")
	}
	var all []float64
	for i := range memoKey {
		all = append(all, float64(i))
	}
	long := term{mixtureAtom{GaussianMixture{1, all, all}}, 1}
	if _, short := priceKey([]term{long}, 1e-5, AddOrRemoveOne, true); short {
		t.Error("a key of several kilobytes is kept")
	}
}
