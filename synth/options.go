package synth

import (
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
)

// An Option is something about a run that cannot change its guarantee: a plan is the same with and
// without every option.
type Option func(*options)

type options struct {
	backend      device.Backend
	progress     func(Progress)
	preview      func(int, *Generator)
	previewEvery int
	checkpoint   string
	keeps        bool // a checkpoint was asked for
	keepEvery    int  // uses between checkpoints; 0 goes by time
}

// On runs the arithmetic on a backend, for example device.CPUWith(1). The default uses every core.
func On(b device.Backend) Option { return func(o *options) { o.backend = b } }

// OnProgress has f called after every private stage, such as an iteration of clustering or a batch
// of mixtures, and every step of training, on the goroutine that called Fit.
func OnProgress(f func(Progress)) Option { return func(o *options) { o.progress = f } }

// OnPreview is handed the generator as it is, every so many steps and once before the first, by the
// systems that train one privately step by step; others leave it alone. It is released state, so
// looking at it costs nothing.
func OnPreview(every int, f func(step int, g *Generator)) Option {
	return func(o *options) { o.preview, o.previewEvery = f, every }
}

// Checkpoint keeps the run in a file, from which the same call, by this process or another, goes on
// after an interruption. How often the file is written follows from how long writing takes.
//
// Guarantee: a run, however often it is killed and goes on, takes no more uses of its stages in all
// than it reserved, and never uses noise twice: before a use is drawn, the file counts it as taken.
// What was drawn and lost stays spent, so a kill costs the uses since the last write. A single
// Gaussian release is drawn in eight shares, each with √8 times the noise and together at the price
// of the whole, so that a kill loses at most one share. The file holds released state, public
// randomness and counts, and may be looked at as freely as the result. A file that is copied away
// and put back is beyond what the file can know.
//
// A file belongs to one plan and one unit (see records.UnitOf): others are refused with ErrPlan.
// Plans are told apart by their JSON, by everything they may draw, and by the Go types of parts
// that the caller defines, such as an architecture. Fields of such a part that its JSON leaves out
// cannot be told apart.
//
// The file does not know which records it was kept for. Where the same call goes on with other
// records, the uses on each data set stay within the reservation, so each has the plan's guarantee;
// stages in disjoint parts of the records, such as one for each class, need every record to stay in
// its part: records must not be relabelled in between. A complete file returns the result of the
// records it was made from.
//
// A file serves one run at a time. When the run is complete the file holds its result: the same
// call returns it again without drawing anything.
func Checkpoint(path string) Option {
	return func(o *options) { o.checkpoint, o.keeps, o.keepEvery = path, true, 0 }
}

// CheckpointEvery is Checkpoint with a fixed number of uses between two writes of the file.
func CheckpointEvery(path string, uses int) Option {
	return func(o *options) { o.checkpoint, o.keeps, o.keepEvery = path, true, max(uses, 1) }
}

func collect(opts []Option) (options, error) {
	var o options
	for _, apply := range opts {
		if apply != nil {
			apply(&o)
		}
	}
	if o.backend == nil {
		o.backend = device.CPU()
	}
	var k param.Checker
	k.OK(o.preview == nil || o.previewEvery > 0, "synth.OnPreview.every", o.previewEvery,
		"a positive number of steps")
	taken := strings.HasSuffix(o.checkpoint, ".tmp") || strings.HasSuffix(o.checkpoint, ".lock")
	k.OK(!o.keeps || o.checkpoint != "" && !taken, "synth.Checkpoint.path", o.checkpoint,
		"the path of a file whose name does not end in .tmp or .lock: those stand beside checkpoints")
	return o, k.Err()
}

// Progress is how far a run is, in public numbers only. A loss is a private statistic and is not
// among them.
type Progress struct {
	Stage   string        `json:"stage"`
	Step    int           `json:"step"`
	Of      int           `json:"of"`
	Epsilon float64       `json:"epsilon"` // of all released so far, at the budget's δ; informational
	Elapsed time.Duration `json:"elapsed"`
}
