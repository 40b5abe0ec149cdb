package ledger

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// within fails unless lo ≤ v ≤ hi.
func within(t *testing.T, what string, v, lo, hi float64) {
	t.Helper()
	if !(v >= lo && v <= hi) {
		t.Errorf("%s: %.12g is not in [%.12g, %.12g]", what, v, lo, hi)
	}
}

// upper returns the upper end of an event's price.
func upper(t *testing.T, e accountant.Event, delta float64, r accountant.Relation) float64 {
	t.Helper()
	return must[accountant.Price](t)(must[accountant.Reduced](t)(accountant.Reduce(e, r)).Price(
		t.Context(), accountant.Budget{Delta: delta}, 0, false)).Upper
}

// everyEvent returns one event of each kind, with a relation that supports it.
func everyEvent(t testing.TB) map[string]struct {
	e accountant.Event
	r accountant.Relation
} {
	type entry = struct {
		e accountant.Event
		r accountant.Relation
	}
	curve, err := accountant.Tabulate(
		"randomised",
		[]float64{-1, -0.5, 0, 0.5, 1},
		func(e float64) float64 {
			return max(0, 1-math.Exp(e), (math.E-math.Exp(e))/(math.E+1))
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]entry{}
	const both, one = accountant.AddOrRemoveOne, accountant.ReplaceOne
	gaussian := accountant.Gaussian{NoiseMultiplier: 2}
	for _, x := range []entry{
		{gaussian, both},
		{accountant.Laplace{Scale: 3}, both},
		{accountant.DiscreteGaussian{Sigma: 4, Sensitivity: 1}, both},
		{accountant.DiscreteLaplace{A: 0.3, Sensitivity: 2}, both},
		{accountant.RandomizedResponse{Noise: 0.7, Categories: 4}, one},
		{accountant.ExponentialMechanism{Epsilon: 0.2}, both},
		{accountant.Pure{Epsilon: 0.2}, one},
		{accountant.Approximate{Epsilon: 0.2, Delta: 1e-7}, both},
		{accountant.ZCDP{Rho: 0.01}, both},
		{accountant.PoissonSampled{Probability: 0.1, Event: gaussian}, both},
		{accountant.SampledWithoutReplacement{Population: 1000, Sample: 20, Event: gaussian}, one},
		{accountant.TruncatedPoisson{Probability: 0.01, Population: 10000, MaxBatch: 110,
			NoiseMultiplier: 1.5}, both},
		{accountant.SameBatch{NoiseMultipliers: []float64{2, 3}}, both},
		{accountant.SampledSum{Probability: 0.1, NoiseMultiplier: 1}, one},
		{accountant.BandedSum{Probability: 0.1, NoiseMultiplier: 1, Band: []float64{1, 0.5}}, one},
		{accountant.RandomAllocation{Steps: 20, NoiseMultiplier: 1.5}, both},
		{accountant.GaussianMixture{NoiseMultiplier: 2, Sensitivities: []float64{0, 1, 2},
			Probabilities: []float64{0.9, 0.08, 0.02}}, both},
		{accountant.SparseHistogram{Sigma: 10, Threshold: 60, Cells: 2}, both},
		{accountant.Repeated{Event: gaussian, Count: 2}, both},
		{accountant.Composed{Events: []accountant.Event{gaussian, accountant.Laplace{Scale: 9}}}, both},
		{accountant.Disjoint{Parts: []accountant.Event{accountant.PoissonSampled{Probability: 0.1,
			Event: gaussian}, accountant.PoissonSampled{Probability: 0.05, Event: gaussian}}}, both},
		{accountant.RepeatAndSelect{Event: gaussian, Mean: 5, Shape: 1, Poisson: false}, both},
		{curve, both},
	} {
		var form struct{ Kind string }
		if err := json.Unmarshal([]byte(must[string](t)(keyOf(x.e))), &form); err != nil {
			t.Fatal(err)
		}
		out[form.Kind] = x
	}
	return out
}
