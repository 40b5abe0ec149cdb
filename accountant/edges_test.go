package accountant

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// TestSampledSumOfAll: under replace-one, a sum of all or nearly all records costs the same as a
// Gaussian with a sensitivity of two clip norms.
func TestSampledSumOfAll(t *testing.T) {
	want := upper(t, Gaussian{1}, 1e-5, ReplaceOne)
	for _, q := range []float64{1, 1 - 1e-13} {
		if got := upper(t, SampledSum{q, 2}, 1e-5, ReplaceOne); got < want || got > want*1.001 {
			t.Errorf("q = %v: ε = %v, want %v", q, got, want)
		}
	}
	if got, want := upper(t, SampledSum{1, 2}, 1e-5, AddOrRemoveOne),
		upper(t, Gaussian{2}, 1e-5, AddOrRemoveOne); got != want {
		t.Errorf("add or remove: ε = %v, want %v", got, want)
	}
}

// TestTabulatedCurves: a table of Gaussian curves never costs less than the Gaussian of the more
// expensive direction, and only a little more.
func TestTabulatedCurves(t *testing.T) {
	var grid []float64
	for e := -9.0; e <= 9; e += 0.02 {
		grid = append(grid, e)
	}
	curve := func(mu float64) func(float64) float64 {
		return func(e float64) float64 { return pld.GaussianDelta(mu, e) }
	}
	for _, c := range []struct {
		name        string
		remove, add func(float64) float64
		mu          float64 // of the direction that costs more
	}{
		{"one curve", curve(1), nil, 1},
		{"adding costs a little more", curve(1), curve(1.02), 1.02},
		{"removing costs a little more", curve(1.02), curve(1), 1.02},
	} {
		e, err := Tabulate(c.name, grid, c.remove, c.add)
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range []int{1, 7} {
			got := upper(t, Repeated{e, count}, 1e-5, AddOrRemoveOne)
			want := upper(t, Repeated{Gaussian{1 / c.mu}, count}, 1e-5, AddOrRemoveOne)
			if got < want*(1-1e-6) || got > want*1.01 {
				t.Errorf("%s, %d times: ε = %v, want %v or little more", c.name, count, got, want)
			}
		}
	}
}

// TestPartsHaveNoPublicSize checks that a part refuses events that depend on a number of records.
// The size of a part is private.
func TestPartsHaveNoPublicSize(t *testing.T) {
	for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
		e := Disjoint{Parts: []Event{TruncatedPoisson{0.1, 1000, 150, 2}, Gaussian{2}}}
		if b, err := Epsilon(e, 1e-5, r); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v: a truncated sample inside a part costs %v (%v)", r, b, err)
		}
	}
}
