package synth

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/records"
)

// Given draws records that obey constraints, in addition to those of the schema: a
// condition such as records.Only("income", "high") or records.Within("age", 30, 40), or, of sets,
// records.HasItems(3). What is drawn has the model's distribution given that they are met. Models
// meet exactly what they can, without rejecting records: one class by every system, values of any
// columns by AIM and MST, items by the other baselines. What is left is met by rejection.
// [OnAccepted] states the acceptance of every constraint, and *[Rejected] is the error where fewer
// records are accepted than [Effort] allows.
//
// Guarantee: post-processing: constraints are public, and records are generated ones.
func Given(constraints ...records.Constraint) DrawOption {
	return func(d *Draw) { d.Given = append(d.Given, constraints...) }
}

// Unconstrained draws records without regard to the constraints of their schema: as the model has
// them.
func Unconstrained() DrawOption { return func(d *Draw) { d.Unconstrained = true } }

// Effort allows that many generated records for each that constraints let through, 1000 where it is
// not set. A draw ends in *[Rejected] where fewer than 8 of the last 8·n were.
func Effort(n int) DrawOption { return func(d *Draw) { d.Effort = n } }

// OnAccepted has f called at the end of a draw, with what constraints did to it.
func OnAccepted(f func(Accepted)) DrawOption { return func(d *Draw) { d.OnAccepted = f } }

const defaultEffort = 1000

func (d Draw) effort() int { return cmp.Or(d.Effort, defaultEffort) }

// Accepted says what constraints did to a draw. All of it is about generated records.
type Accepted struct {
	Kept, Tried int                  // records, of those that the model drew
	Exact       []string             // constraints that the model met by itself
	Probability float64              // of these together, where the model knows it, else 0
	Each        []records.Acceptance // of every constraint by itself, among the tried
}

// Rate is the part of the tried records that was kept, 1 of none.
func (a Accepted) Rate() float64 {
	return records.Acceptance{Tried: a.Tried, Met: a.Kept}.Rate()
}

// Rejected is the error of a draw whose constraints let too few records through.
type Rejected struct {
	Accepted
	Effort int
}

// Error says which constraint accepts how many.
func (e *Rejected) Error() string {
	if e.Tried == 0 {
		return "synth: constraints of probability zero under the model: " + strings.Join(e.Exact, "; ")
	}
	text := fmt.Sprintf("synth: constraints kept %d of %d generated records, and of the last %d fewer "+
		"than %d", e.Kept, e.Tried, fewest*e.Effort, fewest)
	each := make([]string, len(e.Each))
	for i, a := range e.Each {
		each[i] = a.String()
	}
	return text + ": " + strings.Join(each, "; ") +
		": loosen them, have them repaired (records.Constraint.Repaired), or raise Effort"
}
