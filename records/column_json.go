package records

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// columnJSON is the JSON form of a column. Fields that its kind does not have are left out.
type columnJSON struct {
	Name        string            `json:"name"`
	Type        string            `json:"type"`
	Lo          json.RawMessage   `json:"lo,omitempty"` // a number, or a string for times
	Hi          json.RawMessage   `json:"hi,omitempty"`
	Step        *float64          `json:"step,omitempty"`
	Format      string            `json:"format,omitempty"`
	Precision   string            `json:"precision,omitempty"`
	Parts       []string          `json:"parts,omitempty"`
	Buckets     int               `json:"buckets,omitempty"`
	Rule        string            `json:"rule,omitempty"`
	Logarithmic bool              `json:"logarithmic,omitempty"`
	Levels      []string          `json:"levels,omitempty"`
	Other       string            `json:"other,omitempty"`
	Missing     bool              `json:"missing,omitempty"`
	Aliases     map[string]string `json:"aliases,omitempty"` // level by text
}

func (c Column) json() columnJSON {
	j := columnJSON{Name: c.name, Type: c.kind.String(), Logarithmic: c.logarithmic, Levels: c.levels,
		Other: c.other, Missing: c.missing, Format: c.format}
	c.kind.of().put(c, &j)
	if c.stepped {
		j.Step = &c.grid
	}
	for _, a := range c.aliases {
		if j.Aliases == nil {
			j.Aliases = map[string]string{}
		}
		j.Aliases[a.text] = a.level
	}
	return j
}

// written returns a value as JSON. The bounds of a valid column can always be encoded.
func written(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}

func quoted(v any) json.RawMessage { return written(fmt.Sprint(v)) }

// has reports whether a field is present and not null.
func has(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// column returns the column that j describes; NewSchema validates it.
func (j columnJSON) column() (Column, error) {
	c := Column{name: j.Name, logarithmic: j.Logarithmic, levels: j.Levels, other: j.Other,
		missing: j.Missing, format: j.Format}
	for k := ColumnKind(1); k < columnKindEnd; k++ {
		if j.Type == k.String() {
			c.kind = k
		}
	}
	if c.kind == 0 {
		return c, param.New(fmt.Sprintf("records.Column[%.40q].Type", j.Name), quotedName(j.Type),
			"one of "+columnKindList())
	}
	if err := j.ownFields(c.kind); err != nil {
		return c, err
	}
	c, err := c.kind.of().get(j, c)
	if err != nil {
		return c, err
	}
	for _, text := range slices.Sorted(maps.Keys(j.Aliases)) {
		c.aliases = append(c.aliases, alias{text, j.Aliases[text]})
	}
	return c, nil
}

// columnKindList lists the names of all kinds of column.
func columnKindList() string {
	var names []string
	for k := ColumnKind(1); k < columnKindEnd; k++ {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}

// ownFields returns an error if j has a field without a meaning for kind k, or lacks a field that k
// needs.
func (j columnJSON) ownFields(k ColumnKind) error {
	wrong := func(what string) error {
		return fmt.Errorf("records: schema: column %.40q of type %v: %s", j.Name, k, what)
	}
	kind, number := k.of(), k.isNumber()
	switch {
	case number != has(j.Lo) || number != has(j.Hi):
		return wrong("lo and hi are required for numbers and times, and not allowed for other types")
	case kind.precise != (j.Precision != ""):
		return wrong("a precision is required for datetimes and durations, and not allowed for others")
	case j.Step != nil && !kind.stepped:
		return wrong("a step is allowed for numeric columns and targets only")
	case len(j.Parts) > 0 && !kind.dated:
		return wrong("parts are allowed for datetimes only")
	case kind.hashed != (j.Buckets != 0):
		return wrong("buckets are required for hashed texts, and not allowed for others")
	case k.isIdentifier() != (j.Rule != ""):
		return wrong("a rule is required for identifiers, and not allowed for others")
	}
	return nil
}

// wrong returns an error about the bounds of the column.
func (j columnJSON) wrong(format string, args ...any) error {
	return fmt.Errorf("records: schema: column %.40q: %s", j.Name, fmt.Sprintf(format, args...))
}

// tableSchemaOf returns the schema of the columns that were read.
func tableSchemaOf(columns []columnJSON) (Schema, error) {
	buckets := 0
	for _, j := range columns {
		if buckets += min(max(j.Buckets, 0), maxLevels+1); buckets > maxBuckets {
			return Schema{}, fmt.Errorf("records: schema: at least %d buckets in all columns together: "+
				"want at most %d", buckets, maxBuckets)
		}
	}
	var read []Column
	for _, j := range columns {
		c, err := j.column()
		if err != nil {
			return Schema{}, err
		}
		read = append(read, c)
	}
	return NewSchema(read...)
}
