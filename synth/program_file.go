package synth

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/jsonlimit"
	"github.com/seed7ba64551/privgen/param"
)

// mostPlanValues bounds the JSON values of a plan. It is a little below the limit for files,
// because the header of the model's file has the same schemas and a few values of its own.
const mostPlanValues = 95_000

// checkFile returns an error for a plan with so many values, such as levels of columns, that its
// file and the generator's file would exceed the limits for files. Without this check, the
// generator could not be saved after the run has been paid for.
//
// A plan with parts that cannot be written is checked by its schema.
func (p *Program) checkFile() error {
	text, err := p.MarshalJSON()
	if err != nil {
		if text, err = json.Marshal(p.schema); err != nil {
			return fmt.Errorf("%s: schema: %w", p.system, err)
		}
	}
	if (jsonlimit.Limits{Values: mostPlanValues}).Check(text) == nil && len(text) <= maxHeader {
		return nil
	}
	return param.New(p.system+".Config.Schema", fmt.Sprintf("a plan of %d bytes", len(text)),
		fmt.Sprintf("a plan of at most %d JSON values and %d bytes, because larger files cannot be "+
			"read: declare fewer columns or levels; a plan within a plan has its own copy", mostPlanValues,
			maxHeader))
}
