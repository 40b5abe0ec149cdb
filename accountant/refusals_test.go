package accountant

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// TestWhatIsRefused: each of these is an error that names the parameter, never a price.
func TestWhatIsRefused(t *testing.T) {
	price := func(e Event, r Relation) error { _, err := Epsilon(e, 1e-5, r); return err }
	noise := func(target Budget, event func(float64) Event) error {
		_, _, err := CalibrateNoise(target, event)
		return err
	}
	count := func(target Budget, limit int, event func(int) Event) error {
		_, _, err := CalibrateCount(target, limit, event)
		return err
	}
	share := func(target Budget, of float64) error {
		_, _, err := CalibrateShare(target, of, func(s float64) Event { return Gaussian{s} })
		return err
	}
	good := Budget{Epsilon: 1, Delta: 1e-5}
	steps := func(n int) Event { return Repeated{Gaussian{50}, n} }
	one := func(s float64) Event { return Gaussian{s} }
	for what, err := range map[string]error{
		"Epsilon":      noise(Budget{Delta: 1e-5}, one),
		"Delta":        noise(Budget{Epsilon: 1, Delta: 1e-31}, one),
		"Relation":     noise(Budget{Epsilon: 1, Delta: 1e-5, Relation: 2}, one),
		"event":        noise(good, nil),
		"Budget.Eps":   count(Budget{Delta: 1e-5}, 9, steps),
		"limit":        count(good, 0, steps),
		"Count.event":  count(good, 9, nil),
		"share":        share(good, 1),
		"Share.share":  share(good, 0),
		"Budget.Delta": share(Budget{Epsilon: 1, Delta: 2}, 0.5),
		"Event":        price(nil, AddOrRemoveOne),
		"Relat":        price(Gaussian{1}, 2),
		"Moving": price(Disjoint{Parts: []Event{Gaussian{1}, Gaussian{1}},
			Moving: []Event{Gaussian{1}}}, 1),
		"Mean":          price(RepeatAndSelect{Event: Gaussian{1}, Mean: 0.5, Shape: 1}, AddOrRemoveOne),
		"Sensitivities": price(GaussianMixture{1, []float64{1}, nil}, AddOrRemoveOne),
		"Probabilities": price(GaussianMixture{1, []float64{1, 2}, []float64{0.5, 0.4}}, AddOrRemoveOne),
		"Population":    price(TruncatedPoisson{0.1, 0, 9, 1}, AddOrRemoveOne),
		"MaxBatch":      price(TruncatedPoisson{0.1, 9, 0, 1}, AddOrRemoveOne),
		"Steps":         price(RandomAllocation{0, 1, 0, false}, AddOrRemoveOne),
		"Alloc.Steps":   price(RandomAllocation{1<<20 + 1, 1, 0, false}, AddOrRemoveOne),
		"Alloc.Times":   price(RandomAllocation{8, 1, 9, false}, AddOrRemoveOne),
		"Many.Times":    price(RandomAllocation{1 << 20, 1, 4097, false}, AddOrRemoveOne),
		"Twice.Times":   price(RandomAllocation{8, 1, 2, true}, ReplaceOne),
		"Sample":        price(SampledWithoutReplacement{9, 10, Gaussian{1}}, ReplaceOne),
		"Curve.Deltas":  price(Curve{"low", []float64{-1, 1}, []float64{0.5, 0}, nil}, AddOrRemoveOne),
		"order":         second(RDP(Gaussian{1}, 1, AddOrRemoveOne)),
		"RDP.order":     second(RDP(Gaussian{1}, math.Inf(1), AddOrRemoveOne)),
		"falsePos":      second(TradeOff(Gaussian{1}, AddOrRemoveOne, 1.5)),
		"Marshal":       second(MarshalEvent(nil)),
		"NoiseMult":     second(MarshalEvent(Gaussian{-1})),
		"Names.noise":   second(dpAccounting(Laplace{-1}, AddOrRemoveOne)),
	} {
		wrong := (*param.Error)(nil)
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want a *param.Error", what, err)
		} else if last := what[strings.LastIndex(what, ".")+1:]; what != "Names.noise" &&
			!strings.Contains(err.Error(), last) {
			t.Errorf("%s: the error names something else: %v", what, err)
		}
	}
	if _, err := Tabulate("low", []float64{-1, 1}, func(float64) float64 { return 0.1 },
		nil); err == nil {
		t.Error("a curve below 1−e^ε is accepted")
	}
	if _, err := Tabulate("one", []float64{1}, func(float64) float64 { return 0.1 }, nil); err == nil {
		t.Error("a curve of one point is accepted")
	}
	unknown := struct{ Gaussian }{Gaussian{1}}
	for _, err := range []error{price(unknown, 0), second(DPAccountingScript(unknown, 1e-5, 0)),
		price(SampledWithoutReplacement{9, 3, Laplace{1}}, ReplaceOne),
		price(RandomAllocation{9, 1, 0, false}, ReplaceOne),
		price(RandomAllocation{1, 1, 0, false}, ReplaceOne),
		price(RandomAllocation{9, 1, 0, true}, AddOrRemoveOne),
		price(RandomAllocation{9, 1, 4, false}, ReplaceOne),
		price(Disjoint{Parts: []Event{RandomAllocation{9, 1, 0, true}}, Fixed: true}, ReplaceOne),
		second(RDP(Approximate{0.1, 1e-6}, 2, AddOrRemoveOne))} {
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("got %v, want %v", err, ErrUnsupported)
		}
	}
	var many []Event
	for i := range 3 {
		var parts []Event
		for j := range 9 {
			parts = append(parts, Laplace{float64(2 + 9*i + j)}, Pure{1 / float64(2+9*i+j)})
		}
		many = append(many, Disjoint{Parts: parts, Fixed: true})
	}
	if err := price(Composed{many}, AddOrRemoveOne); !errors.Is(err, ErrUnsupported) {
		t.Errorf("%d lists of parts: %v", 18*18*18, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestNothingFits: where no parameter meets the target, calibration returns no parameter.
func TestNothingFits(t *testing.T) {
	small := Budget{Epsilon: 0.01, Delta: 1e-5}
	if n, _, err := CalibrateCount(small, 50, func(n int) Event {
		return Repeated{Gaussian{1}, n}
	}); !errors.Is(err, ErrBudgetExceeded) {
		t.Errorf("%d uses, %v", n, err)
	}
	if s, _, err := CalibrateNoise(small, func(s float64) Event {
		return Composed{[]Event{Laplace{1}, Laplace{s}}}
	}); !errors.Is(err, ErrBudgetExceeded) {
		t.Errorf("σ = %g, %v", s, err)
	}
	if n, b, err := CalibrateCount(Budget{Epsilon: 1}, 50, func(n int) Event {
		return Repeated{Pure{0.25}, n}
	}); n != 4 || b.Upper != 1 || err != nil {
		t.Errorf("%d uses of ε = 1/4 cost %+v, want 4 uses (%v)", n, b, err)
	}
}

// TestLimitsOfSamples: events at the end of their range cost what the plain event costs.
func TestLimitsOfSamples(t *testing.T) {
	nearly := 1 - 1e-13
	for _, c := range []struct {
		e, plain Event
		r        Relation
	}{
		{PoissonSampled{nearly, Gaussian{2}}, Gaussian{2}, AddOrRemoveOne},
		{PoissonSampled{nearly, Gaussian{2}}, Gaussian{2}, ReplaceOne},
		{SampledWithoutReplacement{7, 7, Gaussian{2}}, Gaussian{2}, ReplaceOne},
		{SampledWithoutReplacement{7, 7, Laplace{2}}, Laplace{2}, ReplaceOne},
		{SampledWithoutReplacement{many, many - 1, Gaussian{2}}, Gaussian{2}, ReplaceOne},
		{SampledSum{nearly, 2}, Gaussian{2}, AddOrRemoveOne},
		{SampledSum{nearly, 2}, Gaussian{1}, ReplaceOne},
		{TruncatedPoisson{1, 9, 9, 2}, Gaussian{2}, AddOrRemoveOne},
		{TruncatedPoisson{1, 9, 9, 2}, Gaussian{1}, ReplaceOne},
		{GaussianMixture{2, []float64{1, 1}, []float64{0.5, 0.5}}, Gaussian{2}, AddOrRemoveOne},
		{DiscreteLaplace{1e-6, maxAtoms + 1}, Pure{1e-6 * (maxAtoms + 1)}, AddOrRemoveOne},
		{RandomAllocation{1, 2, 0, false}, Gaussian{2}, AddOrRemoveOne},
		{SameBatch{[]float64{4, 4}}, Gaussian{4 / math.Sqrt2}, AddOrRemoveOne},
	} {
		s, ok := c.e.(SampledWithoutReplacement)
		if ok && s.Sample < s.Population && strconv.IntSize == 32 {
			continue // with ints of 32 bits no sample is so close to the whole
		}
		for _, n := range []int{1, 3} {
			got := must[Bound](t)(Epsilon(Repeated{c.e, n}, 1e-5, c.r))
			want := must[Bound](t)(Epsilon(Repeated{c.plain, n}, 1e-5, c.r))
			if !(got.Upper >= want.Lower) || !(got.Upper <= want.Upper*1.001) {
				t.Errorf("%v: %d of %+v cost %+v, want %+v", c.r, n, c.e, got, want)
			}
			at := must[Bound](t)(Delta(Repeated{c.e, n}, 0.3, c.r))
			there := must[Bound](t)(Delta(Repeated{c.plain, n}, 0.3, c.r))
			if !(at.Upper >= there.Lower) || !(at.Upper <= there.Upper*1.01) {
				t.Errorf("%v: δ of %d of %+v is %+v, want %+v", c.r, n, c.e, at, there)
			}
		}
		a, errA := RDP(c.e, 3, c.r)
		b, errB := RDP(c.plain, 3, c.r)
		if errA != nil || errB != nil || !(a >= b*(1-1e-12)) || !(a <= b*1.001) {
			t.Errorf("%v: the divergence of %+v is %g, want %g (%v, %v)", c.r, c.e, a, b, errA, errB)
		}
	}
	// The value 0 has almost all mass under one neighbour, and e^−1250 of it under the other.
	little := DiscreteGaussian{0.1, 5}
	if b := must[Bound](t)(Epsilon(little, 1e-5, AddOrRemoveOne)); !(b.Upper >= 1249.9) {
		t.Errorf("integer noise of σ = 0.1 costs %+v, want at least 1249.9", b)
	}
	if d := must[Bound](t)(Delta(little, 600, AddOrRemoveOne)); !(d.Upper >= 1-1e-9) {
		t.Errorf("integer noise of σ = 0.1 has δ(600) = %+v, want 1", d)
	}
	for _, e := range []Event{SampledSum{0, 2}, PoissonSampled{0, Gaussian{2}}, Composed{},
		GaussianMixture{2, []float64{0}, []float64{1}}} {
		b, err := Epsilon(e, 1e-5, AddOrRemoveOne)
		d, errD := Delta(e, 0, AddOrRemoveOne)
		if b.Upper != 0 || err != nil || d.Upper != 0 || errD != nil {
			t.Errorf("%+v: ε = %+v, δ = %+v (%v, %v)", e, b, d, err, errD)
		}
	}
	if g := (RepeatAndSelect{Event: Gaussian{2}, Mean: 5,
		Shape: 1}).Gamma(); math.Abs(g-0.2) > 1e-12 ||
		g > 0.2 {
		t.Errorf("γ of a geometric number of mean 5 is %v, want 0.2, rounded down", g)
	}
	if g := (RepeatAndSelect{Event: Gaussian{2}, Mean: 5, Poisson: true}).Gamma(); !math.IsNaN(g) {
		t.Errorf("γ of a Poisson number is %v, want NaN", g)
	}
}

// TestRelationsInWords: a guarantee, a file and a script name the relation that was priced.
func TestRelationsInWords(t *testing.T) {
	for r, want := range map[Relation][]string{
		AddOrRemoveOne: {"add_or_remove_one", "differ by the presence of one user", "ADD_OR_REMOVE_ONE"},
		ReplaceOne: {"replace_one", "the same size and differ in the content of one user",
			"REPLACE_ONE"},
	} {
		text, err := r.MarshalText()
		var back Relation
		script := must[string](t)(DPAccountingScript(Gaussian{2.5}, 1e-6, r))
		if string(text) != want[0] || err != nil || back.UnmarshalText(text) != nil || back != r ||
			!strings.Contains(r.Meaning("user"), want[1]) ||
			!strings.Contains(script, "NeighboringRelation."+want[2]+")") ||
			!strings.Contains(script, "get_epsilon(1e-06)") {
			t.Errorf("%v: %s, %s, %s", r, text, r.Meaning("user"), script)
		}
		if b := (Budget{2, 1e-6, r}).String(); b != fmt.Sprintf("(ε=2, δ=1e-06) under %s", want[0]) {
			t.Error(b)
		}
	}
	if s := Relation(2).Meaning("user"); s != "unknown relation" {
		t.Error(s)
	}
	fixed := Disjoint{Parts: []Event{Gaussian{1}, Gaussian{2}}, Fixed: true}
	if !strings.Contains(Describe(fixed), "fixed beforehand") {
		t.Error(Describe(fixed))
	}
	for b, want := range map[Budget]int{{Epsilon: 10, Delta: 1e-6}: 0, {Epsilon: 10.1, Delta: 1e-6}: 1,
		{Epsilon: 1, Delta: 1e-3}: 1, {Epsilon: 11, Delta: 1e-3}: 2} {
		if s := b.Caution(1000); strings.Count(s, "δ is not below")+strings.Count(s, "guesses") != want {
			t.Errorf("%v: %q, want %d cautions", b, s, want)
		}
	}
	if s := (Budget{Epsilon: 1, Delta: 0.9}).Caution(0); s != "" {
		t.Error(s)
	}
}
