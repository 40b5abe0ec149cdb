package draft

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// ruleOf returns a constraint in JSON.
func ruleOf(c records.Constraint) (r map[string]any) {
	text, _ := json.Marshal(c)
	_ = param.Decode(text, &r)
	return r
}

// align gives narrowed columns that a rule compares the same levels, from the first to the last
// that one of them has.
func align(wide records.Schema, columns []records.Column) {
	declared := wide.Columns()
	for changed := true; changed; {
		changed = false
		for _, c := range wide.Constraints() {
			kind, _ := ruleOf(c)["type"].(string)
			first, last, at := math.MaxInt, -1, []int(nil)
			for i, d := range declared {
				if strings.HasSuffix(kind, "ascending") && d.Kind() == records.OrdinalColumn &&
					slices.Contains(c.Columns(), d.Name()) {
					all, own := d.Levels(), columns[i].Levels()
					first, at = min(first, slices.Index(all, own[0])), append(at, i)
					last = max(last, slices.Index(all, own[len(own)-1]))
				}
			}
			for _, i := range at {
				if n := len(columns[i].Levels()); n <= last-first {
					wider := spanned(declared[i], first, last)
					if !columns[i].HasMissing() {
						wider = wider.WithoutMissing()
					}
					columns[i], changed = wider, true
				}
			}
		}
	}
}

// held returns as much of a rule as narrowed columns can have, and whether that is anything: the
// rows whose values they have, and their first and last level as bounds. Records that obey it obey
// the rule, unless that determines a value which is not kept.
func held(s, wide records.Schema, c records.Constraint) (out records.Constraint, ok bool) {
	if s.WithConstraints(c).Validate() == nil {
		return c, true
	}
	r, declared := ruleOf(c), wide.Columns()
	lowest, _ := r["lo"].(string)
	highest, _ := r["hi"].(string)
	var of []records.Column
	for i, column := range s.Columns() {
		if !slices.Contains(c.Columns(), column.Name()) {
			continue
		}
		of = append(of, column)
		if all, own := declared[i].Levels(), column.Levels(); column.Kind() == records.OrdinalColumn {
			lo, hi := own[0], own[len(own)-1]
			if k := slices.Index(all, lowest); k >= 0 && k < slices.Index(all, lo) {
				r["lo"] = lo
			}
			if slices.Index(all, highest) > slices.Index(all, hi) {
				r["hi"] = hi
			}
		}
	}
	if few, err := records.NewSchema(of...); err == nil {
		s = few // a rule may have thousands of rows
	}
	fits := func() bool {
		text, _ := json.Marshal(r)
		return param.Decode(text, &out) == nil && s.WithConstraints(out).Validate() == nil
	}
	if rows, some := r["rows"].([]any); some {
		r["rows"] = without(rows, func(part []any) bool { r["rows"] = part; return fits() })
	}
	if !fits() && r["or_missing"] == true { // only a missing value is left
		r = map[string]any{"type": "only", "columns": r["columns"], "rows": [][]string{{""}}}
	}
	return out, fits()
}

// without returns the rows that are fine, alone and together with others.
func without(rows []any, fine func([]any) bool) []any {
	switch half := len(rows) / 2; {
	case len(rows) == 0 || fine(rows):
		return rows
	case half == 0:
		return nil
	default:
		return append(without(rows[:half:half], fine), without(rows[half:], fine)...)
	}
}
