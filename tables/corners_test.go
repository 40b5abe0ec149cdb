package tables

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// cornerSchemas returns schemas with and without a class, of numbers, of levels, and of both.
func cornerSchemas(t *testing.T) (list []records.Schema) {
	t.Helper()
	number, level := records.Numeric("x", 0, 1), records.Categorical("c", "a", "b", "d")
	class, target := records.Label("y", "u", "v"), records.Target("t", 0, 2).WithStep(0.5)
	for _, columns := range [][]records.Column{{number}, {level}, {number, class}, {level, class},
		{number, target}, {level, records.Flag("f", "n", "y"), class}, {number.WithStep(0.01), class}} {
		s := must(records.NewSchema(columns...))(t)
		list = append(list, s)
	}
	return list
}

// TestPartsOfTheBudgetAddUp checks plans of AIM at the limits of their settings. A plan costs no
// more than its budget, it is unchanged by being written and read, and its fit succeeds.
func TestPartsOfTheBudgetAddUp(t *testing.T) {
	t.Parallel()
	for _, s := range cornerSchemas(t) {
		rows := must(records.FromValues(s, firstRow(s), firstRow(s)))(t)
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			for i, c := range []AIM{{}, {Rounds: 1, ClassPart: 0.9}, {Rounds: 2, ClassPart: 0.9},
				{ClassPart: math.Inf(-1)}, {Rounds: 1, ClassPart: 1e-300},
				{Common: Common{ColumnPart: 0.8, WithinPart: mostWithin, Fine: 8}, ClassPart: 0.9},
				{Common: Common{Nominal: 1}},
				{Common: Common{Nominal: 1_000_000, WithinPart: noWithin}, Rounds: 2},
				{Common: Common{Nominal: 1}, ClassPart: noClassPart, Rounds: 40},
				{Common: Common{WithinPart: leastWithin}}} {
				c.Schema, c.Budget = s, accountant.Budget{Epsilon: 0.5, Delta: 1e-5, Relation: r}
				name := fmt.Sprintf("%v, %v, %d rounds, parts %v and %v", s, r, c.Rounds, c.ClassPart,
					c.ColumnPart)
				p, err := c.Plan()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if p.Total().Upper > c.Budget.Epsilon {
					t.Errorf("%s: the plan costs %v", name, p.Total())
				}
				if text := saved(t, p); saved(t, readPlan(t, text)) != text {
					t.Errorf("%s: reading the plan changes it: %s", name, text)
				}
				if i%2 != int(r) {
					continue // fitted under the other relation
				}
				l := ledger.New(c.Budget)
				if _, err := p.FitOn(t.Context(), l, rows); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

func firstRow(s records.Schema) (row []any) {
	for _, c := range s.Columns() {
		if levels := c.Levels(); len(levels) > 0 {
			row = append(row, levels[0])
		} else {
			row = append(row, 0.5)
		}
	}
	return row
}

type plan interface{ MarshalJSON() ([]byte, error) }

func saved(t *testing.T, p plan) string {
	t.Helper()
	text := must(p.MarshalJSON())(t)
	return string(text)
}

func readPlan(t *testing.T, text string) synth.PassProgram {
	t.Helper()
	p := must(Systems().ReadPlan([]byte(text)))(t)
	return p.(synth.PassProgram)
}
