package accountant

import (
	"errors"
	"math"
	"testing"
)

// eventOf returns a random event of at most the given depth, of any kind.
func (d draws) eventOf(depth int) Event {
	noise := d.between(1, 30)
	if depth == 0 {
		switch d.IntN(15) {
		case 0:
			return Gaussian{noise}
		case 1:
			return Laplace{noise}
		case 2:
			return DiscreteGaussian{noise, 1}
		case 3:
			return DiscreteLaplace{1 / noise, 1}
		case 4:
			return RandomizedResponse{d.between(0.1, 1), 2 + d.IntN(4)}
		case 5:
			return ExponentialMechanism{Epsilon: 1 / noise}
		case 6:
			return Pure{1 / noise}
		case 7:
			return Approximate{1 / noise, 1e-8}
		case 8:
			return ZCDP{1 / noise / noise}
		case 9:
			return TruncatedPoisson{d.between(0.01, 0.2), 50, 12, noise}
		case 10:
			return SampledSum{d.between(0.01, 1), noise}
		case 11:
			return SameBatch{[]float64{noise, d.between(1, 30)}}
		case 12:
			return GaussianMixture{noise, []float64{0, 1}, []float64{0.75, 0.25}}
		case 13:
			steps := 1 + d.IntN(40)
			return RandomAllocation{steps, noise, d.IntN(min(4, steps+1)), d.IntN(5) == 0}
		}
		return SampledWithoutReplacement{100, 1 + d.IntN(100), Gaussian{noise}}
	}
	a := d.eventOf(depth - 1)
	switch d.IntN(6) {
	case 0:
		return Composed{[]Event{a, d.eventOf(0)}}
	case 1:
		return OneOf{[]Event{a, d.eventOf(0)}}
	case 2:
		return Disjoint{Parts: []Event{a, d.eventOf(0)}, Fixed: d.IntN(2) == 0}
	case 3:
		return PoissonSampled{d.between(0.01, 1), a}
	case 4:
		return RepeatAndSelect{Event: a, Mean: d.between(1, 10), Shape: float64(d.IntN(2))}
	}
	return Repeated{a, 1 + d.IntN(4)}
}

// partsOf returns the events inside e that cost no more than e does: not the samples' own.
func partsOf(e Event) []Event {
	switch e := e.(type) {
	case Composed:
		return e.Events
	case OneOf:
		return e.Events
	case Disjoint:
		return e.Parts
	case RepeatAndSelect:
		return []Event{e.Event}
	case Repeated:
		return []Event{e.Event}
	}
	return nil
}

// TestLawsOfRandomTrees checks laws that hold for events of all kinds, under both relations: an
// event costs no less than its parts, more uses cost no less, a sample costs no more than all
// records, a sample of all records is the event, a larger δ needs no larger ε, the text and the
// reduced event have the same price.
func TestLawsOfRandomTrees(t *testing.T) {
	d := newDraws(92)
	priced := 0
	for range 40 {
		r, delta := Relation(d.IntN(2)), d.between(1e-7, 1e-3)
		e := d.eventOf(d.IntN(3))
		price := func(e Event, delta float64) Bound {
			t.Helper()
			b, err := Epsilon(e, delta, r)
			if errors.Is(err, ErrUnsupported) {
				return Bound{0, 0, math.Inf(1)}
			} else if err != nil || !(0 <= b.Lower && b.Lower <= b.Estimate && b.Estimate <= b.Upper) {
				t.Fatalf("%v %+v: %+v, %v", r, e, b, err)
			}
			return b
		}
		b := price(e, delta)
		if math.IsInf(b.Upper, 1) {
			continue
		}
		priced++
		noMore := func(what string, less, more Bound) {
			t.Helper()
			if less.Lower > more.Upper {
				t.Errorf("%v %s: %+v costs %+v, but %+v at least", r, what, e, more, less)
			}
		}
		for _, p := range partsOf(e) {
			noMore("part", price(p, delta), b)
		}
		noMore("δ", price(e, 2*delta), b)
		noMore("twice", b, price(Repeated{e, 2}, delta))
		noMore("with more", b, price(Composed{[]Event{e, Gaussian{20}}}, delta))
		noMore("sample", price(PoissonSampled{0.3, e}, delta), Bound{Upper: b.Upper})
		if all := price(PoissonSampled{1, e}, delta); all != b {
			t.Errorf("%v a sample of all: %+v costs %+v, want %+v", r, e, all, b)
		}
		back, err := UnmarshalEvent(must[[]byte](t)(MarshalEvent(e)))
		if err != nil || price(back, delta) != b {
			t.Errorf("%v text: %+v costs %+v, want %+v (%v)", r, back, price(back, delta), b, err)
		}
		one, err := must[Reduced](t)(Reduce(e, r)).Price(t.Context(), Budget{Delta: delta}, 0, true)
		if err != nil || one.Bound != b {
			t.Errorf("%v reduced: %+v costs %+v, want %+v (%v)", r, e, one, b, err)
		}
		single, err := must[Reduced](t)(Reduce(e, r)).Price(t.Context(), Budget{Delta: delta}, 8, false)
		if err == nil && single.Upper < b.Lower {
			t.Errorf("%v order 8: %+v costs %+v, want at least %+v", r, e, single, b)
		}
		if there := must[Bound](t)(Delta(e, b.Upper, r)); there.Lower > delta*(1+1e-9) {
			t.Errorf("%v: δ of %+v at ε = %g is %+v, want at most %g", r, e, b.Upper, there, delta)
		}
	}
	if priced < 20 {
		t.Errorf("%d events have a price, want at least 20", priced)
	}
}
