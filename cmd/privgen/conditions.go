package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/records"
)

// parseConditions reads conditions such as sex=Female and age>=30, or item=7 for sets.
func parseConditions(texts []string, s records.Schema) (out []records.Constraint, err error) {
	for _, text := range texts {
		c, good := parseCondition(text, s)
		if !good {
			return nil, usagef("--where: %q: want %s", text, conditionsOf(s))
		}
		out = append(out, c)
	}
	if _, err := records.NewEnforcer(s, out...); err != nil {
		return nil, usagef("--where: %w", err)
	}
	return out, nil
}

// conditionsOf describes the possible conditions on records of a schema.
func conditionsOf(s records.Schema) string {
	if s.Sparse() {
		return fmt.Sprintf("item=number, a number below %d", s.Dim())
	}
	var names []string
	for _, c := range s.Columns() {
		names = append(names, c.Name())
	}
	return fmt.Sprintf("column=value, column>=value or column<=value, of the columns %q", names)
}

func parseCondition(text string, s records.Schema) (c records.Constraint, good bool) {
	for _, operator := range []string{">=", "<=", "="} {
		column, value, found := strings.Cut(text, operator)
		column, value = strings.TrimSpace(column), strings.TrimSpace(value)
		if s.Sparse() && column == "item" && operator == "=" {
			item, err := strconv.ParseUint(value, 10, 32)
			return records.HasItems(uint32(item)), err == nil
		}
		if !found || s.ColumnIndex(column) < 0 {
			continue
		}
		switch {
		case operator == ">=":
			return records.Within(column, value, nil), true
		case operator == "<=":
			return records.Within(column, nil, value), true
		case value == "": // a missing value
			return records.Only(column, nil), true
		}
		return records.Only(column, value), true
	}
	return c, false
}
