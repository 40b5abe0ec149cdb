package synth

import (
	"context"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
)

// An Option is a setting of a run. Options change neither the plan nor the guarantee.
type Option func(*options)

type options struct {
	backend      device.Backend
	progress     func(Progress)
	preview      func(int, *Generator)
	previewEvery int
	checkpoint   string
	keepEvery    int // uses between two writes of the checkpoint; 0 decides by time
	shards       []string
	read         func(context.Context, Pass) (*mechanism.Partial, error) // nil with records

	// keep is openKeeper if a checkpoint was asked for, otherwise nil. Only the options name the
	// function, so that programs without checkpoints are linked without the code for them.
	keep func(context.Context, *Run) (*keeper, error)
}

// On computes on the given backend, for example device.CPUWith(1). The default uses every core.
func On(b device.Backend) Option { return func(o *options) { o.backend = b } }

// OnProgress calls f after every private step, such as an iteration of clustering or a batch of
// mixtures, and after every training step. It calls f on the goroutine that called Fit.
func OnProgress(f func(Progress)) Option { return func(o *options) { o.progress = f } }

// OnPreview calls f with the current generator before the first step and then every given number of
// steps. Systems that do not train step by step ignore this option. The generator is released
// state, so looking at it costs no privacy.
func OnPreview(every int, f func(step int, g *Generator)) Option {
	return func(o *options) { o.preview, o.previewEvery = f, every }
}

// Checkpoint saves the run's state in a file. After an interruption the same call, in this process
// or another, resumes from the file. How often the file is written depends on how long writing
// takes.
//
// Guarantee: a run takes no more uses of its stages than it reserved and never uses noise twice,
// even if it is killed and resumed many times. The file counts a use as taken before it is drawn.
// Uses that were drawn and lost stay spent, so a kill costs the uses since the last write. A single
// Gaussian release is drawn in eight shares, each with √8 times the noise. Together they have the
// price of the single release, and a kill loses at most one share. The file holds released state,
// public randomness and counts, and may be published like the result. A run cannot detect from the
// file alone that an older copy was put back.
//
// A file belongs to one plan and one unit (see records.UnitOf). Other plans and units are refused
// with ErrPlan. Plans are identified by their JSON, by everything they may draw, and by the Go
// types of user-defined parts, such as an architecture. Fields of such a part that its JSON omits
// are not compared.
//
// The file does not identify the records. If the call resumes with other records, the uses on each
// data set stay within the reservation, so each has the plan's guarantee. Some plans have stages in
// disjoint parts of the records, such as one for each class. Every record must then stay in its
// part: records must not be relabelled between the calls. The file of a complete run returns the
// result for the records of that run.
//
// A file has at most 16 GiB; ErrFormat ends a run whose state is larger.
//
// A file serves one run at a time. After the run is complete, the file holds its result, and
// the same call returns it again without drawing anything.
func Checkpoint(path string) Option {
	return func(o *options) { o.checkpoint, o.keep, o.keepEvery = path, openKeeper, 0 }
}

// CheckpointEvery is Checkpoint with a fixed number of uses, at most 2^20, between writes. Of the
// steps without a use, every 64th of a process is written. No write depends on the clock.
func CheckpointEvery(path string, uses int) Option {
	every := min(max(uses, 1), 1<<20)
	return func(o *options) { o.checkpoint, o.keep, o.keepEvery = path, openKeeper, every }
}

// apply applies the options that are not nil.
func apply[T any, O ~func(*T)](to *T, opts []O) {
	for _, option := range opts {
		if option != nil {
			option(to)
		}
	}
}

func collect(opts []Option) (options, error) {
	var o options
	apply(&o, opts)
	if o.backend == nil {
		o.backend = device.CPU()
	}
	var k param.Checker
	k.OK(o.preview == nil || o.previewEvery > 0, "privgen.OnPreview.every", o.previewEvery,
		"a positive number of steps")
	taken := o.checkpoint == "" || strings.HasSuffix(o.checkpoint, ".lock")
	k.OK(o.keep == nil || !taken, "privgen.Checkpoint.path", o.checkpoint,
		"the path of a file whose name does not end in .lock, as the locks of checkpoints do")
	return o, k.Err()
}

// Progress reports how far a run is, in public numbers only. A training loss is private and is
// not included.
type Progress struct {
	Stage   string        `json:"stage"`
	Step    int           `json:"step"`
	Of      int           `json:"of"`
	Epsilon float64       `json:"epsilon"` // of all releases so far, at the budget's δ; informational
	Elapsed time.Duration `json:"elapsed"`
}
