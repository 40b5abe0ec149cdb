package kmeans

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
)

// History holds the releases that a fit has made so far. They are public. An interrupted fit
// resumes from its History; see [WithHistory].
type History struct {
	ClipNorm   float64 // released clip norm of a DPNorm; 0 before its release
	Iterations []Iteration
}

// Iteration holds the release of one iteration.
type Iteration struct {
	Sums   []float64 // noisy sums of features: centres × features
	Counts []float64 // noisy numbers of records, one for each centre
}

func (h *History) add(r released) {
	if h != nil {
		h.Iterations = append(h.Iterations, Iteration{slices.Clone(r.sums), slices.Clone(r.counts)})
	}
}

// check returns an error for values that no fit can have released with the given number of
// iterations left. Histories may come from files.
func (h *History) check(c Config, dim, left int) error {
	if h == nil {
		return nil
	}
	var k param.Checker
	const path = "kmeans.WithHistory."
	k.OK(h.holdsNorm(c.Norm), path+"ClipNorm", h.ClipNorm,
		"a norm that the DPNorm can release, or 0 without a DPNorm and before the first iteration")
	drawn := c.Iterations - left
	k.OK(len(h.Iterations) <= drawn, path+"Iterations", len(h.Iterations),
		fmt.Sprintf("at most %d, the number of iterations already drawn", drawn))
	n := c.centers()
	for i, it := range h.Iterations {
		fits := len(it.Sums) == n*dim && len(it.Counts) == n
		k.OK(fits && allFinite(it.Sums) && allFinite(it.Counts), fmt.Sprintf("%sIterations[%d]", path, i),
			fmt.Sprintf("%d and %d numbers", len(it.Sums), len(it.Counts)),
			fmt.Sprintf("%d finite sums and %d finite counts", n*dim, n))
	}
	return k.Err()
}

// holdsNorm reports whether d can have released the clip norm. If nothing has been released, the
// clip norm must be 0.
func (h *History) holdsNorm(d *DPNorm) bool {
	if h.ClipNorm == 0 {
		return d == nil || len(h.Iterations) == 0
	}
	return d != nil && mechanism.IsClipNorm(h.ClipNorm) && h.ClipNorm <= d.Max*(1+0x1p-20)
}

func allFinite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat64) })
}
