package records

import (
	"fmt"

	"github.com/seed7ba64551/privgen/param"
)

// ByPerson returns the schema of persons with at most the given number of rows of this schema each:
// that of [Persons]. A plan made for it samples and clips persons. 0 is the schema of the rows
// themselves.
//
// What is generated from it are rows, not persons.
func (s Schema) ByPerson(most int) Schema {
	s.persons = most
	return s
}

// RowsPerPerson is the limit that [Schema.ByPerson] was given, 0 for rows.
func (s Schema) RowsPerPerson() int { return s.persons }

func (s Schema) validatePersons() error {
	if s.persons < 0 || s.persons > MostRows {
		return param.New("records.Schema.RowsPerPerson", s.persons,
			fmt.Sprintf("a number in [1, %d], or 0 for rows", MostRows))
	}
	return nil
}
