package kmeans

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/param"
)

// History holds what a fit has released so far, all of it public. An interrupted fit
// resumes from it; see [WithHistory].
type History struct {
	ClipNorm   float64 // of the DPNorm; 0 before there is one
	Iterations []Iteration
}

// Iteration is what one iteration has released.
type Iteration struct {
	Sums   []float64 // of features, centres × features
	Counts []float64 // of records, one for each centre
}

func (h *History) add(r released) {
	if h != nil {
		h.Iterations = append(h.Iterations, Iteration{clone(r.sums), clone(r.counts)})
	}
}

// check returns an error for values that a fit with that many iterations left cannot have released.
// Histories come from files.
func (h *History) check(c Config, dim, left int) error {
	if h == nil {
		return nil
	}
	var k param.Checker
	const path = "kmeans.WithHistory."
	k.OK(h.holdsNorm(c.Norm), path+"ClipNorm", h.ClipNorm,
		"a norm that the DPNorm can release, or 0 before the first release or without a DPNorm")
	drawn := c.Iterations - left
	k.OK(len(h.Iterations) <= drawn, path+"Iterations", len(h.Iterations),
		fmt.Sprintf("at most the %d that were drawn", drawn))
	n := c.centers()
	for i, it := range h.Iterations {
		fits := len(it.Sums) == n*dim && len(it.Counts) == n
		k.OK(fits && allFinite(it.Sums) && allFinite(it.Counts), fmt.Sprintf("%sIterations[%d]", path, i),
			fmt.Sprintf("%d and %d numbers", len(it.Sums), len(it.Counts)),
			fmt.Sprintf("%d finite sums and %d finite counts", n*dim, n))
	}
	return k.Err()
}

// holdsNorm reports whether the clip norm is one that could have been released by now.
func (h *History) holdsNorm(d *DPNorm) bool {
	if h.ClipNorm == 0 {
		return d == nil || len(h.Iterations) == 0
	}
	return d != nil && isClipNorm(h.ClipNorm) && h.ClipNorm <= d.Max*(1+0x1p-20)
}

func allFinite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
