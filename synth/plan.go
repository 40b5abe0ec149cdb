package synth

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// A Plan is a complete configuration with its price. It is computed before any record is read. Its
// text lists the price of every stage, and its JSON can be read back by [Systems.ReadPlan]. The
// plans of all systems are interchangeable.
type Plan interface {
	fmt.Stringer
	json.Marshaler

	// System returns the name of the system, such as "merf".
	System() string
	// Schema returns the public schema of the records.
	Schema() records.Schema
	// Budget returns the budget that the plan was made for.
	Budget() accountant.Budget
	// Stages returns the priced stages.
	Stages() []Stage
	// Total returns ε of all stages together at the budget's δ, as an interval.
	Total() accountant.Bound

	// Fit runs the plan on private records, on a new ledger.
	//
	// Guarantee: the generator satisfies the plan's (ε, δ) under its relation, for the unit that
	// the data state: a record, or a user (see records.UnitOf). Errors: see FitOn.
	Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error)
	// FitOn is Fit on a ledger shared with other work. The generator's guarantee then covers
	// everything on the ledger so far.
	//
	// Guarantee: all stages are reserved on the ledger in one transaction before anything is drawn;
	// an interrupted run gets no refund.
	// Errors: accountant.ErrBudgetExceeded before anything is drawn; ErrSchema; ctx.Err();
	// *param.Error for missing arguments; *Interrupted if a checkpoint is kept; an error if training
	// has diverged to numbers that are not finite. No error depends on a record's value, except
	// through what was released. If a ledger in a store could not record the generator, both a
	// generator and an error are returned: the run has been paid for.
	FitOn(ctx context.Context, ledger *ledger.Ledger, data records.Data,
		opts ...Option) (*Generator, error)
}

// A Stage is one priced part of a plan: Count releases of one kind. Its purpose names its lines
// on the ledger and the stage in progress reports.
type Stage struct {
	Purpose string
	Event   accountant.Event // one of Count equal releases
	Count   int
	Parts   int // disjoint parts of the records, each with its Count releases; 0 means 1
	// Fixed and MovesCovered state properties of the parts: see [ledger.Parts]. Several parts
	// under replace-one need MovesCovered.
	Fixed, MovesCovered bool
	// NoiseMultiplier is the event's noise relative to its sensitivity.
	NoiseMultiplier float64
	Epsilon         accountant.Bound // ε of this stage if it were the only one; set by NewProgram

	// Lanes is the number of allowances that share the releases and can draw concurrently; 0 means
	// 1.
	Lanes int
	// Once means that the stage is a single Gaussian release, run by Run.Once.
	Once bool
}

func (s Stage) parts() int { return max(s.Parts, 1) }
func (s Stage) lanes() int { return max(s.Lanes, 1) }

// Whole returns the whole stage as one event. Two parts stand for any number of them, because the
// parts are equal: a record is in one part or moves between two.
func (s Stage) Whole() accountant.Event {
	each := accountant.Repeated{Event: s.Event, Count: s.Count}
	if s.parts() == 1 {
		return each
	}
	return accountant.Disjoint{Parts: []accountant.Event{each, each}, Fixed: s.Fixed}
}

// Total returns everything that the stages release, as one event.
func Total(stages ...Stage) accountant.Event {
	if len(stages) == 1 {
		return stages[0].Whole()
	}
	var total accountant.Composed
	for _, s := range stages {
		total.Events = append(total.Events, s.Whole())
	}
	return total
}

// lane returns how many of a part's releases lane j makes.
func (s Stage) lane(j int) int { return (s.Count - j + s.lanes() - 1) / s.lanes() }

// line returns the stage's line in the plan's text.
func (s Stage) line() string {
	event, count := s.Event, s.Count
	if r, ok := event.(accountant.Repeated); ok {
		event, count = r.Event, count*r.Count
	}
	text := fmt.Sprintf("  %-16s %6d × %s", param.OneLine(s.Purpose), count,
		accountant.Describe(event))
	if s.parts() > 1 {
		text += fmt.Sprintf(" in each of %d disjoint parts", s.parts())
	}
	return text + fmt.Sprintf("; alone ε = %s\n", accountant.FormatUpper(s.Epsilon.Upper, 4))
}

type stageJSON struct {
	Purpose         string           `json:"purpose"`
	Event           json.RawMessage  `json:"event"`
	Count           int              `json:"count"`
	Parts           int              `json:"parts,omitempty"`
	Fixed           bool             `json:"fixed,omitempty"`
	MovesCovered    bool             `json:"moves_covered,omitempty"`
	NoiseMultiplier float64          `json:"noise_multiplier,omitempty"`
	Epsilon         accountant.Bound `json:"epsilon"`
}

// MarshalJSON writes the stage with its price.
func (s Stage) MarshalJSON() ([]byte, error) {
	event, err := accountant.MarshalEvent(s.Event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(stageJSON{s.Purpose, event, s.Count, s.Parts, s.Fixed, s.MovesCovered,
		s.NoiseMultiplier, s.Epsilon})
}
