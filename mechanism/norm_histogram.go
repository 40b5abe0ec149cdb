package mechanism

import (
	"fmt"
	"math"
	"sort"

	"github.com/seed7ba64551/privgen/internal/param"
)

// NormHistogram chooses a clip norm from the norms to be clipped. It counts the norms in bins of
// (0, most], adds Gaussian noise to the counts, and returns the upper edge of the bin with the
// largest noisy count.
//
// Every norm counts in exactly one bin. A norm above most counts in the top bin, so a value of most
// that is too small does little harm. A norm that is not finite counts in the first bin, because
// [ClipFactor] turns such a row into zero.
//
// A NormHistogram holds private numbers; only Release reads them. It is not safe for concurrent
// use. Source: Acs, Melis, Castelluccia and De Cristofaro 2019, algorithm 3, which does not count
// norms above the top bin.
type NormHistogram struct {
	*hiddenCounts
}

// hiddenCounts keeps counts behind two pointers: see hiddenSum.
type hiddenCounts struct {
	*normCounts
}

type normCounts struct {
	edges  []float64 // upper edges, ascending
	counts []int64
	unit   float64 // value of one step of counts: 1, or shareStep
}

// mostNormBins bounds the memory that a configuration file can request.
const mostNormBins = 1 << 20

// NewNormHistogram returns an empty histogram. If least is 0, all bins have the same width.
// Otherwise the first bin is (0, least], and the upper edges grow by a constant factor up to most;
// such bins can cover several decades.
//
// Errors: *[param.Error], joined, for edges that do not increase from above 0 to a finite number,
// and for a number of bins outside [1, 2^20]. If least is positive, the smallest number of bins is
// 2.
func NewNormHistogram(least, most float64, bins int) (*NormHistogram, error) {
	var c param.Checker
	c.OK(most > 0 &&
		!math.IsInf(most, 0), "mechanism.NormHistogram: most", most, "a positive finite number")
	c.OK(least == 0 || least > 0 && least < most, "mechanism.NormHistogram: least", least,
		"a positive number below most, or 0 for bins of equal width")
	c.OK(bins >= 1 && bins <= mostNormBins &&
		(bins > 1 || least == 0), "mechanism.NormHistogram: bins", bins,
		"an integer in [1, 2^20], at least 2 for bins that grow")
	if err := c.Err(); err != nil {
		return nil, err
	}
	n := &normCounts{edges: make([]float64, bins), counts: make([]int64, bins), unit: 1}
	h := &NormHistogram{&hiddenCounts{n}}
	for j := range h.edges {
		if least > 0 {
			h.edges[j] = least * math.Pow(most/least, float64(j)/float64(bins-1))
		} else {
			h.edges[j] = most * float64(j+1) / float64(bins)
		}
	}
	h.edges[bins-1] = most
	return h, nil
}

// Reset sets all counts to zero.
func (h *NormHistogram) Reset() { clear(h.counts) }

// Add counts one row by its squared norm.
func (h *NormHistogram) Add(squaredNorm float64) { h.AddShare(squaredNorm, 1) }

// InShares prepares an empty histogram for counts that are fractions of 1.
func (h *NormHistogram) InShares() { h.unit = shareStep }

// AddShare counts a row as a fraction of 1 that is a multiple of 2^-20. The rows of one person then
// count 1 together. Without [NormHistogram.InShares] the share must be 1.
func (h *NormHistogram) AddShare(squaredNorm, share float64) {
	h.counts[h.bin(squaredNorm)] += int64(share / h.unit)
}

// Counts returns the counts as a sum with one coordinate for each bin. The sum can be sealed and
// merged with the counts of other records.
func (h *NormHistogram) Counts() *FixedSum {
	s := NewFixedSum(len(h.counts), h.unit)
	copy(s.sum, h.counts)
	return s
}

// AddCounts adds counts of other records, as Counts returned them.
//
// Errors: *[param.Error] if the sum has other bins or units.
func (h *NormHistogram) AddCounts(s *FixedSum) error {
	if s.Dim() != len(h.counts) || s.Grid() != h.unit {
		return param.New("mechanism.NormHistogram.AddCounts", s.Dim(),
			fmt.Sprintf("%d counts on the grid %v, as Counts returns them", len(h.counts), h.unit))
	}
	for i, v := range s.sum {
		h.counts[i] += v
	}
	return nil
}

// bin returns the first bin whose upper edge is at least the norm, or the last bin.
func (h *NormHistogram) bin(squaredNorm float64) int {
	if !(squaredNorm >= 0) || math.IsInf(squaredNorm, 0) {
		return 0 // the row becomes zero
	}
	norm := math.Sqrt(squaredNorm)
	return sort.Search(len(h.edges)-1, func(j int) bool { return norm <= h.edges[j] })
}

// Release draws the noise and returns the chosen clip norm.
//
// Guarantee: a Gaussian release of the given noise multiplier under the run's relation (noise
// class: exact). It holds if every record has added at most one row, or rows whose shares add up to
// 1. Units: noiseMultiplier is the standard deviation of each count's noise ÷ the histogram's
// sensitivity, see [HistogramSensitivity]. Errors: [ErrNotCovered]; nothing has then been drawn.
func (h *NormHistogram) Release(g *Grant, noiseMultiplier float64) (clipNorm float64, err error) {
	sensitivity := HistogramSensitivity(g.a.run.Relation())
	std := noiseMultiplier * sensitivity
	j, err := g.NoisyArgmax(h.counts, std/h.unit, g.SumEffect(1, sensitivity, std))
	if err != nil {
		return 0, err
	}
	return h.edges[j], nil
}
