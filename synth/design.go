package synth

import (
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// A Design is a system that can be planned for any schema and budget, such as a configuration or a
// chain of package privgen. Package compose makes systems of designs: it plans each for the part of
// the budget that it gets, and for the records that it reads.
type Design interface {
	// PlanFor returns the plan for records of a schema and for a budget. A schema and a budget that
	// the design itself has are not used. PlanFor reads no records.
	PlanFor(s records.Schema, b accountant.Budget) (Plan, error)
}
