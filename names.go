package privgen

import (
	"io"
	"slices"

	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// Short names for the types of package synth that most programs meet. The other options of package
// synth have the same types.
type (
	// Plan is a complete configuration with its price, common to all systems.
	Plan = synth.Plan
	// Design is a system that can be planned for any schema and budget; every chain is one.
	Design = synth.Design
	// Generator is the result of a run: it draws synthetic records.
	Generator = synth.Generator
	// Option is a setting of a run that cannot change its guarantee.
	Option = synth.Option
	// Progress reports how far a run is, in public numbers only.
	Progress = synth.Progress
	// DrawOption selects which synthetic records to draw.
	DrawOption = synth.DrawOption
	// LoadOption supplies a value that a file cannot hold: synth.LoadOn, synth.WithArchitecture,
	// synth.WithDecoding or synth.WithLimits.
	LoadOption = synth.LoadOption
	// Interrupted is the error of a run that stopped early and left a checkpoint.
	Interrupted = synth.Interrupted
	// ParamError is the error for a mistake in a public parameter. Every package returns it:
	//
	//	var wrong *privgen.ParamError
	//	if errors.As(err, &wrong) { fmt.Println(wrong.Path, wrong.Want) }
	ParamError = param.Error
)

// Errors of plans, runs and files; package synth describes them.
var (
	ErrSchema    = synth.ErrSchema
	ErrRecords   = synth.ErrRecords
	ErrPlan      = synth.ErrPlan
	ErrTaken     = synth.ErrTaken
	ErrFormat    = synth.ErrFormat
	ErrVersion   = synth.ErrVersion
	ErrTruncated = synth.ErrTruncated
	ErrChecksum  = synth.ErrChecksum
)

// On runs the arithmetic on a backend, for example device.CPUWith(1). The default uses every core.
func On(b device.Backend) Option { return synth.On(b) }

// OnProgress calls f after every private stage and every training step; see
// synth.OnProgress.
func OnProgress(f func(Progress)) Option { return synth.OnProgress(f) }

// OnPreview calls f with the current generator every given number of steps; see synth.OnPreview.
func OnPreview(every int, f func(step int, g *Generator)) Option {
	return synth.OnPreview(every, f)
}

// Checkpoint saves the run's state in a file, from which the same call resumes after an
// interruption; see synth.Checkpoint.
func Checkpoint(path string) Option { return synth.Checkpoint(path) }

// CheckpointEvery is like Checkpoint, with a fixed number of draws between writes.
func CheckpointEvery(path string, uses int) Option { return synth.CheckpointEvery(path, uses) }

// FromCluster draws from one cluster of a mixture only.
func FromCluster(i int) DrawOption { return synth.FromCluster(i) }

// OfClass draws records of one class only, given by its index in the schema's class names.
func OfClass(label int) DrawOption { return synth.OfClass(label) }

// Seed makes a draw repeatable. Drawing is post-processing, so any seed is safe.
func Seed(s uint64) DrawOption { return synth.Seed(s) }

// Means asks for the mean of every coordinate instead of a record.
func Means() DrawOption { return synth.Means() }

// Given draws records that obey these constraints in addition to the constraints of the schema; see
// synth.Given.
func Given(constraints ...records.Constraint) DrawOption { return synth.Given(constraints...) }

// Effort bounds the number of generated records for each record that the constraints accept; see
// synth.Effort.
func Effort(n int) DrawOption { return synth.Effort(n) }

// Systems returns all systems of the module, including compositions, for reading their files.
func Systems() synth.Systems {
	all := slices.Concat(synth.Systems{dpgm.System(), merf.System(), gan.System(), mix.System()},
		tables.Systems(), sets.Systems())
	return append(all, compose.Systems(all)...)
}

// Load reads a generator saved by any of the systems.
//
// Errors: ErrFormat, ErrVersion, ErrTruncated, ErrChecksum.
func Load(r io.Reader, opts ...LoadOption) (*Generator, error) { return Systems().Load(r, opts...) }

// LoadFile reads a generator from a file.
//
// Errors: all errors of Load and of the file system.
func LoadFile(path string, opts ...LoadOption) (*Generator, error) {
	return Systems().LoadFile(path, opts...)
}

// ReadPlan reads the JSON of any system's plan and prices it again.
//
// Errors: ErrFormat; *param.Error for another version; all errors of the system's Plan.
func ReadPlan(text []byte, opts ...LoadOption) (Plan, error) {
	return Systems().ReadPlan(text, opts...)
}
