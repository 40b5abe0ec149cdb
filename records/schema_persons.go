package records

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// ByPerson returns the schema of [Persons] with at most the given number of rows of this schema
// each. A plan made for the schema of persons samples and clips persons. If most is 0, ByPerson
// returns the schema of the rows.
//
// Generators of a plan for persons draw rows, not persons.
func (s Schema) ByPerson(most int) Schema {
	s.persons = most
	return s
}

// RowsPerPerson returns the limit given to [Schema.ByPerson], or 0 for a schema of rows.
func (s Schema) RowsPerPerson() int { return s.persons }

func (s Schema) validatePersons() error {
	if s.persons < 0 || s.persons > MostRows {
		return param.New("records.Schema.RowsPerPerson", s.persons,
			fmt.Sprintf("a number in [1, %d], or 0 for rows", MostRows))
	}
	return nil
}
