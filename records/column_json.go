package records

import (
	"fmt"
	"maps"
	"slices"
)

// columnJSON is the written form of a column: only the fields its kind has.
type columnJSON struct {
	Name        string            `json:"name"`
	Type        string            `json:"type"`
	Lo          *float64          `json:"lo,omitempty"`
	Hi          *float64          `json:"hi,omitempty"`
	Logarithmic bool              `json:"logarithmic,omitempty"`
	Levels      []string          `json:"levels,omitempty"`
	Other       string            `json:"other,omitempty"`
	Missing     bool              `json:"missing,omitempty"`
	Aliases     map[string]string `json:"aliases,omitempty"` // level by text
}

func (c Column) json() columnJSON {
	j := columnJSON{Name: c.name, Type: c.kind.String(), Logarithmic: c.logarithmic, Levels: c.levels,
		Other: c.other, Missing: c.missing}
	if !c.kind.hasLevels() {
		j.Lo, j.Hi = &c.lo, &c.hi
	}
	for _, a := range c.aliases {
		if j.Aliases == nil {
			j.Aliases = map[string]string{}
		}
		j.Aliases[a.text] = a.level
	}
	return j
}

// column returns the column as written; NewSchema validates it.
func (j columnJSON) column() (Column, error) {
	c := Column{name: j.Name, logarithmic: j.Logarithmic, levels: j.Levels, other: j.Other,
		missing: j.Missing}
	for k := NumericColumn; k < columnKindEnd; k++ {
		if j.Type == k.String() {
			c.kind = k
		}
	}
	number := c.kind != 0 && !c.kind.hasLevels()
	if number != (j.Lo != nil) || number != (j.Hi != nil) {
		return c, fmt.Errorf(
			"records: schema: column %.40q: numbers need bounds, and other kinds have none", j.Name)
	}
	if j.Lo != nil && j.Hi != nil {
		c.lo, c.hi = *j.Lo, *j.Hi
	}
	for _, text := range slices.Sorted(maps.Keys(j.Aliases)) {
		c.aliases = append(c.aliases, alias{text, j.Aliases[text]})
	}
	return c, nil
}

// tableSchemaOf is the schema of written columns.
func tableSchemaOf(columns []columnJSON) (Schema, error) {
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
