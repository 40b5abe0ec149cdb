package synth

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// A Pass is one reading of all records, for a stage that releases exact sums of them.
type Pass struct {
	Purpose string `json:"purpose"` // of the stage
	// State holds public values that the sums depend on in addition to the plan, such as the release
	// of an earlier stage. Each system has its own encoding.
	State []byte `json:"state,omitempty"`
	// Secret holds private values that the sums depend on, such as the positions of the records in a
	// sample. It is transmitted encrypted, separately from the rest of the pass. Its length is not
	// hidden.
	Secret Secret `json:"-"`
}

// A Secret holds bytes for processes that may see the records. It prints as [private], and is
// encoded as [private] in JSON and gob.
type Secret []byte

// Format writes "[private]" for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[private]") }

// LogValue returns "[private]".
func (Secret) LogValue() slog.Value { return slog.StringValue("[private]") }

// MarshalText returns "[private]".
func (Secret) MarshalText() ([]byte, error) { return []byte("[private]"), nil }

// GobEncode returns "[private]".
//
// Errors: none.
func (Secret) GobEncode() ([]byte, error) { return []byte("[private]"), nil }

// A PassWork is a Work that reads records in passes over all of them and in no other way. Other
// processes can compute the sums, in any number of shards.
type PassWork interface {
	Work
	// Passes returns the purposes of the stages. Each stage makes one pass. The list is empty for a
	// plan that also reads records in other ways.
	Passes() []string
	// Partial returns the sums of a pass over no records.
	//
	// Errors: *param.Error for a pass that the plan does not make.
	Partial(p Pass, be device.Backend) (*mechanism.Partial, error)
}

// passes returns the work if it reads records in passes only.
func (p *Program) passes() (PassWork, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	w, ok := p.work.(PassWork)
	if !ok || len(w.Passes()) == 0 {
		return nil, param.New(p.system+".Plan", "a plan that reads single records",
			"a plan that reads records only in exact sums over all of them")
	}
	return w, nil
}

// A PassPlan is a Plan whose sums other processes can compute, shard by shard: it reads records
// in passes over all of them and in no other way.
type PassPlan interface {
	Plan
	// Partial returns the sums of a pass over no records: see [NewPartial].
	Partial(pass Pass, opts ...Option) (*mechanism.Partial, error)
	// FitPasses is like FitOn for records that other processes hold: see [FitPasses].
	FitPasses(ctx context.Context, ledger *ledger.Ledger,
		read func(context.Context, Pass) (*mechanism.Partial, error), opts ...Option) (*Generator, error)
}

// NewPartial returns the sums of a pass over no records, to be computed on the backend that [On]
// names. Other options have no effect.
//
// Errors: *param.Error for a plan that reads records in other ways, for a pass of another plan, and
// for invalid options.
func NewPartial(p *Program, pass Pass, opts ...Option) (*mechanism.Partial, error) {
	w, err := p.passes()
	if err != nil {
		return nil, err
	}
	r, err := FreeRun(ledger.Guarantee{}, opts...)
	if err != nil {
		return nil, err
	}
	return w.Partial(pass, r.Backend)
}

// FitPasses is like FitOn for records that other processes hold. Whenever the plan needs the sums
// of a pass, it calls read. The function read returns the sums over all records, merged from shards
// as mechanism.Partial describes. Given the same noise, the released numbers are bit for bit the
// numbers of FitOn.
//
// Guarantee: as for FitOn, for the records of all shards. Each record must be in exactly one shard.
// Errors: all errors of FitOn and of read; *param.Error for a plan that reads records in other
// ways, before anything is reserved, and for sums of another pass.
func FitPasses(ctx context.Context, p *Program, ledger *ledger.Ledger,
	read func(context.Context, Pass) (*mechanism.Partial, error), opts ...Option) (*Generator, error) {
	if _, err := p.passes(); err != nil {
		return nil, err
	}
	if read == nil {
		return nil, param.New(p.system+".FitPasses.read", nil,
			"a function that returns the sums of a pass over all records")
	}
	opts = append(slices.Clip(opts), func(o *options) { o.read = read })
	return Carry(ctx, p, ledger, nil, func(r *Run) (Model, error) {
		return p.work.Fit(ctx, r)
	}, opts...)
}

// Shards lists, in order, the names of the shards that FitPasses adds up. Names are public. Plans
// that identify records by their position need the names; other plans ignore them.
func Shards(names ...string) Option { return func(o *options) { o.shards = names } }

// Shards returns the names given by the option Shards.
func (r *Run) Shards() []string { return r.shards }

// Elsewhere reports whether the run has no records itself and obtains all sums from the function
// given to FitPasses.
func (r *Run) Elsewhere() bool { return r.read != nil }

// Read makes a pass over the run's records and returns its sums, which may only be used for a
// release. If the sums are inexact (see mechanism.Partial.Real), the release must note the noise
// class real; see [Run.NoteReal].
//
// Errors: all errors of reading the records; *param.Error for sums of another pass, or of a unit
// that the ledger's guarantee does not permit.
func (r *Run) Read(ctx context.Context, pass Pass) (*mechanism.Partial, error) {
	if r.program == nil {
		return nil, errFree
	}
	w, err := r.program.passes()
	if err != nil {
		return nil, err
	}
	sums, err := w.Partial(pass, r.Backend)
	if err != nil {
		return nil, err
	}
	if r.read == nil {
		err = sums.Add(ctx, r.Data)
	} else {
		sums, err = r.elsewhere(ctx, pass, sums)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.program.system, err)
	}
	return sums, nil
}

// elsewhere obtains the sums from the function of FitPasses and checks that they are sums of this
// pass.
func (r *Run) elsewhere(ctx context.Context, pass Pass,
	empty *mechanism.Partial) (*mechanism.Partial, error) {
	sums, err := r.read(ctx, pass)
	if err != nil {
		return nil, err
	}
	path := r.program.system + ".FitPasses.read"
	if !sums.Like(empty) {
		return nil, param.New(path, "sums of another pass", "sums of the requested pass")
	}
	if unit := sums.Unit(); unit != "" {
		return sums, records.CheckUnit(path, unit, r.Ledger.Unit())
	}
	return sums, nil
}

// A PassProgram is the plan of a system that reads records in passes only: a Program whose sums
// other processes can compute. The zero value behaves like the zero Program.
type PassProgram struct{ *Program }

// NewPassProgram is [NewProgram] for such a system.
//
// Errors: all errors of NewProgram.
func NewPassProgram(system string, schema records.Schema, budget accountant.Budget, stages []Stage,
	w PassWork) (PassProgram, error) {
	p, err := NewProgram(system, schema, budget, stages, w)
	if err != nil {
		return PassProgram{}, err
	}
	return PassProgram{&p}, nil
}

// Partial implements [PassPlan]. Errors: see [NewPartial].
func (p PassProgram) Partial(pass Pass, opts ...Option) (*mechanism.Partial, error) {
	return NewPartial(p.Program, pass, opts...)
}

// FitPasses implements [PassPlan].
//
// Guarantee: see [FitPasses]. Errors: see [FitPasses].
func (p PassProgram) FitPasses(ctx context.Context, ledger *ledger.Ledger,
	read func(context.Context, Pass) (*mechanism.Partial, error), opts ...Option) (*Generator, error) {
	return FitPasses(ctx, p.Program, ledger, read, opts...)
}
