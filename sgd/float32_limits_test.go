package sgd_test

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// column returns a table of one coordinate with the given values, which may be any finite float32.
func column(t *testing.T, values ...float32) *records.Table {
	t.Helper()
	return must(records.FromFlat(records.Interval(1, -math.MaxFloat32, math.MaxFloat32), values))(t)
}

// TestLimitsOfFloat32: clip norms and weights must stay within the range of float32. If a sum
// overflows, or a weight is rounded up by half its size, one record moves the sum by far more than
// the clip norm. This happened in each of the cases before the limits were set.
func TestLimitsOfFloat32(t *testing.T) {
	const huge = 0x1p127
	for name, c := range map[string]struct {
		clip          sgd.Clip
		norm          float64
		with, without []float32
	}{
		"a sum of rows overflows": {nil, 0x1p126, []float32{huge, huge, huge, huge, huge},
			[]float32{huge, huge, huge, huge}},
		"a weight rounds up": {nil, 0x1.9p-149, []float32{1}, nil},
		"a quantile's first norm": {sgd.Quantile{Quantile: 0.5, Initial: 0x1p126, Rate: 0.1,
			NoiseMultiplier: 3}, 0, []float32{huge, huge, huge, huge, huge},
			[]float32{huge, huge, huge, huge}},
		"a private norm": {sgd.DPNorm{MaxNorm: 0x1p126, Bins: 4, NoiseMultiplier: 3},
			0, []float32{huge, huge, huge, huge, huge}, []float32{huge, huge, huge, huge}},
		"a zero gradient times infinity": {sgd.Normalize{Stability: 1e-40}, 0, []float32{5, 5, 5, 0},
			[]float32{5, 5, 5}},
		"a zero gradient": {sgd.Normalize{}, 0, []float32{5, 5, 5, 0},
			[]float32{5, 5, 5}},
		"a zero gradient, least stability": {sgd.Normalize{Stability: 0x1p-60}, 0,
			[]float32{5, 5, 5, 0}, []float32{5, 5, 5}},
		"a zero gradient, next to none": {sgd.Normalize{Stability: 1e-320}, 0,
			[]float32{5, 5, 5, 0}, []float32{5, 5, 5}},
		"the smallest edge of a private norm": {sgd.DPNorm{MaxNorm: 0x1.9p-132, Bins: 1 << 19,
			NoiseMultiplier: 3}, 0, []float32{1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := with(c.clip, 1, 1)
			if c.clip == nil {
				cfg.ClipNorm = c.norm
			}
			if err := cfg.Validate(); err != nil {
				return // refused: there is no guarantee
			}
			a := observe(t, cfg, accountant.AddOrRemoveOne, newCentre(1), column(t, c.with...))
			b := observe(t, cfg, accountant.AddOrRemoveOne, newCentre(1), column(t, c.without...))
			std := a.releases[len(a.releases)-1].Std[0]
			if c.clip != nil {
				for _, r := range a.releases {
					if r.Inexact {
						std = r.Std[0]
					}
				}
			}
			if moved, most := distance(a.sums[0], b.sums[0]),
				std/cfg.NoiseMultiplier; moved > most*(1+1e-6) {
				t.Errorf("one record moves the sum by %v, want at most %v", moved, most)
			}
		})
	}
}
