package records

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Visits describes a file with many rows per person, each with one or more visited items, separated
// by blanks. Reading the file makes one set per person. All rows of a person become one record,
// wherever they are in the file. The record has at most the schema's number of items. The unit of a
// guarantee is then the user; see [UnitOf].
//
// A row is a line, and its person depends on that line only: it is the text of the user's column.
// A line whose user's column is missing or blank is dropped: it may belong to anybody, who would
// then be two persons. Fields may be quoted; a quote that is not closed on its line is an ordinary
// character.
//
// Columns are found by name if there is a header, otherwise by position, counted from 0.
type Visits struct {
	Comma              rune // between columns; 0 for a comma
	Header             bool
	User, Item         string // names of the columns, if there is a header
	UserColumn, Column int    // positions of the columns, if there is no header
	Limits             Limits // bounds on the cost of reading
}

// Read groups the rows, plain or gzip-compressed. Persons come in the order of their first rows. If
// a person has too many items, a fixed function of that person's set chooses the items to keep.
// Item numbers outside the universe, and texts that are not numbers, are dropped. The items of a
// line that is too long are dropped too. The person of dropped items is kept.
//
// Read takes memory for the persons and their distinct items.
// Errors: [ErrFormat] if the header does not name both columns; *[LimitError]; *[param.Error] for
// invalid columns, or a schema other than sets without classes.
func (v Visits) Read(r io.Reader, s Schema) (*SetTable, error) {
	b, err := newSetBuilder(s)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(unlabelledSets(s), v.validate()); err != nil {
		return nil, err
	}
	in, err := openInput(r, v.Limits)
	if err != nil {
		return nil, err
	}
	g := grouping{in: in, dim: uint64(s.dim), perPerson: valuesPerName + s.setValues(),
		index: map[string]uint32{}}
	if err := v.scan(newCSVLines(in, v.Comma, 0, 0), &g); err != nil {
		return nil, err
	}
	b.unit = UnitUser
	g.each(b.add)
	return b.table(nil)
}

// Open is Read on a file.
//
// Errors: see [Visits.Read]; also errors of the file system.
func (v Visits) Open(path string, s Schema) (*SetTable, error) {
	return withFile(path, func(r io.Reader) (*SetTable, error) { return v.Read(r, s) })
}

func (v Visits) validate() error {
	err := CSV{Comma: v.Comma, Limits: v.Limits}.validateCharacters()
	var c param.Checker
	c.Add(err)
	if v.Header {
		c.OK(v.User != "" && v.Item != "" && v.User != v.Item, "records.Visits.User", v.User,
			"the names of two different columns, User and Item")
		return c.Err()
	}
	c.OK(v.UserColumn >= 0 && v.Column >= 0 && v.UserColumn != v.Column, "records.Visits.UserColumn",
		v.UserColumn, "the positions of two different columns, UserColumn and Column, counted from 0")
	last := max(v.UserColumn, v.Column)
	c.OK(last < v.Limits.fields(0), "records.Visits.UserColumn", last, "positions below Limits.Fields")
	return c.Err()
}

func (v Visits) scan(lines *csvLines, g *grouping) error {
	user, item := v.UserColumn, v.Column
	if v.Header {
		names, err := lines.header(0)
		if err != nil {
			return err
		}
		if user, item = slices.Index(names, v.User), slices.Index(names, v.Item); user < 0 || item < 0 {
			return malformed("the header does not name both columns, %q and %q", v.User, v.Item)
		}
	}
	for {
		fields, fault, err := lines.next(-1, max(user, item)+1)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = g.row(fields, fault, user, item)
		}
		if err != nil {
			return err
		}
	}
}

// grouping collects the distinct items of every person.
type grouping struct {
	in        *input
	dim       uint64
	perPerson int // values stored per person in addition to the items
	index     map[string]uint32
	visits    []uint64 // person and item, 32 bits each
}

// row adds the content of one line. If the line is too long, row reads only the person, provided
// that a separator follows the name.
func (g *grouping) row(fields [][]byte, fault lineFault, userAt, itemAt int) error {
	var name, items []byte
	if userAt < len(fields) && (fault != tooLong || userAt+1 < len(fields)) {
		name = bytes.TrimSpace(fields[userAt])
	}
	if itemAt < len(fields) && fault != tooLong {
		items = fields[itemAt]
	}
	if len(name) == 0 {
		return nil
	}
	p, err := g.person(name)
	if err != nil {
		return err
	}
	for word := range bytes.FieldsSeq(items) {
		number := item(word)
		if word[0] == '-' || number == noItem || uint64(number) >= g.dim {
			continue
		}
		if err := g.visit(p, number); err != nil {
			return err
		}
	}
	return nil
}

// person returns the number of the person with a name. A new name gets the next number.
func (g *grouping) person(name []byte) (uint32, error) {
	if p, known := g.index[string(name)]; known {
		return p, nil
	}
	if err := tooManyRows(len(g.index) + 1); err != nil {
		return 0, err
	}
	if err := g.in.spend(g.perPerson); err != nil {
		return 0, err
	}
	p := uint32(len(g.index))
	g.index[string(name)] = p
	return p, nil
}

// valuesPerName is the memory of a name and its index entry, as a number of values of a set.
const valuesPerName = 9

// visit adds an item of a person. Repetitions are removed before the storage grows.
func (g *grouping) visit(person, item uint32) error {
	if len(g.visits) == cap(g.visits) {
		before := len(g.visits)
		g.compact()
		g.in.values -= int64(before - len(g.visits))
		if len(g.visits) > cap(g.visits)/2 {
			g.visits = slices.Grow(g.visits, len(g.visits))
		}
	}
	g.visits = append(g.visits, uint64(person)<<32|uint64(item))
	return g.in.spend(1)
}

func (g *grouping) compact() {
	slices.Sort(g.visits)
	g.visits = slices.Compact(g.visits)
}

// each calls emit with the items of every person, ascending; they are valid during the call.
func (g *grouping) each(emit func(items []uint32)) {
	g.compact()
	var items []uint32
	at := 0
	for p := range uint64(len(g.index)) {
		items = items[:0]
		for ; at < len(g.visits) && g.visits[at]>>32 == p; at++ {
			items = append(items, uint32(g.visits[at]))
		}
		emit(items)
	}
}
