package synth

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// A Plan is a configuration with everything decided, and the bill for it. It is made by arithmetic
// alone, before any record is read; its text is the bill, its JSON can be read back by
// [Systems.ReadPlan]. The plans of all systems are exchangeable.
type Plan interface {
	fmt.Stringer
	json.Marshaler

	// System is the name of the system, such as "merf".
	System() string
	// Schema is the public schema of the records.
	Schema() records.Schema
	// Budget is what the plan was made for.
	Budget() accountant.Budget
	// Stages are the lines of the bill.
	Stages() []Stage
	// Total is ε of all stages together at the budget's δ, as an interval.
	Total() accountant.Bound

	// Fit carries the plan out on private records, on a ledger of its own.
	//
	// Guarantee: the generator satisfies the plan's (ε, δ) under its relation, for the unit that
	// the data state: a record, or a user (see records.UnitOf).
	// Errors: those of FitOn.
	Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error)
	// FitOn is Fit on a ledger that other work shares: the generator's guarantee is then that of
	// everything on the ledger so far.
	//
	// Guarantee: all stages are reserved on the ledger in one transaction before anything is drawn;
	// an interrupted run gets no refund.
	// Errors: accountant.ErrBudgetExceeded before anything is drawn; ErrSchema; ctx.Err();
	// *param.Error for what is missing; *Interrupted where a checkpoint is kept. No error depends
	// on a record's value. The generator comes with an error where a ledger in a store could not
	// write down that it came of the run: it is paid for all the same.
	FitOn(ctx context.Context, ledger *accountant.Ledger, data records.Data,
		opts ...Option) (*Generator, error)
}

// A Stage is one line of the bill: Count releases of one kind. Its purpose names the lines on the
// ledger and the stage in reports of progress.
type Stage struct {
	Purpose         string
	Event           accountant.Event // of one of Count equal releases
	Count           int
	Parts           int // disjoint parts of the records, each with its Count releases; 0 means 1
	NoiseMultiplier float64
	Epsilon         accountant.Bound // of this stage if it were the only one; found by NewProgram

	// Lanes divides the releases among allowances that can draw side by side; 0 means 1.
	Lanes int
	// Once says that the stage is a single Gaussian release and is carried out by Run.Once.
	Once bool
}

func (s Stage) parts() int { return max(s.Parts, 1) }
func (s Stage) lanes() int { return max(s.Lanes, 1) }

// Whole is the whole stage as one event.
func (s Stage) Whole() accountant.Event {
	each := accountant.Repeated{Event: s.Event, Count: s.Count}
	if s.parts() == 1 {
		return each
	}
	d := accountant.Disjoint{}
	for range s.parts() {
		d.Parts = append(d.Parts, each)
	}
	return d
}

// Total is everything that stages release, as one event.
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

// lane is how many of a part's releases fall to lane j.
func (s Stage) lane(j int) int { return (s.Count - j + s.lanes() - 1) / s.lanes() }

// line is the stage's line of the bill.
func (s Stage) line() string {
	event, count := s.Event, s.Count
	if r, ok := event.(accountant.Repeated); ok {
		event, count = r.Event, count*r.Count
	}
	text := fmt.Sprintf("  %-16s %6d × %s", s.Purpose, count, accountant.Describe(event))
	if s.parts() > 1 {
		text += fmt.Sprintf(" in each of %d disjoint parts", s.parts())
	}
	return text + fmt.Sprintf("; alone ε = %.4g\n", s.Epsilon.Upper)
}

type stageJSON struct {
	Purpose         string           `json:"purpose"`
	Event           json.RawMessage  `json:"event"`
	Count           int              `json:"count"`
	Parts           int              `json:"parts,omitempty"`
	NoiseMultiplier float64          `json:"noise_multiplier,omitempty"`
	Epsilon         accountant.Bound `json:"epsilon"`
}

// MarshalJSON writes the line of the bill.
func (s Stage) MarshalJSON() ([]byte, error) {
	event, err := accountant.MarshalEvent(s.Event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(stageJSON{s.Purpose, event, s.Count, s.Parts, s.NoiseMultiplier, s.Epsilon})
}
