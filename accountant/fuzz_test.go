package accountant

import (
	"math"
	"testing"
)

func FuzzUnmarshalEvent(f *testing.F) {
	for _, x := range everyEvent() {
		data, err := MarshalEvent(x.e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := UnmarshalEvent(data)
		if err != nil {
			return
		}
		again, err := MarshalEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := UnmarshalEvent(again); err != nil || !EqualEvents(e, back) {
			t.Fatalf("%s: %v", again, err)
		}
		if Describe(e) == "unknown event" {
			t.Fatal(string(again))
		}
	})
}

// FuzzEpsilon: Epsilon never returns NaN, never panics, and never returns less for many uses than
// for one.
func FuzzEpsilon(f *testing.F) {
	f.Add(0.01, 1.1, 1000, 1e-5, 0)
	f.Add(1.0, 1e-300, 1, 1e-12, 1)
	f.Add(1e-300, 1e300, math.MaxInt>>1, 0.9, 2)
	f.Add(0.5, 0.01, 3, 1e-3, 3)
	f.Add(1e-9, 0.2, 1000000, 1e-12, 4)
	f.Add(0.999999999999999, 30., 77, 1e-7, 5)
	f.Add(0.3, 1e-5, many, 1e-7, 6)
	f.Add(0.1, 3., 12, 1e-7, 7)
	f.Add(0.2, 3e4, 100000, 1e-7, 8)
	f.Add(0.001, 0.8, 10, 1e-7, 9)
	f.Add(0.1, 1e-9, 3, 1e-12, 9)
	f.Fuzz(func(t *testing.T, q, sigma float64, steps int, delta float64, kind int) {
		events := []struct {
			e Event
			r Relation
		}{
			{PoissonSampled{q, Gaussian{sigma}}, AddOrRemoveOne},
			{PoissonSampled{q, Gaussian{sigma}}, ReplaceOne}, {SampledSum{q, sigma}, ReplaceOne},
			{Laplace{sigma}, AddOrRemoveOne}, {Gaussian{sigma}, AddOrRemoveOne},
			{PoissonSampled{q, Laplace{sigma}}, AddOrRemoveOne},
			{ExponentialMechanism{1 / sigma, false}, ReplaceOne},
			{DiscreteLaplace{1 / sigma, 2}, ReplaceOne},
			{DiscreteGaussian{sigma, 1}, AddOrRemoveOne},
			{RandomAllocation{int(1 / q), sigma, 0, false}, AddOrRemoveOne},
		}
		x := events[uint(kind)%uint(len(events))]
		if steps < 1 {
			steps = 1
		}
		e := Repeated{x.e, steps}
		b, err := Epsilon(e, delta, x.r)
		if err != nil {
			return
		}
		if math.IsNaN(b.Upper) || math.IsNaN(b.Lower) || math.IsNaN(b.Estimate) ||
			!(0 <= b.Lower && b.Lower <= b.Estimate && b.Estimate <= b.Upper) {
			t.Fatalf("%s δ=%g: %+v", Describe(e), delta, b)
		}
		// One use costs no more than all of them.
		one, err := Epsilon(x.e, delta, x.r)
		if err != nil {
			t.Fatal(err)
		}
		if one.Lower > b.Upper*(1+1e-9) {
			t.Fatalf("%s δ=%g: one use costs at least %g, %d at most %g", Describe(x.e), delta, one.Lower,
				steps, b.Upper)
		}
	})
}
