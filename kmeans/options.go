package kmeans

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
)

// Option changes how a fit runs and never what it guarantees.
type Option func(*options)

type options struct {
	be       device.Backend
	progress func(iteration, of int, epsilonSoFar float64)
	seed     uint64
	cache    int64

	norm, iterations *mechanism.Allowance // what the fit may draw
	history          *History             // nil where nothing is to be kept
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

// WithBackend runs products on another device.
func WithBackend(be device.Backend) Option { return func(o *options) { o.be = be } }

// WithProgress reports each iteration, and as iteration 0 a private clip norm; all it is told is
// public.
func WithProgress(report func(iteration, of int, epsilonSoFar float64)) Option {
	return func(o *options) { o.progress = report }
}

// WithSeed seeds public randomness: initial centres and splits. Noise cannot be
// seeded.
func WithSeed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// WithCache bounds the memory for features, in bytes. Features that do not fit
// are made again in every iteration.
func WithCache(bytes int64) Option { return func(o *options) { o.cache = bytes } }

// WithAllowances has the fit draw from allowances that were reserved before, of [Config.Lines] on
// the fit's ledger, instead of making a reservation; norm is nil without a [DPNorm]. Allowances
// that hold fewer uses are those of a fit that was interrupted: what it drew and lost is left
// out. A clip norm that was lost is replaced by DPNorm.Max.
func WithAllowances(norm, iterations *mechanism.Allowance) Option {
	return func(o *options) { o.norm, o.iterations = norm, iterations }
}

// WithHistory keeps every release in h before it is reported, for example to save it, and begins
// by following those that h holds: under the same configuration, features and seed the fit then
// goes on as if it had not been interrupted.
func WithHistory(h *History) Option { return func(o *options) { o.history = h } }
