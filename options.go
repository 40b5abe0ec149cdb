package privgen

import (
	"time"

	"github.com/seed7ba64551/privgen/device"
)

// Option is something about a run that cannot change its guarantee: a plan is
// the same with and without every option.
type Option func(*options)

type options struct {
	backend  device.Backend
	progress func(Progress)
	preview  func(int, *Generator)
	every    int // steps between previews
}

func collect(opts []Option) options {
	var o options
	for _, apply := range opts {
		if apply != nil {
			apply(&o)
		}
	}
	return o
}

// On runs the arithmetic on a backend, for example device.CPUWith(1). The
// default uses every core.
func On(b device.Backend) Option { return func(o *options) { o.backend = b } }

// OnProgress has f called after every private stage, such as an iteration of clustering or a batch of mixtures, and
// every step of training, on the goroutine that called Fit.
func OnProgress(f func(Progress)) Option { return func(o *options) { o.progress = f } }

// OnPreview is handed the generator as it is, every so many steps and once before the first, by the systems that train one
// privately step by step: GAN does, others leave it alone. It is released state, so looking at it costs nothing.
func OnPreview(every int, f func(step int, g *Generator)) Option {
	return func(o *options) { o.preview, o.every = f, every }
}

// Progress is how far a run is, in public numbers only. A loss is a private
// statistic and is not among them.
type Progress struct {
	Stage    string
	Step, Of int
	Epsilon  float64 // of everything released so far, at the budget's δ; informational
	Elapsed  time.Duration
}
