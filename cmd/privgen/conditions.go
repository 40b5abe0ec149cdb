package main

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/records"
)

// condition is what a record's value in one column must be.
type condition struct {
	column   int
	operator string
	levels   bool // the column is one of levels
	level    string
	number   float64
}

type conditions []condition

// parseConditions reads conditions such as sex=Female and age>=30.
func parseConditions(texts []string, s records.Schema) (out conditions, err error) {
	if s.Kind() != records.MixedTable {
		return nil, usagef("--where: want a generator of tables, not of %v", s)
	}
	for _, text := range texts {
		c, err := parseCondition(text, s)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func parseCondition(text string, s records.Schema) (condition, error) {
	c := condition{column: -1}
	name, value := "", ""
	for _, operator := range []string{">=", "<=", "="} {
		before, after, found := strings.Cut(text, operator)
		if at := s.ColumnIndex(strings.TrimSpace(before)); found && at >= 0 {
			c.column, c.operator, name, value = at, operator, before, strings.TrimSpace(after)
			break
		}
	}
	if c.column < 0 {
		return c, usagef("--where: %q: want column=level, column>=number or column<=number", text)
	}
	column := s.Columns()[c.column]
	if levels := column.Levels(); len(levels) > 0 {
		c.levels = true
		if c.level = value; c.operator != "=" || value != "" && !slices.Contains(levels, value) {
			return c, usagef("--where: %q: want %s=… with one of %q", text, strings.TrimSpace(name), levels)
		}
		return c, nil
	}
	var err error
	if c.number, err = strconv.ParseFloat(value, 64); err != nil {
		return c, usagef("--where: %q: want a number", text)
	}
	return c, nil
}

// holds reports whether a record meets the condition. A missing number meets none.
func (c condition) holds(f *records.Frame, row int) bool {
	if c.levels {
		return f.Value(row, c.column) == c.level
	}
	number := f.Number(row, c.column)
	switch c.operator {
	case ">=":
		return number >= c.number
	case "<=":
		return number <= c.number
	}
	return number == c.number
}

// filter yields the first n records that meet all conditions, of so many that are drawn at most.
func (list conditions) filter(parts iter.Seq2[records.Data, error], n, most int) iter.Seq2[
	records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		left := n
		for part, err := range parts {
			if err != nil {
				yield(nil, err)
				return
			}
			f, ok := records.AsFrame(part)
			if !ok {
				yield(nil, fmt.Errorf("records of type %T are no table", part))
				return
			}
			rows := list.rows(f, left)
			if left -= len(rows); len(rows) > 0 && !yield(f.Take(rows), nil) || left == 0 {
				return
			}
		}
		yield(nil, usagef("--where: of %d records drawn only %d meet the conditions: want other "+
			"conditions, or more --attempts", most, n-left))
	}
}

func (list conditions) rows(f *records.Frame, most int) (rows []int32) {
	for i := range f.Len() {
		if len(rows) == most {
			break
		}
		good := true
		for _, c := range list {
			good = good && c.holds(f, i)
		}
		if good {
			rows = append(rows, int32(i))
		}
	}
	return rows
}
