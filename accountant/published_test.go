package accountant

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// TestPublishedIsTheLeastBound: the published ε is at most the ε that Rényi divergences prove at
// any order, and at most the sum of the events' own ε.
func TestPublishedIsTheLeastBound(t *testing.T) {
	d := newDraws(31)
	orders := renyi.Orders()
	if testing.Short() {
		orders = orders[:200]
	}
	for i := range 20 {
		n, delta := int(d.between(1, 300)), d.between(1e-10, 1e-3)
		eps := d.between(0.01, 1)
		leaf, relation := Event(ExponentialMechanism{eps, false}), ReplaceOne
		own := eps
		switch i % 6 {
		case 1:
			leaf, relation = Laplace{1 / eps}, AddOrRemoveOne
		case 2:
			leaf = RandomizedResponse{0.9, 3}
			own = math.Log(1 + 0.1/0.9*3)
		case 3:
			leaf = DiscreteLaplace{eps / 4, 4}
		case 4:
			leaf, own = Composed{[]Event{ExponentialMechanism{eps, false}, Pure{eps / 3}}}, eps+eps/3
		case 5:
			leaf, relation = PoissonSampled{0.3, ExponentialMechanism{eps, false}}, AddOrRemoveOne
			own = math.Log(1 + 0.3*math.Expm1(eps))
		}
		e := Repeated{leaf, n}
		got := upper(t, e, delta, relation)
		all := must[float64](t)(RDPEpsilonOf(e, delta, relation, orders...))
		// If the two bounds nearly agree, the grid may give a value that is larger by about 1e-4 of it.
		if got > all*(1+2e-4) || got > own*float64(n)*(1+1e-9) {
			t.Errorf("%s δ=%g: published ε = %g, Rényi divergences prove %g, the sum is %g", Describe(e), delta,
				got, all, own*float64(n))
		}
		if both := must[Bound](t)(Epsilon(e, delta, relation)); both.Lower > got*(1+1e-9) {
			t.Errorf("%s δ=%g: the lower end %g is above %g", Describe(e), delta, both.Lower, got)
		}
		searched := must[float64](t)(RDPEpsilonOf(e, delta, relation))
		if searched > all*(1+1e-12)+1e-15 {
			t.Errorf("%s δ=%g: the search finds %g, want %g", Describe(e), delta, searched, all)
		}
	}
}

// TestOwnDeltaIsSettledFirst: if the probability of an infinite loss is above the target δ, ε is
// infinite, and the package makes no grid to compute it.
func TestOwnDeltaIsSettledFirst(t *testing.T) {
	curve := Curve{"flat", []float64{0, 1}, []float64{0.1, 0.01}, nil}
	for _, e := range []Event{Approximate{0, 0.001}, Repeated{Approximate{1, 2e-5}, 3},
		Repeated{Approximate{1, 1e-7}, 100000},
		Composed{[]Event{Gaussian{3}, Approximate{0.1, 1e-3}, poissonSteps(0.01, 1, 1000)}},
		Repeated{curve, 2},
		Repeated{PoissonSampled{0.1, Approximate{1, 0.01}}, 5},
		Disjoint{Parts: []Event{Laplace{3}, Approximate{0.1, 0.1}}}} {
		used := uint64(math.MaxUint64)
		for range 3 { // goroutines of other tests may still allocate
			var before, after runtime.MemStats
			prices.forget()
			runtime.ReadMemStats(&before)
			b, err := Epsilon(e, 1e-5, AddOrRemoveOne)
			runtime.ReadMemStats(&after)
			if err != nil || !math.IsInf(b.Upper, 1) {
				t.Errorf("%s: got %v, %v, want an infinite ε", Describe(e), b, err)
			}
			used = min(used, after.TotalAlloc-before.TotalAlloc)
		}
		if used > 1<<16 {
			t.Errorf("%s: %d bytes for an infinite price, want at most 64 KiB", Describe(e), used)
		}
	}
	// If the event's own δ equals the target, the price is finite. For many uses 1 minus the product
	// of 1−δ counts, not the sum of δ.
	if b := must[Bound](t)(Epsilon(Approximate{1, 1e-5}, 1e-5, AddOrRemoveOne)); b.Upper > 1+1e-12 {
		t.Errorf("at the event's own δ: got %v, want 1", b)
	}
	if b := must[Bound](t)(Epsilon(Repeated{Approximate{1, 1e-7}, 100}, 1e-5,
		AddOrRemoveOne)); math.IsInf(b.Upper, 1) {
		t.Errorf("100 uses with 1/100 of the target δ: got %v, want a finite ε", b)
	}
}

// TestApproximateKeepsItsBracket: the bracket of compositions with their own δ contains the
// closed form P(∞) + P(finite)·δ of randomized response (Kairouz, Oh and Viswanath 2015, Theorem
// 3.3).
func TestApproximateKeepsItsBracket(t *testing.T) {
	for _, c := range []struct {
		eps, own float64
		n        int
	}{{0.1, 1e-8, 100}, {0.5, 0, 7}, {1, 3e-7, 3}, {0.02, 1e-9, 900}} {
		e := Repeated{Approximate{c.eps, c.own}, c.n}
		for _, at := range []float64{0, 0.3, 0.8} {
			target := at * c.eps * float64(c.n)
			truth := 0.0
			for k := range c.n + 1 { // k losses of +ε
				loss := c.eps * float64(2*k-c.n)
				if loss > target {
					truth += binomialTerm(k, c.n, 1/(1+math.Exp(-c.eps))) * -math.Expm1(target-loss)
				}
			}
			none := float64(c.n) * math.Log1p(-c.own)
			truth = math.Exp(none)*truth - math.Expm1(none)
			b := must[Bound](t)(Delta(e, target, ReplaceOne))
			if b.Upper < truth*(1-1e-9) || b.Lower > truth*(1+1e-9) || b.Upper > truth*1.01+1e-15 {
				t.Errorf("%+v: got δ(%g) = %v, want a narrow bracket of %g", c, target, b, truth)
			}
		}
	}
}

// TestHugeCountsCostMore: for huge counts the rounding errors of a grid exceed the answer. Such
// counts are priced by divergences, and not as zero.
func TestHugeCountsCostMore(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("counts are small")
	}
	for _, e := range []Event{PoissonSampled{1e-9, Gaussian{2}}, Pure{1e-9},
		ExponentialMechanism{1e-9, false}, PoissonSampled{1e-9, Laplace{3}}} {
		last := 0.0
		for shift := 30; shift <= 60; shift += 10 {
			b := must[Bound](t)(Epsilon(Repeated{e, 1 << shift}, 1e-5, AddOrRemoveOne))
			if b.Upper < last {
				t.Errorf("%s: 2^%d uses cost %g, but fewer uses cost at least %g", Describe(e), shift,
					b.Upper, last)
			}
			last = max(last, b.Lower)
		}
		if b := must[Bound](t)(Epsilon(Repeated{e, math.MaxInt >> 3}, 1e-5, AddOrRemoveOne)); b.Upper <
			0.5 {
			t.Errorf("%s: 2^60 uses cost %v, want at least 0.5", Describe(e), b)
		}
	}
}

// TestCostIsBoundedBeforeItIsPaid: no event of a small file needs much memory to price.
func TestCostIsBoundedBeforeItIsPaid(t *testing.T) {
	deep, chosen := `{"kind":"laplace","scale":1}`, `{"kind":"gaussian","noise_multiplier":1000}`
	for range 28 {
		deep = `{"kind":"poisson_sampled","probability":0.999,"event":` + deep + `}`
		chosen = `{"kind":"repeat_and_select","mean":1,"shape":1,"poisson":true,"event":` + chosen + `}`
	}
	for _, text := range []string{
		`{"kind":"approximate","epsilon":0,"delta":0.001}`,
		`{"kind":"repeated","count":100,"event":{"kind":"approximate","epsilon":0.1,"delta":1e-8}}`,
		`{"kind":"composed","events":[{"kind":"approximate","epsilon":0.1,"delta":1e-8},{"kind":"approximate","epsilon":0.2,"delta":1e-7}]}`,
		`{"kind":"repeated","count":500000000,"event":{"kind":"pure","epsilon":1e-9}}`,
		`{"kind":"repeated","count":500000000,"event":{"kind":"laplace","scale":1}}`,
		`{"kind":"repeated","count":100,"event":{"kind":"truncated_poisson","probability":0.5,"population":1000000000,"max_batch":500000000,"noise_multiplier":30}}`,
		`{"kind":"repeated","count":10,"event":{"kind":"discrete_laplace","a":1e-6,"sensitivity":100000}}`,
		`{"kind":"repeated","count":10,"event":{"kind":"discrete_gaussian","sigma":2000,"sensitivity":1000}}`,
		`{"kind":"discrete_gaussian","sigma":1e300,"sensitivity":1}`,
		`{"kind":"repeated","count":10,"event":` + deep + `}`, chosen,
	} {
		e, err := UnmarshalEvent([]byte(text))
		if err != nil {
			t.Fatal(err, text)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Epsilon(e, 1e-5, AddOrRemoveOne); err != nil {
			t.Error(err, text)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%.60s: pricing used %d MiB, want at most 64", text, used>>20)
		}
	}
}

// TestPureBudgets: at δ = 0 the price is the sum of the ε's if every event is pure; other events
// are refused.
func TestPureBudgets(t *testing.T) {
	curve := Curve{"pure", []float64{-1, 0, 1}, []float64{1 - math.Exp(-1), 0.47, 0}, nil}
	for _, c := range []struct {
		e    Event
		r    Relation
		want float64
	}{
		{Laplace{2}, AddOrRemoveOne, 0.5},
		{Repeated{ExponentialMechanism{0.1, false}, 30}, ReplaceOne, 3},
		{Pure{2}, ReplaceOne, 2},
		{Approximate{2, 0}, ReplaceOne, 2}, {DiscreteLaplace{0.5, 3}, AddOrRemoveOne, 1.5},
		{RandomizedResponse{0.75, 2}, ReplaceOne, math.Log(5. / 3)},
		{Composed{[]Event{Laplace{4}, Repeated{Pure{0.5}, 2}}}, AddOrRemoveOne, 1.25},
		{Disjoint{Parts: []Event{Laplace{4}, Laplace{2}}}, AddOrRemoveOne, 0.5},
		{Repeated{Disjoint{Parts: []Event{Laplace{4}, Laplace{2}}}, 3}, AddOrRemoveOne, 1.5},
		{curve, ReplaceOne, 1},
		{PoissonSampled{0.25, Pure{1}}, AddOrRemoveOne, math.Log(0.75 + 0.25*math.E)},
		{RepeatAndSelect{Pure{0.5}, 5, 1, false}, ReplaceOne, 1.5},
		{Composed{}, ReplaceOne, 0},
	} {
		b, err := Epsilon(c.e, 0, c.r)
		if err != nil || b.Upper < c.want*(1-1e-15) || b.Upper > c.want*(1+1e-12) || b.Lower > b.Upper {
			t.Errorf("%s: got %v, %v, want %g", Describe(c.e), b, err, c.want)
		}
		if c.want == 0 {
			continue
		}
		if d := must[Bound](t)(Delta(Repeated{c.e, 3}, 3*c.want*(1+1e-9), c.r)); d.Upper != 0 {
			t.Errorf("%s: δ at the sum of the ε's is %v, want 0", Describe(c.e), d)
		}
	}
	for _, e := range []Event{Gaussian{5}, Approximate{1, 1e-9}, ZCDP{0.1}, DiscreteGaussian{3, 1},
		Composed{[]Event{Pure{1}, Gaussian{100}}},
		PoissonSampled{0.1, Gaussian{5}}, RepeatAndSelect{Pure{0.5}, 5, 0, true},
		RepeatAndSelect{Gaussian{5}, 5, 1, false},
		Curve{"x", []float64{0, 1}, []float64{0.5, 1e-9}, nil},
		Disjoint{Parts: []Event{Laplace{4}, Gaussian{2}}}} {
		if b, err := Epsilon(e, 0, AddOrRemoveOne); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: got %v, %v, want ErrUnsupported", Describe(e), b, err)
		}
	}
	scale, b, err := CalibrateNoise(Budget{Epsilon: 1}, func(s float64) Event {
		return Repeated{Laplace{s}, 10}
	})
	if err != nil || b.Upper > 1 || scale > 10.001 {
		t.Error(scale, b, err)
	}
	if _, _, err := CalibrateNoise(Budget{Epsilon: 1}, func(s float64) Event {
		return Gaussian{s}
	}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	for _, delta := range []float64{-1e-300, 1e-300, 1e-31} {
		if (Budget{Epsilon: 1, Delta: delta}).Validate() == nil {
			t.Errorf("a budget with δ = %g is accepted", delta)
		}
	}
}
