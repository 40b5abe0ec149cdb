package mechanism_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
)

// sparse returns a run on a ledger of a large budget.
func sparse(ctx context.Context) *mechanism.Run {
	return mechanism.Begin(ctx, ledger.New(accountant.Budget{Epsilon: 1e30, Delta: 0.9}))
}

// TestSparseHistogramLaw checks how often counts are released, and the law of the noisy counts. The
// bounds are seven standard errors, so that a false alarm has a probability below 1e-10. A
// threshold that is lower by 1, or noise that is off by a tenth, is at least twice as far away.
func TestSparseHistogramLaw(t *testing.T) {
	const n, many = 20_000, 1 << 30
	e := accountant.SparseHistogram{Sigma: 2, Threshold: 4, Cells: 2}
	counts := []map[string]int64{{"none": 0, "below": -3}, {}}
	for i := range n {
		counts[0][fmt.Sprint("one ", i)] = 1
		counts[1][fmt.Sprint("many ", i)] = many
	}
	grant := must(sparse(t.Context()).Spend("texts", e))(t)
	out, err := grant.SparseHistogram(counts)
	if err != nil {
		t.Fatal(err)
	}
	for text, noisy := range out[0] {
		if counts[0][text] != 1 || noisy < e.Threshold {
			t.Fatalf("a count of %d was released, as %v", counts[0][text], noisy)
		}
	}
	if len(out[1]) != n {
		t.Fatalf("%d of %d large counts were released", len(out[1]), n)
	}
	sum, square := 0.0, 0.0
	for _, noisy := range out[1] {
		sum += noisy - many
		square += (noisy - many) * (noisy - many)
	}
	p := math.Erfc((e.Threshold-1)/e.Sigma/math.Sqrt2) / 2
	near := func(what string, got, want, err float64) {
		if math.Abs(got-want) > 7*err {
			t.Errorf("%s: %v, want %v ± %v", what, got, want, err)
		}
	}
	near("rate of a count of 1", float64(len(out[0]))/n, p, math.Sqrt(p*(1-p)/n))
	near("mean of the noise", sum/n, 0, e.Sigma/math.Sqrt(n))
	near("variance of the noise", square/n, 4, 4*math.Sqrt(2./n))
}

// TestSparseHistogramReachesItsThreshold: a noisy count is released from one step of the grid above
// the threshold on. With noise that is rounded to the nearest step, a count of 1 that were released
// at the threshold would be released more often than the event says.
func TestSparseHistogramReachesItsThreshold(t *testing.T) {
	const many, sigma, step = 1 << 30, 2, 0x1p-15
	released := func(threshold float64, count int64) map[string]float64 {
		ctx := privacytest.Seeded(t, t.Context(), 1)
		grant := must(sparse(ctx).Spend("texts", accountant.SparseHistogram{Sigma: sigma,
			Threshold: threshold, Cells: 1}))(t)
		counts := map[string]int64{}
		for i := range 20 {
			counts[fmt.Sprint(i)] = count
		}
		out := must(grant.SparseHistogram([]map[string]int64{counts}))(t)
		return out[0]
	}
	tried := 0
	for text, noisy := range released(2, many) {
		noise := noisy - many
		if math.Mod(noise, step) != 0 {
			t.Fatalf("noise %v, want multiples of %v", noise, step)
		}
		if noise <= step { // a threshold is above 1
			continue
		}
		tried++
		if v, ok := released(1+noise, 1)[text]; ok {
			t.Errorf("a noisy count of %v is released at the threshold %v", v, 1+noise)
		}
		if _, ok := released(1+noise-step, 1)[text]; !ok {
			t.Errorf("a noisy count of %v is not released one step above the threshold", 1+noise)
		}
	}
	if tried < 3 {
		t.Errorf("%d texts with positive noise, want 3 or more", tried)
	}
}

// TestSparseHistogramIsCovered: nothing else draws under the event, it draws under no other event,
// and once only; noise that fits no grid is refused.
func TestSparseHistogramIsCovered(t *testing.T) {
	spend := func(e accountant.Event) *mechanism.Grant {
		return must(sparse(t.Context()).Spend("texts", e))(t)
	}
	e := accountant.SparseHistogram{Sigma: 2, Threshold: 4, Cells: 1}
	counts := []map[string]int64{{"a": 9}}
	g := spend(e)
	if _, err := g.SparseHistogram(counts); err != nil {
		t.Fatal(err)
	}
	if _, err := g.SparseHistogram(counts); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("a second call: %v", err)
	}
	if _, err := spend(accountant.Gaussian{NoiseMultiplier: 2}).SparseHistogram(
		counts); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("under a Gaussian: %v", err)
	}
	if _, err := spend(e).NoisyArgmax([]int64{1}, 2, 0.1); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("another mechanism: %v", err)
	}
	for _, e := range []accountant.SparseHistogram{{Sigma: 1e-9, Threshold: 2, Cells: 1},
		{Sigma: 1e-6, Threshold: 1e9, Cells: 1}} {
		if _, err := spend(e).SparseHistogram(counts); !errors.Is(err, mechanism.ErrNotCovered) {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
