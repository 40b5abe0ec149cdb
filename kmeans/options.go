package kmeans

import (
	"github.com/seed7ba64551/privgen/device"
)

// Option changes how a fit runs and never what it guarantees.
type Option func(*options)

type options struct {
	be       device.Backend
	progress func(iteration, of int, epsilonSoFar float64)
	seed     uint64
	cache    int64
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

// WithProgress reports each iteration; all it is told is public.
func WithProgress(report func(iteration, of int, epsilonSoFar float64)) Option {
	return func(o *options) { o.progress = report }
}

// WithSeed seeds public randomness: initial centres and splits. Noise cannot be
// seeded.
func WithSeed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// WithCache bounds the memory for features, in bytes. Features that do not fit
// are made again in every iteration.
func WithCache(bytes int64) Option { return func(o *options) { o.cache = bytes } }
