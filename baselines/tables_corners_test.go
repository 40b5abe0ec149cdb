package baselines

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// cornerSchemas returns schemas with and without a class, of numbers, of levels, and of both.
func cornerSchemas(t *testing.T) (list []records.Schema) {
	t.Helper()
	number, level := records.Numeric("x", 0, 1), records.Categorical("c", "a", "b", "d")
	class, target := records.Label("y", "u", "v"), records.Target("t", 0, 2).WithStep(0.5)
	for _, columns := range [][]records.Column{{number}, {level}, {number, class}, {level, class},
		{number, target}, {level, records.Flag("f", "n", "y"), class}, {number.WithStep(0.01), class}} {
		s, err := records.NewSchema(columns...)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// TestPartsOfTheBudgetAddUp checks plans of AIM at the limits of their settings. A plan costs no
// more than its budget, it is unchanged by being written and read, and its fit succeeds.
func TestPartsOfTheBudgetAddUp(t *testing.T) {
	for _, s := range cornerSchemas(t) {
		rows, err := records.FromValues(s, firstRow(s), firstRow(s))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			for _, c := range []AIM{{}, {Rounds: 1, ClassPart: 0.9}, {Rounds: 2, ClassPart: 0.9},
				{ClassPart: math.Inf(-1)}, {Rounds: 1, ClassPart: 1e-300},
				{Tables: Tables{ColumnPart: 0.8, WithinPart: mostWithin, Fine: 8}, ClassPart: 0.9},
				{Tables: Tables{Nominal: 1}}, {Tables: Tables{WithinPart: leastWithin}}} {
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
				ledger := accountant.NewLedger(c.Budget)
				if _, err := p.FitOn(t.Context(), ledger, rows); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// TestOlderPlansAreUnchanged checks that plans of few and of many records without Fine, ColumnPart,
// WithinPart and ClassPart have the values that all plans had before these settings existed.
func TestOlderPlansAreUnchanged(t *testing.T) {
	s, _ := smallTable(t)
	for _, nominal := range []int{1000, 1_000_000} {
		olderPlanIsUnchanged(t, AIM{Rounds: 40, ClassPart: noClassPart, Tables: Tables{Schema: s,
			Nominal: nominal, Bins: 4, Fine: 126, ColumnPart: 0.12, WithinPart: noWithin,
			Budget: accountant.Budget{Epsilon: 0.3, Delta: 1e-5}}})
	}
}

func olderPlanIsUnchanged(t *testing.T, c AIM) {
	t.Helper()
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var older map[string]any
	if err := json.Unmarshal([]byte(saved(t, p)), &older); err != nil {
		t.Fatal(err)
	}
	config := older["config"].(map[string]any)
	delete(config, "fine")
	delete(config, "column_part")
	text, err := json.Marshal(older)
	if err != nil {
		t.Fatal(err)
	}
	again := readPlan(t, string(text))
	if !reflect.DeepEqual(again.Stages(), p.Stages()) || saved(t, again) != saved(t, p) {
		t.Errorf("got %s, want %s", saved(t, again), saved(t, p))
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
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readPlan(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := Systems().ReadPlan([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Plan)
}
