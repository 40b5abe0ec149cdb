package records

import (
	"bytes"
	"fmt"
	"io"

	"github.com/seed7ba64551/privgen/param"
)

// ReadPersons reads a table with several rows per person, as [CSV.ReadFrame] does, and groups
// them by the person named in a column of the file that is not in the schema, or that is an
// [Identifier] of it; see [GroupBy]. The person's name is the text of that column without
// surrounding blanks, byte by byte. Names are discarded after reading.
//
// A line that cannot be read as a record, or has no name, is left out: it belongs to no known
// person, and a record of unknown content would count as another person.
//
// Errors: those of ReadFrame and GroupBy; *[param.Error] where the person's column is one of the
// schema's; [ErrFormat] where the file does not name it.
func (c CSV) ReadPersons(r io.Reader, s Schema, person string, most int) (*Persons, error) {
	if most < 1 || most > MostRows {
		return nil, param.New("records.CSV.ReadPersons.most", most,
			fmt.Sprintf("a number of rows a person in [1, %d]", MostRows))
	}
	in, err := c.frameReader(r, s)
	if err != nil {
		return nil, err
	}
	for _, column := range s.table.columns {
		if column.name == person && column.kind != IdentifierColumn {
			return nil, param.New("records.CSV.ReadPersons.person", quotedName(person),
				"a column of the file that is none of the schema's, since it tells who a person is")
		}
	}
	if in.persons.field = in.only(person); in.persons.field < 0 {
		return nil, malformed("not exactly one column is named %q", person)
	}
	in.persons.index = map[string]int32{}
	frame, err := readFrame(in)
	if err != nil {
		return nil, err
	}
	return group(frame, in.persons.of, len(in.persons.index), most)
}

// OpenPersons is [CSV.ReadPersons] on a file.
//
// Errors: those of [CSV.ReadPersons] and of the file system.
func (c CSV) OpenPersons(path string, s Schema, person string, most int) (*Persons, error) {
	return withFile(path, func(r io.Reader) (*Persons, error) {
		return c.ReadPersons(r, s, person, most)
	})
}

// rowPersons are the persons of the rows that a reader has kept.
type rowPersons struct {
	field int              // of a line
	index map[string]int32 // nil where persons are not asked for
	of    []int32
}

// keep notes whose row a line is, and reports whether it is anybody's.
func (p *rowPersons) keep(in *input, fields [][]byte, fault lineFault) (bool, error) {
	if p.index == nil {
		return true, nil
	}
	if fault != readable {
		return false, nil
	}
	name := bytes.TrimSpace(fields[p.field])
	if len(name) == 0 {
		return false, nil
	}
	number, known := p.index[string(name)]
	if !known {
		if err := in.spend(valuesPerName); err != nil {
			return false, err
		}
		number = int32(len(p.index))
		p.index[string(name)] = number
	}
	p.of = append(p.of, number)
	return true, nil
}
