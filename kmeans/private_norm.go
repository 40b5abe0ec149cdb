package kmeans

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
)

// DPNorm chooses the clip norm from the records, for features without a norm bound:
// a histogram of their norms gets Gaussian noise, and the upper edge of its
// fullest bin is the clip norm.
//
// Norms above Max count in the top bin, so a small Max is not fatal, and norms that are not
// finite in the first: see [mechanism.NormHistogram]. With Min the bins are geometric: the
// first is (0, Min], the others grow by a constant factor up to Max, which covers several
// orders of magnitude.
//
// Source: algorithm 3 of Acs et al. 2019, whose top bin loses larger norms.
type DPNorm struct {
	Max  float64 `json:"max"`
	Min  float64 `json:"min,omitempty"` // 0 for bins of equal width
	Bins int     `json:"bins"`
	// NoiseMultiplier of the histogram: an event of its own.
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

func (d *DPNorm) validate() error {
	if d == nil {
		return nil
	}
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, &param.Error{Path: "kmeans.DPNorm." + field, Value: value, Want: want})
	}
	if !positive(d.Max) {
		bad("Max", d.Max, "a positive finite number")
	}
	if d.Min != 0 && !(isClipNorm(d.Min) && d.Min < d.Max) {
		bad("Min", d.Min, "a number of 2^-60 or more below Max, or 0 for bins of equal width")
	}
	switch {
	case d.Bins < 2 || d.Bins > maxBins:
		bad("Bins", d.Bins, fmt.Sprintf("an integer in [2, %d]", maxBins))
	case positive(d.Max) && d.Min == 0 && !isClipNorm(d.Max/float64(d.Bins)):
		bad("Bins", d.Bins, "bins of width 2^-60 or more")
	}
	if !positive(d.NoiseMultiplier) {
		bad("NoiseMultiplier", d.NoiseMultiplier, "a positive finite number")
	}
	return errors.Join(errs...)
}

const maxBins = 1 << 20

func (d *DPNorm) event() accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: d.NoiseMultiplier}
}

// estimate releases the clip norm. One use of the allowance pays for one histogram.
func (d *DPNorm) estimate(ctx context.Context, a *mechanism.Allowance, s *store) (float64, error) {
	bins, err := mechanism.NewNormHistogram(d.Min, d.Max, d.Bins)
	if err != nil {
		return 0, err
	}
	if s.share != nil {
		bins.InShares()
	}
	err = s.visit(ctx, func(p part) error {
		for i, squared := range s.norms(p) {
			bins.AddShare(squared, s.share.Of(p.lo+i))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	g, err := a.Next()
	if err != nil {
		return 0, err
	}
	return bins.Release(g, d.NoiseMultiplier)
}
