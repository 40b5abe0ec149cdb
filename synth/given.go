package synth

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/records"
)

// Given draws records that obey the given constraints in addition to the constraints of the schema.
// A constraint is a condition such as records.Only("income", "high"), records.Within("age", 30, 40)
// or, for sets, records.HasItems(3). The records have the model's distribution, conditioned on the
// constraints.
//
// Systems meet some constraints exactly, without rejecting records. Every system meets a constraint
// to one class exactly; a pool keeps the shares of its systems then. AIM and MST also do so for
// constraints on values of any columns and for combinations of levels, and the other systems of
// counts for constraints on items. All other constraints are met by rejection. [OnAccepted] reports
// the acceptance of every constraint. The error is *[Rejected] if fewer records are accepted than
// [Effort] demands.
//
// Guarantee: drawing is post-processing, since constraints are public and only generated records
// are tested.
func Given(constraints ...records.Constraint) DrawOption {
	return func(d *Draw) { d.Given = append(d.Given, constraints...) }
}

// Unconstrained draws records from the model and ignores the constraints of their schema.
func Unconstrained() DrawOption { return func(d *Draw) { d.Unconstrained = true } }

// Unidentified leaves identifiers out, so that a draw may have more records than a rule makes.
func Unidentified() DrawOption { return func(d *Draw) { d.Unidentified = true } }

// Effort limits a draw to n generated records for each record that meets the constraints; the
// default is 1000. A draw fails with *[Rejected] if fewer than 8 of the last 8·n records met the
// constraints.
func Effort(n int) DrawOption { return func(d *Draw) { d.Effort = n } }

// OnAccepted calls f at the end of a draw with the number of records that met the constraints, and
// with the number of records that the model itself did not accept.
//
// Guarantee: the numbers are computed from generated records and the released model, so they are as
// public as the records.
func OnAccepted(f func(Accepted)) DrawOption { return func(d *Draw) { d.OnAccepted = f } }

const defaultEffort = 1000

func (d Draw) effort() int { return cmp.Or(d.Effort, defaultEffort) }

// Accepted states how many of the generated records met the constraints of a draw, and how many the
// model itself did not accept.
type Accepted struct {
	Kept, Tried int                  // records kept, of the records that the model drew
	Exact       []string             // constraints that the model itself met exactly
	Probability float64              // joint probability of Exact in the class drawn; 0 if unknown
	Each        []records.Acceptance // of every constraint separately, among the tried records

	// Unaccepted is the number of records that are the best of several attempts, none of which the
	// model accepted: of compose.Labels, those that its classifier gives another label; of package
	// tables, those whose target was set to meet a condition that thousands of rows did not meet, so
	// that it does not fit the rest of the row. With constraints it also counts records that these
	// left out.
	Unaccepted int
}

// Rate returns the fraction of the tried records that were kept, or 1 if none were tried.
func (a Accepted) Rate() float64 {
	return records.Acceptance{Tried: a.Tried, Met: a.Kept}.Rate()
}

// Rejected is the error of a draw in which too few records met the constraints.
type Rejected struct {
	Accepted
	Effort int
}

// Error states how many records each constraint accepts.
func (e *Rejected) Error() string {
	if e.Tried == 0 {
		return "synth: the constraints have probability zero under the model: " +
			strings.Join(e.Exact, "; ")
	}
	text := fmt.Sprintf("synth: %d of %d generated records met the constraints, and fewer than %d of "+
		"the last %d", e.Kept, e.Tried, fewest, fewest*e.Effort)
	each := make([]string, len(e.Each))
	for i, a := range e.Each {
		each[i] = a.String()
	}
	return text + ": " + strings.Join(each, "; ") +
		": relax the constraints, repair records (records.Constraint.Repaired), or raise Effort"
}
