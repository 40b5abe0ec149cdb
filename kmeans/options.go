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
	cache    int64

	norm, iterations *mechanism.Allowance // allowances of the fit
	history          *History             // nil if nothing is kept
}

// defaultCache keeps 60,000 records of 784 float32 features in memory twice over.
const defaultCache = 512 << 20

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

// WithBackend computes on the given backend.
func WithBackend(be device.Backend) Option { return func(o *options) { o.be = be } }

// WithProgress reports each iteration, and a private clip norm as iteration 0; its arguments are
// public.
func WithProgress(report func(iteration, of int, epsilonSoFar float64)) Option {
	return func(o *options) { o.progress = report }
}

// WithSeed seeds public randomness: initial centres and splits. Noise cannot be
// seeded.
func WithSeed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// WithCache bounds the memory for features, in bytes. Features that do not fit are
// recomputed in every iteration.
func WithCache(bytes int64) Option { return func(o *options) { o.cache = bytes } }

// WithAllowances makes the fit draw from existing allowances of [Config.Lines] on the fit's
// ledger, instead of making a reservation; norm is nil without a [DPNorm]. Allowances with fewer
// uses belong to an interrupted fit: its lost draws are left out. A clip norm that was lost is
// replaced by DPNorm.Max.
func WithAllowances(norm, iterations *mechanism.Allowance) Option {
	return func(o *options) { o.norm, o.iterations = norm, iterations }
}

// WithHistory stores every release in h before it is reported, for example to save it, and
// starts by replaying those that h holds: with the same configuration, features and seed the fit
// continues as if it had not been interrupted.
func WithHistory(h *History) Option { return func(o *options) { o.history = h } }
