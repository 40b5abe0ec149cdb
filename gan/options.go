package gan

import (
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
)

// Progress is how far a run is, in public numbers only.
type Progress struct {
	Stage    string // StageWarm or PurposeCritic
	Step, Of int
	Epsilon  float64 // of everything released so far, at the budget's δ; informational
	Elapsed  time.Duration
}

// StageWarm is the stage of training on public records, which costs nothing.
const StageWarm = "warm start"

// Option is something about a run that cannot change its guarantee.
type Option func(*options)

type options struct {
	backend    device.Backend
	progress   func(Progress)
	preview    func(step int, m *Model)
	previewAt  int
	checkpoint string
	keepEvery  int
}

// WithBackend runs the arithmetic on the given backend; default device.CPU.
func WithBackend(b device.Backend) Option { return func(o *options) { o.backend = b } }

// WithProgress is called after every step.
func WithProgress(f func(Progress)) Option { return func(o *options) { o.progress = f } }

// WithPreview hands out the generator as it is, as a model of its own, every so many critic steps, and once before the
// first. It is released state like the final model: looking at it costs nothing.
func WithPreview(every int, f func(step int, m *Model)) Option {
	return func(o *options) { o.preview, o.previewAt = f, every }
}

// WithCheckpoint keeps a checkpoint in a file, from which OpenCheckpoint lets a run that was killed go on. It is
// written whole or not at all, first before the first step and then every so many critic steps. A file that is there
// already is refused: it is somebody's spending.
//
// Guarantee: as for Checkpoint.
func WithCheckpoint(path string, every int) Option {
	return func(o *options) { o.checkpoint, o.keepEvery = path, every }
}

func collect(opts []Option) (options, error) {
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
	var k param.Checker
	k.OK(o.preview == nil || o.previewAt > 0, "gan.WithPreview", o.previewAt, "a positive number of steps")
	k.OK(o.checkpoint == "" || o.keepEvery > 0, "gan.WithCheckpoint", o.keepEvery, "a positive number of steps")
	return o, k.Err()
}
