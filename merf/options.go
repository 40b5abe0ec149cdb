package merf

import (
	"time"

	"github.com/seed7ba64551/privgen/device"
)

// Progress is how far a run is, in public numbers only.
type Progress struct {
	Stage    string // PurposeEmbed or StageTrain
	Step, Of int
	Epsilon  float64 // of everything released so far, at the budget's δ; informational
	Elapsed  time.Duration
}

// StageTrain is the stage of training a generator, which costs nothing.
const StageTrain = "generator"

// Option is something about a run that cannot change its guarantee.
type Option func(*options)

type options struct {
	backend  device.Backend
	progress func(Progress)
}

// WithBackend runs the arithmetic on the given backend; default device.CPU.
func WithBackend(b device.Backend) Option { return func(o *options) { o.backend = b } }

// WithProgress is called after every release and every step of training.
func WithProgress(f func(Progress)) Option { return func(o *options) { o.progress = f } }

func collect(opts []Option) options {
	o := options{}
	for _, apply := range opts {
		if apply != nil {
			apply(&o)
		}
	}
	if o.backend == nil {
		o.backend = device.CPU()
	}
	if o.progress == nil {
		o.progress = func(Progress) {}
	}
	return o
}
