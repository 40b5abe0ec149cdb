package entropy

import "context"

// Release is one joint release as the mechanism saw it. All numbers are on the
// public grid, before and after the noise.
type Release struct {
	Step      uint64 // number of the grant within its run, from 1
	Purpose   string // the ledger line it was drawn under
	Mechanism string // name of the mechanism
	// declared: L2 norm of (neighbours' difference ÷ Std) over all parts; pure mechanisms declare L1 ÷
	// scale
	Effect  float64
	Std     []float64   // noise standard deviation (or scale) of each part
	Grid    []float64   // public grid of each part
	Inputs  [][]float64 // the exact values: private
	Outputs [][]float64 // the released values; a tap may overwrite them
	Inexact bool        // inputs are float32 sums, equal for neighbours only to rounding
}

// Sample is one Poisson sample.
type Sample struct {
	Step        uint64
	Purpose     string
	Probability float64
	Of          int     // number of rows that it was drawn from; private
	Rows        []int32 // private
}

// Tap watches a run from a test. Its methods are called in the order of the
// run's own calls, one at a time for each run.
type Tap interface {
	// Source returns the source the next run draws from.
	Source() (*Source, error)
	// Spend is called for every ledger line before its noise is drawn. The event is the accountant's
	// own value. count is how many were reserved, or zero where one of an earlier reservation is
	// taken.
	Spend(purpose string, event any, count int, err error)
	// Sample is called for every Poisson sample.
	Sample(Sample)
	// Release is called for every release and may overwrite its outputs; an error ends the run.
	Release(*Release) error
	// Refuse is called for every draw that was refused.
	Refuse(purpose string, err error)
}

type tapKey struct{}

// WithTap returns a context whose runs report to t. Only privacytest calls it.
func WithTap(ctx context.Context, t Tap) context.Context {
	return context.WithValue(ctx, tapKey{}, t)
}

// TapFrom returns the context's tap, or nil.
func TapFrom(ctx context.Context) Tap {
	t, _ := ctx.Value(tapKey{}).(Tap)
	return t
}
