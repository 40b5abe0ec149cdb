package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/param"
)

// Defects that other accountants have had.

func TestIntegerNoiseTakesNoOtherPath(t *testing.T) {
	for _, sigma := range []float64{1, 2, 3, 8} {
		a := upper(t, poissonSteps(0.01, sigma, 1000), 1e-5, AddOrRemoveOne)
		b := upper(t, poissonSteps(0.01, sigma*(1+1e-9), 1000), 1e-5, AddOrRemoveOne)
		if math.Abs(a-b) > 1e-5*a {
			t.Errorf("σ=%g costs %g, a billionth more %g", sigma, a, b)
		}
	}
}

// many is 2^40 − 1, or 2^28 − 1 where int has 32 bits.
const many = (1<<40 - 1) & (math.MaxInt >> 3)

// everyEvent returns one event of each kind, with a relation that supports it.
func everyEvent() map[string]struct {
	e Event
	r Relation
} {
	type entry = struct {
		e Event
		r Relation
	}
	curve, err := Tabulate("randomised", []float64{-1, -0.5, 0, 0.5, 1}, func(e float64) float64 {
		return max(0, 1-math.Exp(e), (math.E-math.Exp(e))/(math.E+1))
	}, nil)
	if err != nil {
		panic(err)
	}
	out := map[string]entry{}
	for _, x := range []entry{
		{Gaussian{2}, AddOrRemoveOne}, {Laplace{3}, AddOrRemoveOne},
		{DiscreteGaussian{4, 1}, AddOrRemoveOne}, {DiscreteLaplace{0.3, 2}, AddOrRemoveOne},
		{RandomizedResponse{0.7, 4}, ReplaceOne}, {ExponentialMechanism{0.2}, AddOrRemoveOne},
		{Pure{0.2}, ReplaceOne}, {Approximate{0.2, 1e-7}, AddOrRemoveOne},
		{ZCDP{0.01}, AddOrRemoveOne}, {PoissonSampled{0.1, Gaussian{1}}, AddOrRemoveOne},
		{SampledWithoutReplacement{1000, 20, Gaussian{1}}, ReplaceOne},
		{TruncatedPoisson{0.01, 10000, 110, 1.5}, AddOrRemoveOne},
		{SameBatch{[]float64{2, 3}}, AddOrRemoveOne}, {SampledSum{0.1, 1}, ReplaceOne},
		{GaussianMixture{2, []float64{0, 1, 2}, []float64{0.9, 0.08, 0.02}}, AddOrRemoveOne},
		{Repeated{Gaussian{5}, 2}, AddOrRemoveOne},
		{Composed{[]Event{Gaussian{5}, Laplace{9}}}, AddOrRemoveOne},
		{Disjoint{Parts: []Event{PoissonSampled{0.1, Gaussian{1}}, PoissonSampled{0.05, Gaussian{0.9}}}},
			AddOrRemoveOne},
		{RepeatAndSelect{Gaussian{4}, 5, 1, false}, AddOrRemoveOne}, {curve, AddOrRemoveOne},
	} {
		out[x.e.kind()] = x
	}
	return out
}

func TestEveryRepeatCounts(t *testing.T) {
	for kind, x := range everyEvent() {
		one := upper(t, x.e, 1e-5, x.r)
		three := upper(t, Repeated{x.e, 3}, 1e-5, x.r)
		listed := upper(t, Composed{[]Event{x.e, x.e, x.e}}, 1e-5, x.r)
		if three <= one*1.01 {
			t.Errorf("%s: three cost %g, one %g", kind, three, one)
		}
		// A record's part may change between repetitions but not within a list of uses of one kind, which
		// is then priced as fixed or as changing.
		if math.Abs(three-listed) > 2e-3*three && kind != "disjoint" {
			t.Errorf("%s: repeated thrice costs %g, listed thrice %g", kind, three, listed)
		}
	}
}

func TestReplaceOneIsNotAddOrRemove(t *testing.T) {
	// The same noise, in clip norms: replacing a record moves the sum twice as far.
	add := upper(t, Repeated{SampledSum{0.01, 1.5}, 500}, 1e-5, AddOrRemoveOne)
	replace := upper(t, Repeated{SampledSum{0.01, 1.5}, 500}, 1e-5, ReplaceOne)
	if replace < 1.5*add {
		t.Errorf("replace-one costs %g, add-or-remove %g", replace, add)
	}
	if g := upper(t, SampledSum{1, 2}, 1e-5,
		ReplaceOne); math.Abs(g-upper(t, Gaussian{1}, 1e-5, ReplaceOne)) > 1e-9 {
		t.Errorf("unsampled: %g", g)
	}
	// One direction of the sampled pair alone does not bound the glued curve.
	if one, glued := upper(t, poissonSteps(0.01, 1, 500), 1e-5, AddOrRemoveOne),
		upper(t, poissonSteps(0.01, 1, 500), 1e-5, ReplaceOne); glued <= one {
		t.Errorf("glued %g, one direction %g", glued, one)
	}
}

// TestNoProbabilityIsNaN calls only Validate: pricing an event with a probability of NaN would
// not end.
func TestNoProbabilityIsNaN(t *testing.T) {
	nan := math.NaN()
	for _, bad := range []Event{PoissonSampled{nan, Gaussian{1}}, SampledSum{nan, 1},
		TruncatedPoisson{nan, 10, 1, 1}, Approximate{1, nan}} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%#v is accepted", bad)
		}
	}
}

func TestBadNumbersAreErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, bad := range []Event{Gaussian{nan}, Gaussian{0}, Gaussian{-1}, Gaussian{inf}, Laplace{nan},
		Laplace{inf}, DiscreteGaussian{nan, 1}, DiscreteGaussian{1, 0},
		DiscreteLaplace{nan, 1}, DiscreteLaplace{1, -1}, RandomizedResponse{nan, 2},
		RandomizedResponse{0, 2}, RandomizedResponse{0.5, 1}, ExponentialMechanism{nan},
		Pure{nan}, Pure{0}, Approximate{nan, 0}, Approximate{1, nan}, Approximate{1, 1}, ZCDP{nan},
		ZCDP{0}, PoissonSampled{nan, Gaussian{1}}, PoissonSampled{1.1, Gaussian{1}},
		PoissonSampled{0.1, nil}, PoissonSampled{0.1, Gaussian{nan}},
		SampledWithoutReplacement{10, 11, Gaussian{1}}, SampledWithoutReplacement{0, 0, Gaussian{1}},
		TruncatedPoisson{nan, 10, 1, 1}, TruncatedPoisson{0.1, 10, 1, nan}, SameBatch{nil},
		SameBatch{[]float64{1, nan}}, SampledSum{nan, 1}, SampledSum{0.1, nan},
		GaussianMixture{nan, []float64{1}, []float64{1}},
		GaussianMixture{1, []float64{nan}, []float64{1}},
		GaussianMixture{1, []float64{1}, []float64{nan}},
		Repeated{Gaussian{1}, 0}, Repeated{Gaussian{1}, -3}, Repeated{nil, 1}, Composed{[]Event{nil}},
		Disjoint{}, RepeatAndSelect{Gaussian{1}, nan, 1, false},
		RepeatAndSelect{Gaussian{1}, 2, nan, false}, RepeatAndSelect{Gaussian{1}, nan, 0, true}, Curve{},
		Curve{"x", []float64{0, nan}, []float64{1, 0}, nil},
		Curve{"x", []float64{0, 1}, []float64{nan, 0}, nil},
		Repeated{Repeated{Repeated{PoissonSampled{0.1, Gaussian{1}}, many}, many}, many},
	} {
		var p *param.Error
		if b, err := Epsilon(bad, 1e-5, AddOrRemoveOne); !errors.As(err, &p) {
			t.Errorf("%#v: %v, %v", bad, b, err)
		}
		if _, err := MarshalEvent(bad); err == nil && bad.Validate() != nil {
			t.Errorf("%#v was written", bad)
		}
	}
	for _, delta := range []float64{nan, -1, 1, 1e-13, inf} {
		if _, err := Epsilon(Gaussian{1}, delta, AddOrRemoveOne); err == nil {
			t.Errorf("δ=%g accepted", delta)
		}
	}
	for _, eps := range []float64{nan, -1, inf} {
		if _, err := Delta(Gaussian{1}, eps, AddOrRemoveOne); err == nil {
			t.Errorf("ε=%g accepted", eps)
		}
	}
	for _, b := range []Budget{{}, {nan, 1e-5, 0}, {1, nan, 0}, {1, 1e-5, 7}, {inf, 1e-5, 0},
		{-1, 1e-5, 0}} {
		if b.Validate() == nil {
			t.Errorf("%+v accepted", b)
		}
		if NewLedger(b).Spend("x", Gaussian{100}) == nil {
			t.Errorf("ledger with %+v spends", b)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		e Event
		r Relation
	}{
		{SampledWithoutReplacement{100, 10, Gaussian{1}}, AddOrRemoveOne},
		{RandomizedResponse{0.5, 3}, AddOrRemoveOne},
		{GaussianMixture{1, []float64{1}, []float64{1}}, ReplaceOne},
		{PoissonSampled{0.1, Laplace{1}}, ReplaceOne},
		{PoissonSampled{0.1, ZCDP{0.1}}, AddOrRemoveOne},
		{SampledWithoutReplacement{100, 10, Laplace{1}}, ReplaceOne},
		{Disjoint{Parts: []Event{SampledWithoutReplacement{100, 10, Gaussian{1}}, Gaussian{1}}},
			ReplaceOne},
		{RepeatAndSelect{Approximate{1, 1e-6}, 3, 1, false}, AddOrRemoveOne},
	} {
		if b, err := Epsilon(x.e, 1e-5, x.r); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s under %s: %v, %v", Describe(x.e), x.r, b, err)
		}
	}
}

func TestSameBatchIsNotTwoBatches(t *testing.T) {
	joint := upper(t, Repeated{PoissonSampled{0.01, SameBatch{[]float64{0.5, 0.5}}}, 100}, 1e-5,
		AddOrRemoveOne)
	effective := upper(t, poissonSteps(0.01, EffectiveMultiplier(0.5, 0.5), 100), 1e-5, AddOrRemoveOne)
	apart := upper(t, poissonSteps(0.01, 0.5, 200), 1e-5, AddOrRemoveOne)
	if joint != effective || joint <= apart {
		t.Errorf("joint %g, effective %g, as if resampled %g", joint, effective, apart)
	}
	// A counterexample to splitting the moment by Hölder's inequality: order 2, both σ = .5, q = .01:
	// .26082, not .16439.
	v := must[float64](t)(RDP(PoissonSampled{0.01, SameBatch{[]float64{0.5, 0.5}}}, 2, AddOrRemoveOne))
	within(t, "joint moment", v, 0.260815, 0.260825)
}

func TestDisjointParts(t *testing.T) {
	a, b := PoissonSampled{0.1, Gaussian{1}}, PoissonSampled{0.02, Gaussian{0.7}}
	ua, ub := upper(t, Repeated{a, 50}, 1e-5, AddOrRemoveOne),
		upper(t, Repeated{b, 50}, 1e-5, AddOrRemoveOne)
	fixed := upper(t, Disjoint{Parts: []Event{Repeated{a, 50}, Repeated{b, 50}}}, 1e-5, AddOrRemoveOne)
	if fixed != max(ua, ub) {
		t.Errorf("a record in one part pays %g, parts cost %g and %g", fixed, ua, ub)
	}
	changing := upper(t, Repeated{Disjoint{Parts: []Event{a, b}}, 50}, 1e-5, AddOrRemoveOne)
	if changing < fixed || changing > ua+ub {
		t.Errorf("changing parts cost %g, fixed %g", changing, fixed)
	}
	if same := upper(t, Repeated{Disjoint{Parts: []Event{a, a, a}}, 50}, 1e-5, AddOrRemoveOne); same !=
		ua {
		t.Errorf("equal parts cost %g, one of them %g", same, ua)
	}
	// Under replace-one a moving record is seen by two parts, each with the effect of one record that
	// comes or goes.
	parts := Disjoint{Parts: []Event{Gaussian{1}, Gaussian{1}},
		Moving: []Event{Gaussian{2}, Gaussian{2}}}
	if v := upper(t, parts, 1e-5, ReplaceOne); math.Abs(v-upper(t, Gaussian{1}, 1e-5, ReplaceOne)) >
		1e-9 {
		t.Errorf("staying is worst: %g", v)
	}
	parts.Moving = nil
	if v, w := upper(t, parts, 1e-5, ReplaceOne),
		upper(t, Gaussian{math.Sqrt(0.5)}, 1e-5, ReplaceOne); math.Abs(v-w) > 1e-9 {
		t.Errorf("without knowledge moving costs %g, should be %g", v, w)
	}
}

// TestKnownConstants compares with constants of the literature and of closed forms.
func TestKnownConstants(t *testing.T) {
	for sigma, eps := range map[float64]float64{1: 4.3772, 2: 1.9931, 4: 0.9263, 5: 0.7255,
		25: 0.1254} {
		within(t, "analytic Gaussian", upper(t, Gaussian{sigma}, 1e-5, AddOrRemoveOne),
			eps-1e-4, eps+1e-4)
	}
	for _, c := range []struct {
		q, sigma float64
		steps    int
		eps      float64
	}{{0.0017, 1, 11780, 0.926}, {0.0017, 2, 11780, 0.338}, {0.017, 1, 1178, 3.542},
		{0.02, 1.5, 2000, 2.859}, {0.05, 2, 1000, 3.700}, {128. / 60000, 1, 450000, 9.28},
		{512. / 60000, 14, 165000, 0.918},
		{64. / 49000, 1.086 / math.Sqrt(5), 51553, 13.98}} {
		within(t, "subsampled Gaussian",
			upper(t, poissonSteps(c.q, c.sigma, c.steps), 1e-5, AddOrRemoveOne), c.eps*0.99, c.eps*1.01)
	}
	for s, eps := range map[float64]float64{1: 0.993, 2: 0.456, 4: 0.215} {
		v := upper(t, Repeated{SampledSum{0.0017, s * math.Sqrt2}, 11780}, 1e-5, ReplaceOne)
		within(t, "replace-one", v, eps*0.99, eps*1.01)
	}
	// Stopping early must not lower the published ε: a reservation of a thousand small Gaussians
	// costs a thousand.
	l := NewLedger(Budget{Epsilon: 100, Delta: 1e-5})
	r := must[*Reservation](t)(l.Reserve("adaptive", Gaussian{10}, 1000))
	before := l.Epsilon()
	if err := r.Spend(); err != nil || l.Epsilon() != before {
		t.Error("published ε follows the stop")
	}
}
