package synth

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// A Nested is a Work that carries out other plans. Its files have a copy of each plan's schema.
type Nested interface{ Plans() []Plan }

// mostFileValues bounds the JSON values of the schemas in a plan. It is a little below the limit
// for files, because the headers of plans and generators have some values of their own.
const mostFileValues = 95_000

// checkFile returns an error for a plan whose schemas have so many columns or levels that files of
// the plan and of its generator would exceed the limits for files. Without this check, the
// generator could not be saved after the run has been paid for.
func (p *Program) checkFile() error {
	n := p.fileValues()
	if n <= mostFileValues {
		return nil
	}
	return param.New(p.system+".Config.Schema", fmt.Sprintf("%d values in schemas", n),
		fmt.Sprintf("at most %d, because larger files cannot be read: declare fewer columns or levels; "+
			"each plan within a plan has a copy of the schema", mostFileValues))
}

// fileValues returns the number of JSON values of all schemas in the plan.
func (p *Program) fileValues() int {
	text, _ := p.schema.MarshalJSON() // a schema that is not valid is refused as such
	n, _ := param.Size(text)
	if w, ok := p.work.(Nested); ok {
		for _, of := range w.Plans() {
			if inner := programOf(of); inner != nil {
				n += inner.fileValues()
			}
		}
	}
	return n
}
