package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// The tests in this file check for defects that other accountants have had.

func TestIntegerNoiseTakesNoOtherPath(t *testing.T) {
	for _, sigma := range []float64{1, 2, 3, 8} {
		a := upper(t, poissonSteps(0.01, sigma, 1000), 1e-5, AddOrRemoveOne)
		b := upper(t, poissonSteps(0.01, sigma*(1+1e-9), 1000), 1e-5, AddOrRemoveOne)
		if math.Abs(a-b) > 1e-5*a {
			t.Errorf("σ=%g costs ε = %g, a σ larger by a billionth costs ε = %g", sigma, a, b)
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
		{RandomizedResponse{0.7, 4}, ReplaceOne}, {ExponentialMechanism{Epsilon: 0.2}, AddOrRemoveOne},
		{Pure{0.2}, ReplaceOne}, {Approximate{0.2, 1e-7}, AddOrRemoveOne},
		{ZCDP{0.01}, AddOrRemoveOne}, {PoissonSampled{0.1, Gaussian{1}}, AddOrRemoveOne},
		{SampledWithoutReplacement{1000, 20, Gaussian{1}}, ReplaceOne},
		{TruncatedPoisson{0.01, 10000, 110, 1.5}, AddOrRemoveOne},
		{SameBatch{[]float64{2, 3}}, AddOrRemoveOne}, {SampledSum{0.1, 1}, ReplaceOne},
		{BandedSum{0.1, 1, []float64{1, 0.5}}, ReplaceOne},
		{RandomAllocation{20, 1.5, 0, false}, AddOrRemoveOne},
		{GaussianMixture{2, []float64{0, 1, 2}, []float64{0.9, 0.08, 0.02}}, AddOrRemoveOne},
		{Repeated{Gaussian{5}, 2}, AddOrRemoveOne},
		{Composed{[]Event{Gaussian{5}, Laplace{9}}}, AddOrRemoveOne},
		{Disjoint{Parts: []Event{PoissonSampled{0.1, Gaussian{1}}, PoissonSampled{0.05, Gaussian{0.9}}}},
			AddOrRemoveOne},
		{RepeatAndSelect{Gaussian{4}, 5, 1, false}, AddOrRemoveOne}, {curve, AddOrRemoveOne},
		{SparseHistogram{10, 60, 2}, AddOrRemoveOne},
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
			t.Errorf("%s: three uses cost %g, one use costs %g", kind, three, one)
		}
		// The two prices of disjoint parts differ: Repeated pays for the worst part at each use, and a
		// list pays for the worst combination of parts.
		if math.Abs(three-listed) > 2e-3*three && kind != "disjoint" {
			t.Errorf("%s: Repeated with count 3 costs %g, a list of three costs %g", kind, three, listed)
		}
	}
}

func TestReplaceOneIsNotAddOrRemove(t *testing.T) {
	// The same noise, in clip norms: replacing a record moves the sum twice as far.
	add := upper(t, Repeated{SampledSum{0.01, 1.5}, 500}, 1e-5, AddOrRemoveOne)
	replace := upper(t, Repeated{SampledSum{0.01, 1.5}, 500}, 1e-5, ReplaceOne)
	if replace < 1.5*add {
		t.Errorf("replace-one costs %g, want at least 1.5 times %g of add-or-remove-one", replace, add)
	}
	if g := upper(t, SampledSum{1, 2}, 1e-5,
		ReplaceOne); math.Abs(g-upper(t, Gaussian{1}, 1e-5, ReplaceOne)) > 1e-9 {
		t.Errorf("at rate 1: got ε = %g, want that of Gaussian{1}", g)
	}
	// One direction of the sampled pair alone does not bound the glued curve.
	if one, glued := upper(t, poissonSteps(0.01, 1, 500), 1e-5, AddOrRemoveOne),
		upper(t, poissonSteps(0.01, 1, 500), 1e-5, ReplaceOne); glued <= one {
		t.Errorf("the glued curve costs %g, want more than %g of one direction", glued, one)
	}
}

// TestNoProbabilityIsNaN calls only check, because pricing an event with a probability of NaN
// would not terminate.
func TestNoProbabilityIsNaN(t *testing.T) {
	nan := math.NaN()
	for _, bad := range []Event{PoissonSampled{nan, Gaussian{1}}, SampledSum{nan, 1},
		TruncatedPoisson{nan, 10, 1, 1}, Approximate{1, nan}, RandomAllocation{2, nan, 0, false}} {
		if err := bad.check(); err == nil {
			t.Errorf("%#v is accepted", bad)
		}
	}
}

func TestBadNumbersAreErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, bad := range []Event{Gaussian{nan}, Gaussian{0}, Gaussian{-1}, Gaussian{inf}, Laplace{nan},
		Laplace{inf}, DiscreteGaussian{nan, 1}, DiscreteGaussian{1, 0},
		DiscreteLaplace{nan, 1}, DiscreteLaplace{1, -1}, RandomizedResponse{nan, 2},
		RandomizedResponse{0, 2}, RandomizedResponse{0.5, 1}, ExponentialMechanism{Epsilon: nan},
		Pure{nan}, Pure{0}, Approximate{nan, 0}, Approximate{1, nan}, Approximate{1, 1}, ZCDP{nan},
		ZCDP{0}, PoissonSampled{nan, Gaussian{1}}, PoissonSampled{1.1, Gaussian{1}},
		PoissonSampled{0.1, nil}, PoissonSampled{0.1, Gaussian{nan}},
		SampledWithoutReplacement{10, 11, Gaussian{1}}, SampledWithoutReplacement{0, 0, Gaussian{1}},
		TruncatedPoisson{nan, 10, 1, 1}, TruncatedPoisson{0.1, 10, 1, nan}, SameBatch{nil},
		SameBatch{[]float64{1, nan}}, SampledSum{nan, 1}, SampledSum{0.1, nan},
		GaussianMixture{nan, []float64{1}, []float64{1}},
		GaussianMixture{1, []float64{nan}, []float64{1}},
		GaussianMixture{1, []float64{1}, []float64{nan}},
		SparseHistogram{nan, 9, 1}, SparseHistogram{1, nan, 1}, SparseHistogram{1, 1, 1},
		SparseHistogram{1, 9, 0}, SparseHistogram{1, 9, 65},
		Repeated{Gaussian{1}, 0}, Repeated{Gaussian{1}, -3}, Repeated{nil, 1}, Composed{[]Event{nil}},
		Disjoint{}, RepeatAndSelect{Gaussian{1}, nan, 1, false},
		RepeatAndSelect{Gaussian{1}, 2, nan, false}, RepeatAndSelect{Gaussian{1}, nan, 0, true}, Curve{},
		Curve{"x", []float64{0, nan}, []float64{1, 0}, nil},
		Curve{"x", []float64{0, 1}, []float64{nan, 0}, nil},
		Repeated{Repeated{Repeated{PoissonSampled{0.1, Gaussian{1}}, many}, many}, many},
	} {
		var p *param.Error
		if b, err := Epsilon(bad, 1e-5, AddOrRemoveOne); !errors.As(err, &p) {
			t.Errorf("%#v: got %v, %v, want a *param.Error", bad, b, err)
		}
		if _, err := MarshalEvent(bad); err == nil && bad.check() != nil {
			t.Errorf("MarshalEvent writes the invalid event %#v", bad)
		}
	}
	for _, delta := range []float64{nan, -1, 1, 1e-31, inf} {
		if _, err := Epsilon(Gaussian{1}, delta, AddOrRemoveOne); err == nil {
			t.Errorf("Epsilon accepts δ=%g", delta)
		}
	}
	for _, eps := range []float64{nan, -1, inf} {
		if _, err := Delta(Gaussian{1}, eps, AddOrRemoveOne); err == nil {
			t.Errorf("Delta accepts ε=%g", eps)
		}
	}
	for _, b := range []Budget{{}, {nan, 1e-5, 0}, {1, nan, 0}, {1, 1e-5, 7}, {inf, 1e-5, 0},
		{-1, 1e-5, 0}} {
		if b.Validate() == nil {
			t.Errorf("the budget %+v is accepted", b)
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
		{PoissonSampled{0.1, Repeated{Laplace{1}, 3}}, AddOrRemoveOne},
		{PoissonSampled{0.1, Composed{[]Event{Pure{1}, Pure{1}}}}, AddOrRemoveOne},
		{SampledWithoutReplacement{100, 10, Laplace{1}}, ReplaceOne},
		{Disjoint{Parts: []Event{SampledWithoutReplacement{100, 10, Gaussian{1}}, Gaussian{1}}},
			ReplaceOne},
		{RepeatAndSelect{Approximate{1, 1e-6}, 3, 1, false}, AddOrRemoveOne},
	} {
		if b, err := Epsilon(x.e, 1e-5, x.r); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s under %s: got %v, %v, want ErrUnsupported", Describe(x.e), x.r, b, err)
		}
	}
}

func TestSameBatchIsNotTwoBatches(t *testing.T) {
	joint := upper(t, Repeated{PoissonSampled{0.01, SameBatch{[]float64{0.5, 0.5}}}, 100}, 1e-5,
		AddOrRemoveOne)
	effective := upper(t, poissonSteps(0.01, EffectiveMultiplier(0.5, 0.5), 100), 1e-5, AddOrRemoveOne)
	apart := upper(t, poissonSteps(0.01, 0.5, 200), 1e-5, AddOrRemoveOne)
	if joint != effective || joint <= apart {
		t.Errorf("two releases of one batch cost %g, want %g, above %g of separate batches", joint,
			effective, apart)
	}
	// At order 2, with σ = 0.5 twice and q = 0.01, the divergence is 0.26082. Splitting the moment by
	// Hölder's inequality would give only 0.16439.
	v := must[float64](t)(RDP(PoissonSampled{0.01, SameBatch{[]float64{0.5, 0.5}}}, 2, AddOrRemoveOne))
	within(t, "joint moment", v, 0.260815, 0.260825)
}

func TestDisjointParts(t *testing.T) {
	a, b := PoissonSampled{0.1, Gaussian{1}}, PoissonSampled{0.02, Gaussian{0.7}}
	ua, ub := upper(t, Repeated{a, 50}, 1e-5, AddOrRemoveOne),
		upper(t, Repeated{b, 50}, 1e-5, AddOrRemoveOne)
	fixed := upper(t, Disjoint{Parts: []Event{Repeated{a, 50}, Repeated{b, 50}}}, 1e-5, AddOrRemoveOne)
	if fixed != max(ua, ub) {
		t.Errorf("fixed parts cost %g, want the larger of %g and %g", fixed, ua, ub)
	}
	changing := upper(t, Repeated{Disjoint{Parts: []Event{a, b}}, 50}, 1e-5, AddOrRemoveOne)
	if changing < fixed || changing > ua+ub {
		t.Errorf("changing parts cost %g, fixed parts cost %g", changing, fixed)
	}
	again := Repeated{Disjoint{Parts: []Event{a, b}, Fixed: true}, 50}
	if v := upper(t, again, 1e-5, AddOrRemoveOne); v != changing {
		t.Errorf("repeated uses of fixed parts cost %g, want %g", v, changing)
	}
	if same := upper(t, Repeated{Disjoint{Parts: []Event{a, a, a}}, 50}, 1e-5, AddOrRemoveOne); same !=
		ua {
		t.Errorf("three equal parts cost %g, want %g of one part", same, ua)
	}
	// Under replace-one a moving record affects two parts: one part loses a record, and the other
	// part gains one.
	parts := Disjoint{Parts: []Event{Gaussian{1}, Gaussian{1}},
		Moving: []Event{Gaussian{2}, Gaussian{2}}}
	if v := upper(t, parts, 1e-5, ReplaceOne); math.Abs(v-upper(t, Gaussian{1}, 1e-5, ReplaceOne)) >
		1e-9 {
		t.Errorf("with smaller effects of moving: got ε = %g, want that of Gaussian{1}", v)
	}
	parts.Moving = nil
	if v, w := upper(t, parts, 1e-5, ReplaceOne),
		upper(t, Gaussian{math.Sqrt(0.5)}, 1e-5, ReplaceOne); math.Abs(v-w) > 1e-9 {
		t.Errorf("without Moving: got ε = %g, want %g", v, w)
	}
}

// TestKnownConstants compares prices with constants from the literature and from closed forms.
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
}
