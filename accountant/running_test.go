package accountant

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// added returns events that were reduced one after the other.
func added(t *testing.T, r Relation, events ...Event) Reduced {
	t.Helper()
	all := must[Reduced](t)(Reduce(Composed{}, r))
	for _, e := range events {
		all = must[Reduced](t)(Reduce(e, r, all))
	}
	return all
}

// TestRunningPrices compares prices of events that are added one by one with prices of all of them.
func TestRunningPrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for try := range 48 {
		r, delta := Relation(try%2), math.Pow(10, float64(-4-try%5))
		var all []Event
		n := 1 + rng.IntN(12)
		for range n {
			e := Event(Gaussian{math.Exp(1+2*rng.Float64()) * math.Sqrt(float64(n))})
			switch rng.IntN(4) {
			case 0:
				e = Laplace{math.Exp(1+3*rng.Float64()) * math.Sqrt(float64(n))}
			case 1, 2:
				e = SampledSum{math.Exp(-6*rng.Float64() - 1), 3 * math.Exp(2*rng.Float64())}
			}
			all = append(all, Repeated{e, 1 + rng.IntN(300)/n/n})
		}
		own := must[Bound](t)(Epsilon(Composed{all}, delta, r))
		if own.Upper > 20 {
			continue
		}
		for _, c := range []struct{ aim, most float64 }{{1.01, 1.006}, {2, 1.02}, {10, 1.2}} {
			b := Budget{own.Upper * c.aim, delta, r}
			p, err := added(t, r, all...).Price(t.Context(), b, 0, true)
			if err != nil || !(p.Upper >= own.Lower && p.Upper <= c.most*own.Upper && p.Lower == 0) {
				t.Errorf("%d, %v: %+v one by one, %+v together, %v", try, r, p, own, err)
			}
			rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
			again, err := added(t, r, all[0], Composed{all[1:]}).Price(t.Context(), b, 0, true)
			if err != nil || again != p {
				t.Errorf("%d: %+v in one order, %+v in another, %v", try, p, again, err)
			}
			quick, err := added(t, r, all...).Price(t.Context(), b, 0, false)
			if err != nil || quick.Upper != b.Epsilon {
				t.Errorf("%d: %+v without precision, %v", try, quick, err)
			}
		}
		b := Budget{own.Lower * 0.999, delta, r}
		if p, err := added(t, r, all...).Price(t.Context(), b, 0, true); err == nil {
			t.Errorf("%d: %+v within a budget of %v, which is exceeded", try, p, b.Epsilon)
		}
	}
}

// TestRunningPricesAreRefused covers what has no running price.
func TestRunningPricesAreRefused(t *testing.T) {
	b := Budget{1, 1e-6, AddOrRemoveOne}
	small := added(t, b.Relation, Gaussian{30})
	if _, err := Reduce(Gaussian{30}, ReplaceOne, small); err == nil {
		t.Error("events under another relation are added")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := small.Price(ended, b, 0, true); err != context.Canceled {
		t.Errorf("a context that has ended: %v", err)
	}
	if _, err := small.Price(t.Context(), b, 8, true); err == nil {
		t.Error("a filter has a running price")
	}
	want := must[Price](t)(small.Price(t.Context(), b, 0, true))
	for _, other := range []Budget{{2, 1e-6, b.Relation}, {1, 1e-9, b.Relation}} {
		if _, err := small.Price(t.Context(), other, 0, true); err == nil {
			t.Error("a sum for one budget is a price for another")
		}
	}
	for _, e := range []Event{ZCDP{0.001}, Disjoint{Parts: []Event{Laplace{99}, Gaussian{99}},
		Fixed: true}} {
		one := must[Reduced](t)(Reduce(e, b.Relation, small))
		if p, err := one.Price(t.Context(), b, 0, true); err == nil {
			t.Errorf("%+v has the running price %+v", e, p)
		}
		more := must[Reduced](t)(Reduce(Gaussian{99}, b.Relation, one))
		if p, err := more.Price(t.Context(), b, 0, true); err == nil {
			t.Errorf("%+v and more have the running price %+v", e, p)
		}
	}
	if p, err := small.Price(t.Context(), b, 0, true); err != nil || p != want {
		t.Errorf("%+v after others were added to it, want %+v, %v", p, want, err)
	}
	first := must[Reduced](t)(Reduce(Gaussian{30}, b.Relation)) // reduced alone, and then added to
	both := must[Reduced](t)(Reduce(Gaussian{30}, b.Relation, first))
	twice := added(t, b.Relation, Gaussian{30}, Gaussian{30})
	if p, q := must[Price](t)(both.Price(t.Context(), b, 0, true)),
		must[Price](t)(twice.Price(t.Context(), b, 0, true)); p != q || !(p.Upper > want.Upper) {
		t.Errorf("two events cost %+v or %+v, one %+v", p, q, want)
	}
}

// TestWorkOfRunningPrices: if events pass one by one, then all of them do.
func TestWorkOfRunningPrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	passed := 0
	for try := range 200 {
		var all []Event
		for i := range 1 + rng.IntN(60) {
			e := Event(SampledSum{rng.Float64(), math.Exp(4*rng.Float64() - 2)})
			if i%(1+try%8) == 0 {
				e = Laplace{float64(20 + rng.IntN(60))}
			}
			if rng.IntN(2000) == 0 {
				e = RepeatAndSelect{Event: Laplace{9}, Mean: 3, Shape: 1}
			}
			all = append(all, e)
		}
		if added(t, AddOrRemoveOne, all...).CheckWork("x") != nil {
			continue
		}
		passed++
		whole := must[Reduced](t)(Reduce(Composed{all}, AddOrRemoveOne))
		if err := whole.CheckWork("x"); err != nil {
			t.Errorf("%d: %v", try, err)
		}
	}
	var within Composed
	for i := range 16 {
		within.Events = append(within.Events, Laplace{float64(50 + i)})
	}
	one := RepeatAndSelect{Event: within, Mean: 3, Shape: 1}
	if err := must[Reduced](t)(Reduce(one, AddOrRemoveOne)).CheckWork("x"); err == nil {
		t.Error("a long selection passes")
	}
	if added(t, AddOrRemoveOne, one).CheckWork("x") == nil {
		t.Error("a long selection passes if it is added to nothing")
	}
	if passed < 40 || passed > 190 {
		t.Errorf("%d of 200 pass", passed)
	}
}

// TestFarFinerLowerEnds: of thousands of uses with small losses, the lower end needs a far finer
// grid than the upper end, which it must leave as it is.
func TestFarFinerLowerEnds(t *testing.T) {
	all := Composed{[]Event{Gaussian{2}, Repeated{Laplace{5e4}, 20_000}}}
	e := must[Reduced](t)(Reduce(all, AddOrRemoveOne))
	upper := must[Price](t)(e.Price(t.Context(), Budget{Delta: 1e-6}, 0, false)).Upper
	both := must[Price](t)(e.Price(t.Context(), Budget{Delta: 1e-6}, 0, true))
	if !(math.Abs(both.Upper-upper) <= 1e-3*upper && both.Lower >= 0.85*upper &&
		both.Lower <= both.Upper) {
		t.Errorf("%+v, where the upper end alone is %v", both.Bound, upper)
	}
}

// TestOneReducedBefore: several events reduced before are refused. The price would be that of the
// last of them alone.
func TestOneReducedBefore(t *testing.T) {
	a := must[Reduced](t)(Reduce(Gaussian{1}, AddOrRemoveOne))
	b := must[Reduced](t)(Reduce(Laplace{9}, AddOrRemoveOne))
	var wrong *param.Error
	if _, err := Reduce(Laplace{9}, AddOrRemoveOne, a, b); !errors.As(err, &wrong) {
		t.Errorf("got %v, want a *param.Error", err)
	}
}

// TestConcurrentPrices: goroutines may price one reduced event. The first price of a selection
// takes long, as it computes what the others use.
func TestConcurrentPrices(t *testing.T) {
	for _, e := range []Event{RepeatAndSelect{SampledSum{0.01, 0.8}, 3, 1, true},
		DiscreteLaplace{0.01, 20}, DiscreteGaussian{20, 1}} {
		pricedTogether(t, Composed{[]Event{Laplace{5}, e}})
	}
}

func pricedTogether(t *testing.T, e Event) {
	reduced := func() Reduced { return must[Reduced](t)(Reduce(e, AddOrRemoveOne)) }
	price := func(r Reduced, i int) Price {
		b := Budget{Epsilon: 3, Delta: 1e-5 / float64(i+1), Relation: AddOrRemoveOne}
		return must[Price](t)(r.Price(t.Context(), b, 0, true))
	}
	prices.forget()
	got, shared := make([]Price, 6), reduced()
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() { got[i] = price(shared, i) })
	}
	group.Wait()
	prices.forget()
	for i, p := range got {
		if want := price(reduced(), i); p != want {
			t.Errorf("%s: got %v, want %v", Describe(e), p, want)
		}
	}
}
