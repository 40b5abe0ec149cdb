package records

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/param"
)

// Visits describes a file of many rows a person, one visited item (or several between
// blanks) a row, to be grouped into one set a person. All of a person's rows, wherever they stand in
// the file, become one record of at most the schema's number of items, so that the unit of a
// guarantee is the user: see [UnitOf].
//
// Columns are found by name where there is a header, else by their positions, counted from 0.
type Visits struct {
	Comma              rune // between columns; 0 for a comma
	Header             bool
	User, Item         string // names of the columns, with a header
	UserColumn, Column int    // their positions, without one
}

// Read groups the rows, plain or gzip-compressed. Persons come in the order of their first rows. Which items of a
// person with too many are kept is a fixed function of that person's set. Item numbers outside the universe, and
// what is no number, are dropped; their person stays.
//
// Memory is that of the persons and their distinct items.
// Errors: [ErrFormat], naming the line, where a row lacks a column; *[param.Error] for columns that make no sense, or a schema that is not one of
// sets without classes.
func (v Visits) Read(r io.Reader, s Schema) (*SetTable, error) {
	b, err := newSetBuilder(s)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(unlabelledSets(s), v.validate()); err != nil {
		return nil, err
	}
	br, err := plain(r)
	if err != nil {
		return nil, err
	}
	g := grouping{schema: s, index: map[string]int{}}
	if err := v.scan(br, &g); err != nil {
		return nil, err
	}
	b.unit = UnitUser
	for i, items := range g.items {
		b.add(items)
		g.items[i] = nil
	}
	return b.table(nil)
}

// Open is Read on a file.
func (v Visits) Open(path string, s Schema) (*SetTable, error) {
	return withFile(path, func(r io.Reader) (*SetTable, error) { return v.Read(r, s) })
}

func (v Visits) validate() error {
	switch {
	case v.Header && (v.User == "" || v.Item == "" || v.User == v.Item):
		return param.New("records.Visits.User", v.User, "the names of two columns, User and Item")
	case !v.Header && (v.UserColumn < 0 || v.Column < 0 || v.UserColumn == v.Column):
		return param.New("records.Visits.UserColumn", v.UserColumn, "the positions of two columns, UserColumn and Column")
	}
	return nil
}

func (v Visits) scan(r io.Reader, g *grouping) error {
	in := csv.NewReader(r)
	in.ReuseRecord, in.FieldsPerRecord, in.LazyQuotes, in.TrimLeadingSpace = true, -1, true, true
	if v.Comma != 0 {
		in.Comma = v.Comma
	}
	user, item := v.UserColumn, v.Column
	for line := 1; ; line++ {
		fields, err := in.Read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return visitError(line, err)
		case v.Header && line == 1:
			if user, item = slices.Index(fields, v.User), slices.Index(fields, v.Item); user < 0 || item < 0 {
				return malformed("the header does not name both columns")
			}
			continue
		case user >= len(fields) || item >= len(fields):
			return malformed("row %d has too few columns", line)
		}
		if err := g.add(fields[user], fields[item]); err != nil {
			return err
		}
	}
}

// visitError names the row and never its text.
func visitError(line int, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return malformed("row %d is no row of columns", line)
	}
	return truncated(fmt.Sprintf("row %d", line), err)
}

// grouping collects the distinct items of every person.
type grouping struct {
	schema Schema
	index  map[string]int
	items  [][]uint32 // of each person, ascending
}

func (g *grouping) add(user, text string) error {
	user = strings.TrimSpace(user)
	i, known := g.index[user]
	if !known {
		if err := tooMany(len(g.items) + 1); err != nil {
			return err
		}
		i = len(g.items)
		g.index[strings.Clone(user)] = i
		g.items = append(g.items, nil)
	}
	for word := range strings.FieldsSeq(text) {
		item, err := strconv.ParseUint(word, 10, 32)
		if err != nil || item >= uint64(g.schema.dim) {
			continue
		}
		if at, found := slices.BinarySearch(g.items[i], uint32(item)); !found {
			g.items[i] = slices.Insert(g.items[i], at, uint32(item))
		}
	}
	return nil
}
