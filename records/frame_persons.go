package records

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// ReadPersons reads a table with several rows per person, as [CSV.ReadFrame] does, and groups the
// rows by person; see [GroupBy]. The given column of the file names the person. It must not be in
// the schema, unless the schema holds it as an [Identifier]. The person's name is the text of that
// column without surrounding blanks, compared byte by byte. Names are discarded after reading.
//
// A line is omitted if it cannot be read as a record or names no person. As a record of unknown
// values, it would count as another person.
//
// Errors: see [CSV.ReadFrame] and [GroupBy]; *[param.Error] if the schema has the person's column
// in another form than an [Identifier]; [ErrFormat] unless exactly one column of the file has that
// name.
func (c CSV) ReadPersons(r io.Reader, s Schema, person string, most int) (*Persons, error) {
	if most < 1 || most > MostRows {
		return nil, param.New("records.CSV.ReadPersons.most", most,
			fmt.Sprintf("a number of rows per person in [1, %d]", MostRows))
	}
	in, err := c.frameReader(r, s)
	if err != nil {
		return nil, err
	}
	for _, column := range s.table.columns {
		if column.name == person && !column.kind.isIdentifier() {
			return nil, param.New("records.CSV.ReadPersons.person", quotedName(person),
				"a column that is not in the schema, or that is an identifier of the schema")
		}
	}
	field, err := in.field(person)
	if err != nil {
		return nil, err
	}
	persons := rowPersons{field: field, index: map[string]int32{}}
	in.keep = func(fields [][]byte, fault lineFault) (bool, error) {
		return persons.keep(in.lines.in, fields, fault)
	}
	frame, err := readFrame(in)
	if err != nil {
		return nil, err
	}
	return group(frame, persons.of, len(persons.index), most)
}

// field returns the only field of a line with the given name.
func (in *frameReader) field(name string) (int, error) {
	if in.count(name) != 1 {
		return 0, malformed("%d columns are named %q: want one", in.count(name), name)
	}
	return slices.Index(in.names, name), nil
}

// rowPersons holds the persons of the rows that a reader has kept.
type rowPersons struct {
	field int              // the field of a line that names the person
	index map[string]int32 // the number of each name
	of    []int32
}

// keep records the person of a line, and reports whether the line names one.
func (p *rowPersons) keep(in *input, fields [][]byte, fault lineFault) (bool, error) {
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
