package tables_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

func pinned(t *testing.T, p synth.Plan, data records.Data) *synth.Generator {
	t.Helper()
	var seen []string
	watch := synth.OnProgress(func(at synth.Progress) {
		seen = append(seen, fmt.Sprintf("%s %d %d %.9g", at.Stage, at.Step, at.Of, at.Epsilon))
	})
	g := must(p.Fit(privacytest.Seeded(t, t.Context(), 7), data, watch))(t)
	pins.Run(t, p, g)
	t.Run("progress", func(t *testing.T) {
		slices.Sort(seen) // parts of a run report concurrently
		pins.Check(t, map[string][]byte{"seen": fmt.Append(nil, seen)})
	})
	return g
}

// aims returns settings by name.
func aims() map[string]tables.AIM {
	return map[string]tables.AIM{"defaults": {}, "nominal": {Common: tables.Common{Nominal: 300}},
		"many": {Common: tables.Common{Nominal: 100_000, Bins: 6}, Rounds: 6},
		"pairs": {Common: tables.Common{Bins: 3, Fine: 9, ColumnPart: 0.3, WithinPart: 0.05, Seed: 3},
			Rounds: 12, Order: 2, Coarse: 1},
		"class":    {Rounds: 6, ClassPart: 0.6, Coarse: 3, Common: tables.Common{Bins: 5}},
		"no class": {Rounds: 5, ClassPart: -1, Common: tables.Common{WithinPart: -1, Bins: 8}},
		"few cells": {Rounds: 9, ClassPart: 0.1,
			Common: tables.Common{Cells: 60, Bins: 6, WithinPart: 0.02}}}
}

// TestPins holds runs with options that the contract suite does not set to the bits that they had.
func TestPins(t *testing.T) {
	t.Parallel()
	plain := must(records.NewSchema(records.Numeric("a", 0, 1), records.Integer("n", 0, 5_000),
		records.Flag("f", "no", "yes"), records.Flag("g", "no", "yes"), records.Flag("h", "no", "yes"),
		records.Flag("i", "no", "yes")))(t)
	b := must(records.NewFrameBuilder(plain))(t)
	for i := range 150 {
		if err := b.Append(float64(i*i%150)/150, i*i*7%5000/(1+i%3*99), i%3 == 0, i%3 < 2, i%2 == 0,
			i%3 == 0 != (i%7 == 0)); err != nil {
			t.Fatal(err)
		}
	}
	for kind, data := range map[string]*records.Frame{"linked": linked(t, 220),
		"correlated": correlated(t, 200, 2), "plain": b.Frame()} {
		for i, epsilon := range []float64{2, 60} {
			budget := accountant.Budget{Epsilon: epsilon, Delta: 1e-5, Relation: relations[i]}
			common := tables.Common{Schema: data.Schema(), Budget: budget}
			for name, c := range aims() {
				c.Schema, c.Budget = common.Schema, common.Budget
				if epsilon > 10 && (c.Rounds == 0 || kind == "plain") {
					continue // takes long
				}
				t.Run(fmt.Sprint(name, " ", kind, " ", epsilon), func(t *testing.T) {
					drawAll(t, pinned(t, must(c.Plan())(t), data))
				})
			}
			t.Run(fmt.Sprint("mst ", kind, " ", epsilon), func(t *testing.T) {
				common.Bins = 7
				drawAll(t, pinned(t, must(tables.MST{Common: common}.Plan())(t), data))
			})
			common.Nominal = 150
			t.Run(fmt.Sprint("mst nominal ", kind, " ", epsilon), func(t *testing.T) {
				pinned(t, must(tables.MST{Common: common}.Plan())(t), data)
			})
		}
	}
}

// TestPinsOfNarrowTables holds tables of one and of two columns to their bits.
func TestPinsOfNarrowTables(t *testing.T) {
	columns := []records.Column{records.Flag("f", "no", "yes"), records.Integer("n", 0, 50),
		records.Label("y", "a", "b")}
	for name, list := range map[string][]records.Column{"one": columns[:1], "numbers": columns[1:2],
		"two": columns[:2], "class": columns[1:]} {
		b := must(records.NewFrameBuilder(must(records.NewSchema(list...))(t)))(t)
		for i := range 120 {
			row := []any{i%3 == 0, i * i % 50, string("ab"[i%5/3])}
			if name == "numbers" || name == "class" {
				row = row[1:]
			}
			if err := b.Append(row[:len(list)]...); err != nil {
				t.Fatal(err)
			}
		}
		data := b.Frame()
		common := tables.Common{Schema: data.Schema(), Bins: 5,
			Budget: accountant.Budget{Epsilon: 9, Delta: 1e-5}}
		for kind, design := range map[string]interface {
			Plan() (synth.PassProgram, error)
		}{"aim": tables.AIM{Common: common, Rounds: 4}, "mst": tables.MST{Common: common}} {
			t.Run(name+" "+kind, func(t *testing.T) {
				p, err := design.Plan()
				if err != nil {
					pins.Check(t, map[string][]byte{"error": []byte(err.Error())})
					return
				}
				pinned(t, p, data)
			})
		}
	}
}

// TestPinsOfManyRows holds tables of more rows than are drawn at least to compare candidates. The
// columns are independent, so the drawn rows decide between the candidates.
func TestPinsOfManyRows(t *testing.T) {
	var columns []records.Column
	for i := range 6 {
		columns = append(columns, records.Flag(fmt.Sprint("f", i), "no", "yes"))
	}
	b := must(records.NewFrameBuilder(must(records.NewSchema(columns...))(t)))(t)
	rng := rand.New(rand.NewPCG(4, 4))
	for range 12_000 {
		row := make([]any, len(columns))
		for j := range row {
			row[j] = rng.IntN(3) == 0
		}
		if err := b.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	data := b.Frame()
	for _, n := range []int{0, 9000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := must(tables.AIM{Rounds: 4, Common: tables.Common{Schema: data.Schema(), Nominal: n,
				Budget: accountant.Budget{Epsilon: 50, Delta: 1e-5}}}.Plan())(t)
			pinned(t, p, data)
		})
	}
}

// drawAll holds draws under conditions to their bits.
func drawAll(t *testing.T, g *synth.Generator) {
	t.Helper()
	t.Run("draws", func(t *testing.T) {
		parts := map[string][]byte{}
		for i, given := range conditions(g.Schema()) {
			parts[fmt.Sprint("given", i)] = pins.Rows(t, g, synth.Given(given...), synth.Means())
			parts[fmt.Sprint("given", i, "drawn")] = pins.Rows(t, g, synth.Given(given...))
		}
		pins.Check(t, parts)
	})
}

// conditions returns constraints for columns that a schema has, and some that it may not have.
func conditions(s records.Schema) (list [][]records.Constraint) {
	for _, c := range s.Columns() {
		switch levels := c.Levels(); {
		case len(levels) > 0:
			list = append(list, []records.Constraint{records.Only(c.Name(), levels[len(levels)-1])})
		default:
			lo, hi := c.Bounds()
			list = append(list, []records.Constraint{records.Within(c.Name(), lo, lo+(hi-lo)/3)})
		}
	}
	list = append(list, append(list[0], list[len(list)-1]...))
	return append(list, []records.Constraint{records.Combinations([]string{"pain", "f"},
		[]string{"none", "no"}, []string{"bad", "yes"}, []string{"bad", "no"})},
		[]records.Constraint{records.Combinations([]string{"f", "g", "i"},
			[]string{"no", "yes", "yes"}, []string{"yes", "no", "yes"})},
		[]records.Constraint{records.Combinations([]string{"pain", "work"}, []string{"none", "self"},
			[]string{"some", "none"}), records.Within("amount", 0, 500)},
		[]records.Constraint{records.Combinations([]string{"pain", "age"}, []string{"none", "30"},
			[]string{"some", "40"})})
}

// TestPinsOfPersons holds tables of persons with different numbers of rows to their bits.
func TestPinsOfPersons(t *testing.T) {
	data := linked(t, 150)
	keys := make([]int, data.Len())
	for i := range keys {
		keys[i] = i * i % 90
	}
	people := must(records.GroupBy(data, keys, 3))(t)
	for i, r := range relations {
		for name, c := range aims() {
			c.Schema, c.Budget = people.Schema(), accountant.Budget{Epsilon: 5, Delta: 1e-5, Relation: r}
			if i == 1 && name != "class" {
				continue
			}
			t.Run(name+" "+r.String(), func(t *testing.T) {
				pinned(t, must(c.Plan())(t), people)
			})
		}
	}
}

// TestPinsOfWideTables holds tables of more columns than are fitted together to their bits.
func TestPinsOfWideTables(t *testing.T) {
	t.Parallel()
	var list []records.Column
	for j := range 66 {
		list = append(list, records.Flag(fmt.Sprint("c", j), "no", "yes"))
	}
	s := must(records.NewSchema(append(list, records.Label("y", "a", "b", "c"))...))(t)
	var rows [][]any
	for i := range 90 {
		row := make([]any, 67)
		for j := range row {
			row[j] = i*i%7 > (i*j+j)%5
		}
		row[66] = string(rune('a' + i*i%3))
		rows = append(rows, row)
	}
	data := must(records.FromValues(s, rows...))(t)
	for i, cells := range []int{0, 200} {
		t.Run(fmt.Sprint(cells), func(t *testing.T) {
			b := accountant.Budget{Epsilon: 40, Delta: 1e-5, Relation: relations[i]}
			pinned(t, must(tables.AIM{Common: tables.Common{Schema: s, Budget: b, Nominal: 30,
				Cells: cells}, Rounds: 24, ClassPart: float64(i) - 1}.Plan())(t), data)
		})
	}
}

// TestPinsOfDefaults holds what the rules choose.
func TestPinsOfDefaults(t *testing.T) {
	parts := map[string][]byte{}
	for i, s := range []records.Schema{linked(t, 1).Schema(), correlated(t, 1, 1).Schema(),
		tableSchema(t), must(records.NewSchema(records.Numeric("a", 0, 1), records.Target("y", 0, 9),
			records.Flag("f", "no", "yes")))(t)} {
		for j, n := range []int{100, 2_000, 20_000, 1_000_000} {
			common := tables.Common{Schema: s, Nominal: n,
				Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6, Relation: relations[(i+j)%2]}}
			for name, design := range map[string]interface {
				Plan() (synth.PassProgram, error)
			}{"aim": tables.AIM{Common: common}, "mst": tables.MST{Common: common}} {
				p := must(design.Plan())(t)
				parts[fmt.Sprint(name, i, "of", n)] = append(must(json.Marshal(p))(t), p.String()...)
			}
		}
	}
	pins.Check(t, parts)
}

// TestPinsOfResumedRuns goes on with copies of checkpoints from each stage.
func TestPinsOfResumedRuns(t *testing.T) {
	t.Parallel() // it waits for the disk
	data := linked(t, 120)
	b := accountant.Budget{Epsilon: 3, Delta: 1e-5}
	for name, p := range tablePlans(t, data.Schema(), b) {
		for _, at := range []int{1, 3} {
			t.Run(fmt.Sprint(name, " ", at), func(t *testing.T) {
				ctx, path := privacytest.Seeded(t, t.Context(), 7), filepath.Join(t.TempDir(), "run")
				n := 0
				must(p.Fit(ctx, data, synth.CheckpointEvery(path, 1), synth.OnProgress(
					func(synth.Progress) {
						if n++; n == at {
							os.Link(path, path+"2")
						}
					})))(t)
				pins.Run(t, p, must(p.Fit(ctx, data, synth.CheckpointEvery(path+"2", 1)))(t))
			})
		}
	}
}
