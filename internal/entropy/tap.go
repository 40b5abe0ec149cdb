package entropy

import "context"

// Release is one joint release as the mechanism saw it. All numbers are on the public grid, before
// and after the noise.
type Release struct {
	Step      uint64 // number of the grant within its run, from 1
	Purpose   string // the ledger line it was drawn under
	Mechanism string // name of the mechanism
	// Effect is declared: the L2 norm, over all parts, of the difference between neighbours divided by
	// Std. Pure mechanisms declare the L1 norm divided by the scale.
	Effect  float64
	Std     []float64   // the standard deviation, or the scale, of the noise of each part
	Grid    []float64   // the public grid of each part
	Inputs  [][]float64 // the exact values, which are private
	Outputs [][]float64 // the released values; a tap may overwrite them
	Inexact bool        // inputs are float32 sums; sums of neighbours agree only up to rounding
}

// Sample is one Poisson sample.
type Sample struct {
	Step        uint64
	Purpose     string
	Probability float64
	Of          int     // number of rows that it was drawn from; private
	Rows        []int32 // private
}

// Tap watches a run from a test. Its methods are called in the order of the run's own calls, and
// one at a time for each run.
type Tap interface {
	// Source returns the source that the next run draws from.
	Source() (*Source, error)
	// Spend is called for every ledger line before its noise is drawn. The event is the accountant's
	// own value. count is the number of uses that were reserved, or zero if one use of an earlier
	// reservation is taken.
	Spend(purpose string, event any, count int, err error)
	// Sample is called for every Poisson sample.
	Sample(Sample)
	// Release is called for every release and may overwrite its outputs; an error ends the run.
	Release(*Release) error
	// Refuse is called for every draw that was refused.
	Refuse(purpose string, err error)
}

type tapKey struct{}

// WithTap returns a context whose runs report to t. Only privacytest and tests call it.
func WithTap(ctx context.Context, t Tap) context.Context {
	return context.WithValue(ctx, tapKey{}, t)
}

// TapFrom returns the tap of the context, or nil if it has none.
func TapFrom(ctx context.Context) Tap {
	t, _ := ctx.Value(tapKey{}).(Tap)
	return t
}
