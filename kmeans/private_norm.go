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
	// NoiseMultiplier of the histogram, which is a separate event.
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

// histogram is the norm's, without counts.
func (d *DPNorm) histogram(inShares bool) (*mechanism.NormHistogram, error) {
	bins, err := mechanism.NewNormHistogram(d.Min, d.Max, d.Bins)
	if err == nil && inShares {
		bins.InShares()
	}
	return bins, err
}

// countNorms counts the norms of a store's records.
func countNorms(ctx context.Context, bins *mechanism.NormHistogram, s *store) error {
	return s.visit(ctx, func(p part) error {
		for i, squared := range s.norms(p) {
			bins.AddShare(squared, s.share.Of(p.lo+i))
		}
		return nil
	})
}

// estimate releases the clip norm. One use of the allowance pays for one histogram, which count
// fills; it reports whether a record's norm may depend on others.
func (d *DPNorm) estimate(ctx context.Context, a *mechanism.Allowance, inShares bool,
	count counting) (float64, error) {
	bins, err := d.histogram(inShares)
	if err != nil {
		return 0, err
	}
	real, err := count(ctx, bins)
	if err != nil {
		return 0, err
	}
	g, err := a.Next()
	if err != nil {
		return 0, err
	}
	if real {
		g.NoteReal()
	}
	return bins.Release(g, d.NoiseMultiplier)
}

// counting counts the norms of all records, and reports whether they rest on arithmetic that makes
// no promises of one record apart from the others.
type counting func(context.Context, *mechanism.NormHistogram) (real bool, err error)
