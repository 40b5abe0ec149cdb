package kmeans_test

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/records"
)

// TestClipNormsTooSmallForFloat32 checks that clip norms near the smallest float32 are refused.
// With such a clip norm, rounding could increase the norm of a clipped row by a large fraction. The
// row would exceed the clip norm for which the noise is chosen.
func TestClipNormsTooSmallForFloat32(t *testing.T) {
	const tiny = 1.7 * 0x1p-149
	schema := records.Interval(8, -1, 1)
	row := [][]float32{{.6, .6, .6, .6, .6, .6, .6, .6}}
	for name, set := range map[string]func(*kmeans.Config){
		"given": func(c *kmeans.Config) { c.ClipNorm = tiny },
		"estimated": func(c *kmeans.Config) {
			c.Norm = &kmeans.DPNorm{Max: 2 * tiny, Bins: 2, NoiseMultiplier: 0.1}
		},
	} {
		cfg := kmeans.Config{K: 1, Iterations: 1, NoiseMultiplier: 1,
			Init: kmeans.Init{Method: kmeans.Given, Centers: [][]float32{{1, 1, 1, 1, 1, 1, 1, 1}}}}
		set(&cfg)
		if err := cfg.Validate(); err != nil {
			continue // refused, so nothing is promised
		}
		rec := &recorder{seed: 1}
		tapped(t, rec, cfg, kmeans.Raw(schema), table(t, schema, row), accountant.AddOrRemoveOne)
		last := rec.releases[len(rec.releases)-1]
		sum := 0.0
		for p, in := range last.Inputs {
			for _, v := range in {
				sum += v / last.Std[p] * v / last.Std[p]
			}
		}
		if got := math.Sqrt(sum); got > last.Effect*(1+1e-9) {
			t.Errorf("%s: one record has effect %v, more than the declared %v", name, got, last.Effect)
		}
	}
	// The features' norm bound must not be too small either. It is used if no clip norm is given.
	cfg := kmeans.Config{K: 1, Iterations: 1, NoiseMultiplier: 1}
	for _, bound := range []float64{tiny, math.NaN(), math.Inf(1), 0, -1} {
		f := stubborn{Features: kmeans.Raw(schema), bound: bound}
		if _, err := kmeans.Fit(t.Context(), cfg, f, table(t, schema, row),
			ledgerOf(accountant.AddOrRemoveOne)); err == nil {
			t.Errorf("Fit accepts features with norm bound %v, want an error", bound)
		}
	}
}

// TestPrivateRecordsAsPublicOnes checks that the private records, or a part or a view of them, are
// refused as public records. Otherwise the fit would start at clusters of the private records, and
// thus release them without noise.
func TestPrivateRecordsAsPublicOnes(t *testing.T) {
	data := table(t, square, [][]float32{{1, 2}, {3, 4}})
	for name, public := range map[string]records.Data{
		"the records": data, "all of them": data.Slice(0, 2), "one of them": data.Slice(1, 2),
		"a row of them": data.Take([]int32{1}), "a wrapper": &struct{ records.Data }{data},
		"a statement": records.WithUnit(data, records.UnitUser),
	} {
		cfg := kmeans.Config{K: 2, Iterations: 1, NoiseMultiplier: 1,
			Init: kmeans.Public(records.DeclarePublic(public))}
		l := ledgerOf(accountant.AddOrRemoveOne)
		_, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), data, l)
		if err == nil {
			t.Errorf("%s: Fit accepts private records as public ones, want an error", name)
		}
		if len(l.Entries()) != 0 {
			t.Errorf("%s: a refused fit has a ledger entry", name)
		}
	}
}
