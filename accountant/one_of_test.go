package accountant

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// limited returns the generating function of the number of runs of e, drawn again until it is at
// most limit.
func limited(e RepeatAndSelect, limit int) func(float64) float64 {
	gamma := selectGamma(e.Shape, e.Mean)
	p, total := make([]float64, limit+1), 0.0
	for k, w := 1, 1.0; k <= limit; k++ {
		p[k] = w
		total += w
		w *= (float64(k) + e.Shape) / float64(k+1) * (1 - gamma)
	}
	return func(x float64) float64 {
		sum := 0.0
		for k := limit; k >= 1; k-- {
			sum = (sum + p[k]/total) * x
		}
		return sum
	}
}

// interleaved returns a mechanism that runs one of several mechanisms, chosen at random, and
// reveals the choice. All outcomes together are in a random order of preference.
func interleaved(d *draws, of []outcomes) outcomes {
	var o outcomes
	for _, m := range of {
		for i := range m.p {
			at := d.IntN(len(o.p) + 1)
			insert := func(list []float64, x float64) []float64 {
				return append(list[:at:at], append([]float64{x / float64(len(of))}, list[at:]...)...)
			}
			o.p, o.q = insert(o.p, m.p[i]), insert(o.q, m.q[i])
		}
	}
	return o
}

// TestSelectionAmongCandidatesBruteForce computes divergences and hockey-stick curves of selections
// among a few small mechanisms exactly. Every run chooses one of the mechanisms at random, and the
// best run is released. The number of runs is drawn once, or again until it is at most a limit. No
// exact value is above the claimed bound, and some are above the bound for the first candidate
// alone.
func TestSelectionAmongCandidatesBruteForce(t *testing.T) {
	d := newDraws(78)
	checked, cheapest := 0, 0
	for range 400 {
		var of []outcomes
		var events []Event
		for range 1 + d.IntN(3) {
			eps := d.between(0.05, 2)
			weights := make([]float64, 2+d.IntN(3))
			for i := range weights {
				weights[i] = d.between(1e-4, 1)
			}
			of, events = append(of, responses(eps, weights)), append(events, Pure{eps})
		}
		e := RepeatAndSelect{Event: OneOf{events}, Mean: d.between(1.05, 60),
			Shape: []float64{-0.5, 0, 0.5, 1}[d.IntN(4)]}
		number := runs(e)
		switch d.IntN(3) {
		case 0:
			number = limited(e, 1+d.IntN(80))
		case 1:
			e.Poisson, e.Shape = true, 0
			number = runs(e)
		}
		o := interleaved(&d, of)
		p, q := selected(o.p, number), selected(o.q, number)
		if !resolved(p) || !resolved(q) {
			continue
		}
		first := e
		first.Event = events[0]
		for _, order := range []float64{1.2, 2, 8, 60} {
			claim := must[float64](t)(RDP(e, order, AddOrRemoveOne))
			var moment renyi.LogSum
			for i := range p {
				if p[i] > 0 {
					moment.Add(order*math.Log(p[i]) + (1-order)*math.Log(q[i]))
				}
			}
			truth := moment.Value() / (order - 1)
			if checked++; truth > claim+1e-7*(1+claim) {
				t.Fatalf("%+v order %g: the divergence %g is above the bound %g", e, order, truth, claim)
			}
			if truth > must[float64](t)(RDP(first, order, AddOrRemoveOne)) {
				cheapest++
			}
		}
		for _, eps := range []float64{0.1, 0.5, 1, 2, 3} {
			truth := 0.0
			for i := range p {
				truth += max(0, p[i]-math.Exp(eps)*q[i])
			}
			if b := must[Bound](t)(Delta(e, eps, AddOrRemoveOne)); truth > b.Upper+1e-9 {
				t.Fatalf("%+v: δ(%g) = %g is above the bound %v", e, eps, truth, b)
			}
		}
	}
	if checked < 500 || cheapest == 0 {
		t.Errorf("%d checks and %d values above the first bound, want at least 500 and 1",
			checked, cheapest)
	}
}

// TestOneOfTheDearestParts checks that a selection among runs on parts costs what one among runs on
// the dearest part costs, wherever that part stands.
func TestOneOfTheDearestParts(t *testing.T) {
	dear, cheap := Event(Gaussian{2}), Event(Laplace{1e6})
	alone := must[Bound](t)(Epsilon(RepeatAndSelect{Event: dear, Mean: 5}, 1e-5, AddOrRemoveOne))
	for _, parts := range [][]Event{{dear, cheap}, {cheap, dear}, {cheap, dear, Pure{1e-6}}} {
		e := RepeatAndSelect{Event: Disjoint{Parts: parts, Fixed: true}, Mean: 5}
		if got := must[Bound](t)(Epsilon(e, 1e-5, AddOrRemoveOne)); got.Upper < alone.Upper*(1-1e-9) {
			t.Errorf("%s: ε = %g, want at least %g", Describe(e), got.Upper, alone.Upper)
		}
	}
}

// TestOneOf: each use of a choice costs no less than its worst event.
func TestOneOf(t *testing.T) {
	small, large := PoissonSampled{0.01, Gaussian{1}}, PoissonSampled{0.02, Gaussian{1.4}}
	b := upper(t, Repeated{OneOf{[]Event{small, large}}, 50}, 1e-5, AddOrRemoveOne)
	for _, e := range []Event{small, large} {
		if v := upper(t, Repeated{e, 50}, 1e-5, AddOrRemoveOne); v > b {
			t.Errorf("one of two events costs %g, but %s alone costs %g", b, Describe(e), v)
		}
	}
	same := upper(t, Repeated{OneOf{[]Event{small, small}}, 50}, 1e-5, AddOrRemoveOne)
	if v := upper(t, Repeated{small, 50}, 1e-5, AddOrRemoveOne); v != same {
		t.Errorf("one of two equal events costs %g, want %g of the event", same, v)
	}
	two := upper(t, Composed{[]Event{OneOf{[]Event{Pure{1}, Pure{0.1}}},
		OneOf{[]Event{Pure{0.1}, Pure{1}}}}}, 0, AddOrRemoveOne)
	if two < 2 {
		t.Errorf("two choices that may each cost ε = 1 cost %g together, want at least 2", two)
	}
	for _, e := range []Event{OneOf{}, OneOf{[]Event{nil}}, OneOf{[]Event{Gaussian{-1}}}} {
		if e.check() == nil {
			t.Errorf("the invalid event %+v is accepted", e)
		}
	}
	e := OneOf{[]Event{Repeated{small, 3}, Disjoint{Parts: []Event{large, small}}}}
	text := must[[]byte](t)(MarshalEvent(e))
	if back := must[Event](t)(UnmarshalEvent(text)); !EqualEvents(back, e) {
		t.Errorf("%s read back as %+v", text, back)
	}
	sampled := Disjoint{Parts: []Event{OneOf{[]Event{
		SampledWithoutReplacement{100, 5, Gaussian{1}}, Gaussian{1}}}}}
	if _, err := Epsilon(sampled, 1e-5, ReplaceOne); err == nil {
		t.Error("a subset of a part of private size is priced")
	}
	apart := RepeatAndSelect{Event: Disjoint{Parts: []Event{large, small}}, Mean: 5}
	whole := RepeatAndSelect{Event: OneOf{[]Event{large, small}}, Mean: 5}
	if a, b := upper(t, apart, 1e-5, AddOrRemoveOne), upper(t, whole, 1e-5, AddOrRemoveOne); a != b {
		t.Errorf("a selection among runs in disjoint parts costs %g, want %g", a, b)
	}
}
