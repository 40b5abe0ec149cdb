package kmeans

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
)

// Option is a setting of a fit that cannot change its guarantee.
type Option func(*options)

type options struct {
	be       device.Backend
	progress func(iteration, of int, epsilonSoFar float64)
	seed     uint64
	cache    int64 // bytes for features; if they do not fit, every iteration computes them again

	norm, iterations *mechanism.Allowance // allowances of the fit
	history          *History             // nil if nothing is kept
}

// defaultCache is enough for 60,000 records of 500 float32 features.
const defaultCache = 128 << 20

func newOptions(opts []Option) options {
	o := options{cache: defaultCache}
	for _, apply := range opts {
		if apply != nil {
			apply(&o)
		}
	}
	if o.be == nil {
		o.be = device.CPU()
	}
	return o
}

// WithBackend sets the backend. The default is the CPU.
func WithBackend(be device.Backend) Option { return func(o *options) { o.be = be } }

// WithProgress calls report after each iteration, and with iteration 0 after an estimated clip norm
// has been released. The arguments are public.
func WithProgress(report func(iteration, of int, epsilonSoFar float64)) Option {
	return func(o *options) { o.progress = report }
}

// WithSeed sets the seed of the public randomness, which draws initial centres and splits. Noise
// has no seed.
func WithSeed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// WithAllowances makes the fit use existing allowances of [Config.Lines] on the fit's ledger,
// instead of making a reservation. norm must be nil without a [DPNorm]. If an allowance has fewer
// uses left than its line, the fit was interrupted before. It then leaves out the iterations that
// were lost, and replaces a lost clip norm by DPNorm.Max.
func WithAllowances(norm, iterations *mechanism.Allowance) Option {
	return func(o *options) { o.norm, o.iterations = norm, iterations }
}

// WithHistory stores every release in h before it is reported, so that the caller can save it. The
// fit begins by replaying the releases that are already in h. With the same configuration, features
// and seed it then continues as if it had not been interrupted. The rest of the interrupted fit's
// reservation must be given by [WithAllowances]; otherwise the fit is refused before it pays again.
func WithHistory(h *History) Option { return func(o *options) { o.history = h } }
