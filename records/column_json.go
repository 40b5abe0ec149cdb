package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/internal/strictjson"
	"github.com/seed7ba64551/privgen/param"
)

// columnJSON is the JSON form of a column. Fields that its kind does not have are left out.
type columnJSON struct {
	Name        string            `json:"name"`
	Type        string            `json:"type"`
	Lo          json.RawMessage   `json:"lo,omitempty"` // a number, or a string for times
	Hi          json.RawMessage   `json:"hi,omitempty"`
	Step        *float64          `json:"step,omitempty"`
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
		Other: c.other, Missing: c.missing}
	switch {
	case c.kind == HashedColumn:
		j.Buckets, j.Levels = len(c.levels), c.known
	case c.kind == IdentifierColumn:
		j.Rule = c.rule.String()
	case c.kind == DatetimeColumn:
		j.Lo, j.Hi = quoted(c.timeText(c.from)), quoted(c.timeText(c.to))
		j.Precision, j.Parts = c.step.String(), c.parts.names()
	case c.kind == DurationColumn:
		j.Lo, j.Hi = quoted(time.Duration(c.least)), quoted(time.Duration(c.most))
		j.Precision = c.step.String()
	case c.kind == IntegerColumn:
		j.Lo, j.Hi = written(c.least), written(c.most)
	case !c.kind.hasLevels():
		j.Lo, j.Hi = written(c.lo), written(c.hi)
	}
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
		missing: j.Missing}
	for k := NumericColumn; k < columnKindEnd; k++ {
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
	if c.kind == HashedColumn {
		c.levels = nil
		hashed := Hashed(j.Name, j.Buckets, j.Levels...)
		c.levels, c.known, c.most = hashed.levels, hashed.known, hashed.most
	}
	if j.Rule != "" {
		rule, err := parseRule(j.Rule)
		if err != nil {
			return c, err
		}
		c.rule = rule
	}
	c, err := j.bounded(c)
	if err != nil {
		return c, fmt.Errorf("records: schema: column %.40q: %w", j.Name, err)
	}
	for _, text := range slices.Sorted(maps.Keys(j.Aliases)) {
		c.aliases = append(c.aliases, alias{text, j.Aliases[text]})
	}
	return c, nil
}

// columnKindList lists the names of all kinds of column.
func columnKindList() string {
	var names []string
	for k := NumericColumn; k < columnKindEnd; k++ {
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
	number := k != 0 && !k.hasLevels() && k != IdentifierColumn
	timed := k == DatetimeColumn || k == DurationColumn
	switch {
	case number != has(j.Lo) || number != has(j.Hi):
		return wrong("lo and hi are required for numbers and times, and not allowed for other types")
	case timed != (j.Precision != ""):
		return wrong("a precision is required for datetimes and durations, and not allowed for others")
	case j.Step != nil && k != NumericColumn && k != TargetColumn:
		return wrong("a step is allowed for numeric columns and targets only")
	case len(j.Parts) > 0 && k != DatetimeColumn:
		return wrong("parts are allowed for datetimes only")
	case (k == HashedColumn) != (j.Buckets != 0):
		return wrong("buckets are required for hashed texts, and not allowed for others")
	case (k == IdentifierColumn) != (j.Rule != ""):
		return wrong("a rule is required for identifiers, and not allowed for others")
	}
	return nil
}

// bounded returns the column with its bounds.
func (j columnJSON) bounded(c Column) (_ Column, err error) {
	switch c.kind {
	case DatetimeColumn:
		var from, to string
		if err := errors.Join(strictjson.Decode(j.Lo, &from), strictjson.Decode(j.Hi, &to)); err != nil {
			return c, fmt.Errorf("bounds %.40s, %.40s: want strings such as \"2026-01-31T12:00:00Z\"",
				j.Lo, j.Hi)
		}
		lo, fine := parseMoment(from)
		hi, too := parseMoment(to)
		if !fine || !too {
			return c, fmt.Errorf("bounds %.40q, %.40q: want times such as 2026-01-31T12:00:00Z", from, to)
		}
		if c.step, err = time.ParseDuration(j.Precision); err != nil {
			return c, fmt.Errorf("precision %.40q: want a length of time such as 1h or 24h", j.Precision)
		}
		for _, name := range j.Parts {
			part := partNamed(name)
			if part == 0 || c.parts&part != 0 {
				return c, fmt.Errorf("part %.40q: want month, weekday or hour, each at most once", name)
			}
			c.parts |= part
		}
		return c.withTimes(lo, hi), nil
	case DurationColumn:
		var from, to string
		if err := errors.Join(strictjson.Decode(j.Lo, &from), strictjson.Decode(j.Hi, &to)); err != nil {
			return c, fmt.Errorf("bounds %.40s, %.40s: want strings such as \"1h30m\"", j.Lo, j.Hi)
		}
		var lo, hi time.Duration
		for _, f := range []struct {
			into *time.Duration
			text string
		}{{&lo, from}, {&hi, to}, {&c.step, j.Precision}} {
			if *f.into, err = time.ParseDuration(f.text); err != nil {
				return c, fmt.Errorf("bound or precision %.40q: want a length of time such as 1h30m", f.text)
			}
		}
		return c.withDurations(lo, hi), nil
	case IntegerColumn:
		var lo, hi int64
		if strictjson.Decode(j.Lo, &lo) == nil && strictjson.Decode(j.Hi, &hi) == nil {
			return c.withWhole(lo, hi), nil
		}
	}
	if !has(j.Lo) {
		return c, nil
	}
	var lo, hi float64
	if err := errors.Join(strictjson.Decode(j.Lo, &lo), strictjson.Decode(j.Hi, &hi)); err != nil {
		return c, fmt.Errorf("bounds %.40s, %.40s: want numbers", j.Lo, j.Hi)
	}
	if c = c.WithBounds(lo, hi); j.Step != nil {
		c = c.WithStep(*j.Step)
	}
	return c, nil
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
