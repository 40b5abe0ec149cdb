package compose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// towns returns a table with an open column of towns. Town k is in about a quarter of the rows
// that no earlier town is in, and the last row has a town of its own.
func towns(t *testing.T, n int) (records.Schema, *records.Frame) {
	t.Helper()
	s := schemaOf(t, records.Hashed("town", 6).WithOther("elsewhere").WithMissing(),
		records.Flag("old", "no", "yes"))
	var rows [][]any
	for i := range n - 2 {
		town := 0
		for j := i; j%4 != 0; j /= 4 {
			town++
		}
		rows = append(rows, []any{fmt.Sprintf("town %d", town), []string{"no", "yes"}[town%2]})
	}
	rows = append(rows, []any{nil, "no"}, []any{"alone", "yes"})
	data, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	return s, data
}

// TestLevelsOfSystems checks that AIM, MST and MERF draw the texts of large counts only.
func TestLevelsOfSystems(t *testing.T) {
	s, data := towns(t, 2000)
	for name, of := range map[string]synth.Design{
		"aim": tables.AIM{Common: tables.Common{Nominal: 2000}},
		"mst":  tables.MST{Common: tables.Common{Nominal: 2000}},
		"merf": embedding(2000),
	} {
		for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			b := accountant.Budget{Epsilon: 2, Delta: 1e-6, Relation: relation}
			p, err := compose.Levels{Of: of}.PlanFor(s, b)
			if err != nil {
				t.Fatal(name, err)
			}
			t.Log(p)
			gen, err := p.Fit(t.Context(), data)
			if err != nil {
				t.Fatal(name, err)
			}
			rows, err := gen.Sample(t.Context(), 500)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(gen.Schema())
			var out strings.Builder
			f, _ := records.AsFrame(rows)
			if err := (records.CSV{}).WriteFrame(&out, f); err != nil {
				t.Fatal(err)
			}
			times := map[string]int{}
			for line := range strings.Lines(out.String()) {
				times[line]++
			}
			t.Log(times)
		}
	}
	_ = slices.Sort[[]int]
}
