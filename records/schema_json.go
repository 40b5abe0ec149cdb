package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// schemaJSON is the JSON form of a schema. Fields that its kind does not have are left out.
type schemaJSON struct {
	Kind     string   `json:"kind"`
	Dim      int      `json:"dim,omitempty"`
	Height   int      `json:"height,omitempty"`
	Width    int      `json:"width,omitempty"`
	Universe int      `json:"universe,omitempty"`
	MaxItems int      `json:"max_items,omitempty"`
	Lo       *float64 `json:"lo,omitempty"`
	Hi       *float64 `json:"hi,omitempty"`
	Classes  []string `json:"classes,omitempty"`
	Unknown  int      `json:"unknown,omitempty"`

	Columns     []columnJSON     `json:"columns,omitempty"` // of tables only
	Constraints []constraintJSON `json:"constraints,omitempty"`

	RowsPerPerson int `json:"rows_per_person,omitempty"` // of any kind
}

// MarshalJSON writes a valid schema.
func (s Schema) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	j := schemaJSON{Kind: s.kind.String(), Classes: s.classes, Unknown: s.unknown}
	switch s.kind {
	case BinaryVector:
		j.Dim = s.dim
	case IntervalVector:
		j.Dim, j.Lo, j.Hi = s.dim, &s.lo, &s.hi
	case GreyImage, BlackWhiteImage, ColourImage:
		j.Height, j.Width = s.height, s.width
	case ItemSet:
		j.Universe, j.MaxItems = s.dim, s.maxItems
	case MixedTable:
		j = schemaJSON{Kind: j.Kind}
		for _, c := range s.table.columns {
			j.Columns = append(j.Columns, c.json())
		}
		for _, c := range s.table.constraints {
			j.Constraints = append(j.Constraints, c.json())
		}
	}
	j.RowsPerPerson = s.persons
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // a level such as <25 stays readable where the caller escapes nothing
	err := e.Encode(j)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads a schema and validates it; a field that the schema's kind does not have is an
// error. The default [Limits] apply to its nesting and its columns.
func (s *Schema) UnmarshalJSON(data []byte) error {
	if err := (Limits{}).checkJSON(data); err != nil {
		return err
	}
	read, err := parseSchema(data)
	if err != nil {
		return err
	}
	*s = read
	return nil
}

func parseSchema(data []byte) (Schema, error) {
	var j schemaJSON
	if err := param.Decode(data, &j); err != nil {
		return Schema{}, fmt.Errorf("records: schema: %w", err)
	}
	return j.schema()
}

func (j schemaJSON) schema() (Schema, error) {
	var s Schema
	switch j.Kind {
	case BinaryVector.String():
		s = Binary(j.Dim)
	case IntervalVector.String():
		if j.Lo == nil || j.Hi == nil {
			return s, fmt.Errorf("records: schema: an interval lacks lo or hi: want both")
		}
		s = Interval(j.Dim, *j.Lo, *j.Hi)
	case GreyImage.String():
		s = Image(j.Height, j.Width)
	case BlackWhiteImage.String():
		s = BinaryImage(j.Height, j.Width)
	case ColourImage.String():
		s = RGBImage(j.Height, j.Width)
	case ItemSet.String():
		s = Sets(j.Universe, j.MaxItems)
	case MixedTable.String():
		return j.tableSchema()
	default:
		return s, param.New("records.Schema.Kind", quotedName(j.Kind), "one of "+kindList())
	}
	s.classes, s.distinct = j.Classes, distinct(j.Classes)
	s.unknown, s.persons = j.Unknown, j.RowsPerPerson
	if err := s.Validate(); err != nil {
		return Schema{}, err
	}
	if !j.onlyOwnFields(s.kind) {
		return Schema{}, j.foreignFields()
	}
	return s, nil
}

// kindList lists the names of all kinds.
func kindList() string {
	var names []string
	for k := BinaryVector; k < kindEnd; k++ {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}

func (j schemaJSON) tableSchema() (Schema, error) {
	if !j.onlyOwnFields(MixedTable) || j.Classes != nil || j.Unknown != 0 {
		return Schema{}, j.foreignFields()
	}
	s, err := tableSchemaOf(j.Columns)
	if err != nil {
		return s, err
	}
	var list []Constraint
	for _, c := range j.Constraints {
		read, err := c.constraint()
		if err != nil {
			return Schema{}, err
		}
		list = append(list, read)
	}
	if len(list) > 0 {
		s = s.WithConstraints(list...)
	}
	s = s.ByPerson(j.RowsPerPerson)
	return s, s.Validate()
}

// foreignFields returns the error for a schema with fields of another kind.
func (j schemaJSON) foreignFields() error {
	return fmt.Errorf("records: schema: kind %q has fields of another kind: want only the fields "+
		"that WriteSchema writes for this kind", j.Kind)
}

func (j schemaJSON) onlyOwnFields(k Kind) bool {
	vector := k == BinaryVector || k == IntervalVector
	image := k == GreyImage || k == BlackWhiteImage || k == ColourImage
	return (vector || j.Dim == 0) &&
		(image || j.Height == 0 && j.Width == 0) &&
		(k == MixedTable || j.Columns == nil && j.Constraints == nil) &&
		(k == ItemSet || j.Universe == 0 && j.MaxItems == 0) &&
		(k == IntervalVector || j.Lo == nil && j.Hi == nil)
}
