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

// defaultCache is enough for 120,000 records of 784 float32 features.
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

// WithBackend sets the backend; the default is the CPU.
func WithBackend(be device.Backend) Option { return func(o *options) { o.be = be } }

// WithProgress calls report after each iteration, and after an estimated clip norm with iteration
// 0. The arguments are public.
func WithProgress(report func(iteration, of int, epsilonSoFar float64)) Option {
	return func(o *options) { o.progress = report }
}

// WithSeed sets the seed of public randomness: initial centres and splits. Noise has no seed.
func WithSeed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// WithCache bounds the memory for features, in bytes. Features that do not fit are
// recomputed in every iteration.
func WithCache(bytes int64) Option { return func(o *options) { o.cache = bytes } }

// WithAllowances makes the fit draw from existing allowances of [Config.Lines] on the fit's ledger,
// instead of making a reservation. norm is nil without a [DPNorm]. Allowances with fewer uses left
// belong to an interrupted fit, whose lost draws are left out. A lost clip norm is replaced by
// DPNorm.Max.
func WithAllowances(norm, iterations *mechanism.Allowance) Option {
	return func(o *options) { o.norm, o.iterations = norm, iterations }
}

// WithHistory stores every release in h before it is reported, for example so that it can be saved.
// The fit starts by replaying the releases already in h: with the same configuration, features and
// seed it continues as if it had not been interrupted.
func WithHistory(h *History) Option { return func(o *options) { o.history = h } }
