package kmeans

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
)

// DPNorm estimates the clip norm from the records, for features without a norm bound. Gaussian
// noise is added to a histogram of the norms. The clip norm is the upper edge of the bin with the
// largest noisy count.
//
// Norms above Max count in the last bin, so that the estimate also works if Max is too small. Norms
// that are not finite count in the first bin. See [mechanism.NormHistogram]. With Min the bins are
// geometric and cover several orders of magnitude. The first bin is (0, Min], and the edges of the
// other bins increase by a constant factor up to Max.
//
// Source: algorithm 3 of Acs et al. 2019, which does not count norms above the last bin.
type DPNorm struct {
	Max  float64 `json:"max"`
	Min  float64 `json:"min,omitempty"` // 0 for bins of equal width
	Bins int     `json:"bins"`
	// NoiseMultiplier is the noise multiplier of the histogram's release, which is a separate event.
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

func (d *DPNorm) validate(k *param.Checker) {
	if d == nil {
		return
	}
	const path = "kmeans.DPNorm."
	k.OK(d.Max > 0 && d.Max <= largestNorm, path+"Max", d.Max, "a positive number, at most 2^100")
	k.OK(d.Min == 0 || mechanism.IsClipNorm(d.Min) && d.Min < d.Max, path+"Min", d.Min,
		"a number of 2^-60 or more below Max, or 0 for bins of equal width")
	k.OK(d.Bins >= 2 && d.Bins <= maxBins, path+"Bins", d.Bins,
		fmt.Sprintf("an integer in [2, %d]", maxBins))
	width := d.Max / float64(max(d.Bins, 1))
	k.OK(d.Min != 0 || !(d.Max > 0 && d.Max <= largestNorm) || mechanism.IsClipNorm(width),
		path+"Bins", d.Bins, fmt.Sprintf("fewer bins, of width 2^-60 or more; this width is %v", width))
	z := d.NoiseMultiplier
	k.OK(mechanism.IsNoiseMultiplier(z) && z >= mechanism.MinArgmaxMultiplier, path+"NoiseMultiplier",
		z, "a number in [2^-24, 2^24]")
}

const maxBins = 1 << 20

func (d *DPNorm) event() accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: d.NoiseMultiplier}
}

// histogram returns the empty histogram.
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

// estimate releases the clip norm with one use of the allowance. The function count fills the
// histogram.
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

// A counting function counts the norms of all records. It returns true if they were computed on a
// backend without the promises that isReal checks. A norm may then depend on other records.
type counting func(context.Context, *mechanism.NormHistogram) (real bool, err error)
