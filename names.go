package privgen

import (
	"io"

	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tune"
)

// Short names for what package synth defines.
type (
	// Plan is a configuration with everything decided, and its bill: the same for every system.
	Plan = synth.Plan
	// Stage is one line of the bill.
	Stage = synth.Stage
	// Generator is what a run releases.
	Generator = synth.Generator
	// Option is something about a run that cannot change its guarantee.
	Option = synth.Option
	// Progress is how far a run is, in public numbers only.
	Progress = synth.Progress
	// DrawOption says which synthetic records are wanted.
	DrawOption = synth.DrawOption
	// Accepted says what constraints did to a draw.
	Accepted = synth.Accepted
	// Rejected is the error of a draw whose constraints let too few records through.
	Rejected = synth.Rejected
	// LoadOption gives Load what a file cannot hold.
	LoadOption = synth.LoadOption
	// Interrupted is the end of a run that kept a checkpoint.
	Interrupted = synth.Interrupted
)

// Errors of plans, runs and files; package synth describes them.
var (
	ErrSchema    = synth.ErrSchema
	ErrRecords   = synth.ErrRecords
	ErrPlan      = synth.ErrPlan
	ErrTaken     = synth.ErrTaken
	ErrLost      = synth.ErrLost
	ErrFormat    = synth.ErrFormat
	ErrVersion   = synth.ErrVersion
	ErrTruncated = synth.ErrTruncated
	ErrChecksum  = synth.ErrChecksum
)

// On runs the arithmetic on a backend, for example device.CPUWith(1). The default uses every core.
func On(b device.Backend) Option { return synth.On(b) }

// OnProgress has f called after every private stage and every step of training: see
// synth.OnProgress.
func OnProgress(f func(Progress)) Option { return synth.OnProgress(f) }

// OnPreview is handed the generator as it is, every so many steps: see synth.OnPreview.
func OnPreview(every int, f func(step int, g *Generator)) Option {
	return synth.OnPreview(every, f)
}

// Checkpoint keeps the run in a file, from which the same call goes on after an interruption: see
// synth.Checkpoint.
func Checkpoint(path string) Option { return synth.Checkpoint(path) }

// CheckpointEvery is Checkpoint with a fixed number of uses between two writes of the file.
func CheckpointEvery(path string, uses int) Option { return synth.CheckpointEvery(path, uses) }

// FromCluster draws from one cluster of a mixture only.
func FromCluster(i int) DrawOption { return synth.FromCluster(i) }

// OfClass draws records of one class only, counted as in the schema's class names.
func OfClass(label int) DrawOption { return synth.OfClass(label) }

// Seed makes a draw repeatable. Synthetic records are post-processing, so any seed will do.
func Seed(s uint64) DrawOption { return synth.Seed(s) }

// Means asks for the mean of every coordinate instead of a record.
func Means() DrawOption { return synth.Means() }

// Given draws records that obey constraints, beside those of the schema: see synth.Given.
func Given(constraints ...records.Constraint) DrawOption { return synth.Given(constraints...) }

// Unconstrained draws records without regard to the constraints of their schema.
func Unconstrained() DrawOption { return synth.Unconstrained() }

// Effort bounds how many records are generated for each that constraints let through: see
// synth.Effort.
func Effort(n int) DrawOption { return synth.Effort(n) }

// OnAccepted is told what constraints did to a draw: see synth.OnAccepted.
func OnAccepted(f func(Accepted)) DrawOption { return synth.OnAccepted(f) }

// LoadOn computes on the given backend.
func LoadOn(b device.Backend) LoadOption { return synth.LoadOn(b) }

// WithArchitecture lets Load rebuild networks of an architecture that is not the module's own.
func WithArchitecture(a models.DensityArchitecture) LoadOption { return synth.WithArchitecture(a) }

// WithDecoding is WithArchitecture for generators that are trained on public codes.
func WithDecoding(a models.GeneratorArchitecture) LoadOption { return synth.WithDecoding(a) }

// WithLimits bounds what the bytes of a generator or a plan may ask for: see synth.WithLimits.
func WithLimits(l records.Limits) LoadOption { return synth.WithLimits(l) }

// Systems are the module's systems, baselines and searches included, for reading their files.
func Systems() synth.Systems {
	all := append(synth.Systems{dpgm.System(), merf.System(), gan.System(), mix.System()},
		baselines.Systems()...)
	return append(all, tune.System(all))
}

// Load reads a generator that any of the systems saved.
//
// Errors: ErrFormat, ErrVersion, ErrTruncated, ErrChecksum.
func Load(r io.Reader, opts ...LoadOption) (*Generator, error) { return Systems().Load(r, opts...) }

// LoadFile reads a generator from a file.
func LoadFile(path string, opts ...LoadOption) (*Generator, error) {
	return Systems().LoadFile(path, opts...)
}

// ReadPlan reads the JSON of any system's plan and works out its bill again.
//
// Errors: ErrFormat; those of the system's Plan.
func ReadPlan(text []byte, opts ...LoadOption) (Plan, error) {
	return Systems().ReadPlan(text, opts...)
}
