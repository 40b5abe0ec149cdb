package compose_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// townSchema has an open column of at most five levels besides the other one.
func townSchema(t *testing.T) records.Schema {
	t.Helper()
	return schemaOf(t, records.Hashed("town", 6).WithOther("elsewhere").WithMissing(),
		records.Flag("old", "no", "yes"))
}

// towns returns rows of towns, by their numbers of rows.
func towns(t *testing.T, rows map[string]int) *records.Frame {
	t.Helper()
	b := must(records.NewFrameBuilder(townSchema(t)))(t)
	for _, town := range slices.Sorted(func(yield func(string) bool) {
		for town := range rows {
			yield(town)
		}
	}) {
		for i := range rows[town] {
			value := any(town)
			if town == "" {
				value = nil
			}
			if err := b.Append(value, []string{"no", "yes"}[i%2]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Frame()
}

// usual has three towns of many rows, one of a few rows, and rows that can be of no level.
var usual = map[string]int{"Basel": 600, "Bern": 800, "Chur": 500, "alone": 1, "": 300,
	"elsewhere": 300, strings.Repeat("x", 300): 300, "a\tb": 300}

// foundIn returns the levels of a generator's towns without the other one.
func foundIn(g *synth.Generator) []string {
	levels := g.Schema().Columns()[0].Levels()
	return levels[:len(levels)-1]
}

func levelsPlan(t *testing.T, c compose.Levels, b accountant.Budget, s records.Schema) synth.Plan {
	t.Helper()
	return must(c.PlanFor(s, b))(t)
}

// TestLevelsOfSystems checks that AIM, MST and MERF draw texts of large counts only, and that the
// counts are a line of the ledger that the budget covers.
func TestLevelsOfSystems(t *testing.T) {
	data := towns(t, usual)
	common := tables.Common{Nominal: data.Len()}
	for name, of := range map[string]synth.Design{"aim": tables.AIM{Common: common, Rounds: 1},
		"mst": tables.MST{Common: common}, "merf": embedding(data.Len())} {
		for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne,
			accountant.ReplaceOne} {
			b := accountant.Budget{Epsilon: 2, Delta: 1e-9, Relation: relation}
			p := levelsPlan(t, compose.Levels{Of: of}, b, data.Schema())
			l := ledger.New(b)
			gen, err := p.FitOn(t.Context(), l, data)
			if err != nil {
				t.Fatal(name, err)
			}
			if got := foundIn(gen); !slices.Equal(got, []string{"Basel", "Bern", "Chur"}) {
				t.Errorf("%s, %v: found %q", name, relation, got)
			}
			line := l.Entries()[0]
			e, ok := line.Event.(accountant.SparseHistogram)
			if !ok || line.Spent != 1 || e.Cells != 1 || line.Purpose != "levels of open columns" {
				t.Errorf("%s: the first line is %+v", name, line)
			}
			rows := must(gen.Sample(t.Context(), 300, synth.Seed(1)))(t)
			var text bytes.Buffer
			f, _ := records.AsFrame(rows)
			if err := (records.CSV{}).WriteFrame(&text, f); err != nil {
				t.Fatal(err)
			}
			elsewhere := 0
			for row := range strings.Lines(text.String()) {
				town, _, _ := strings.Cut(row, ",")
				if town == "elsewhere" {
					elsewhere++
				}
				if !slices.Contains([]string{"", "Basel", "Bern", "Chur", "elsewhere"}, town) {
					t.Fatalf("%s: a synthetic town is %q", name, town)
				}
			}
			if name != "merf" && (elsewhere < 30 || elsewhere > 150) { // 901 of 3101 are
				t.Errorf("%s: %d of 300 synthetic records are elsewhere", name, elsewhere)
			}
		}
	}
}

// TestLevelsFiles: a generator with levels that were found is the same after it was saved.
func TestLevelsFiles(t *testing.T) {
	data := towns(t, usual)
	b := accountant.Budget{Epsilon: 2, Delta: 1e-9}
	gen := must(levelsPlan(t, compose.Levels{Of: embedding(900)}, b, data.Schema()).Fit(t.Context(),
		data))(t)
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	for _, leak := range []string{"alone", strings.Repeat("x", 300), "a\\tb"} {
		if bytes.Contains(file.Bytes(), []byte(leak)) {
			t.Errorf("the file has the text %.9q", leak)
		}
	}
	read := must(append(slices.Clone(systems), compose.Systems(systems)...).Load(&file))(t)
	if !read.Schema().Equal(gen.Schema()) {
		t.Errorf("the schema is %v after reading, %v before", read.Schema(), gen.Schema())
	}
	want, err1 := gen.Sample(t.Context(), 50, synth.Seed(2))
	got, err2 := read.Sample(t.Context(), 50, synth.Seed(2))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		a, _ := records.AsFrame(want)
		b, _ := records.AsFrame(got)
		if a.Value(i, 0) != b.Value(i, 0) {
			t.Fatalf("row %d is %v after reading, %v before", i, b.Value(i, 0), a.Value(i, 0))
		}
	}
}

// TestMostLevels: of more texts with large counts than the schema allows, those with the largest
// noisy counts are the levels, in alphabetical order. The noise is far smaller than the
// differences.
func TestMostLevels(t *testing.T) {
	rows := map[string]int{}
	for i := range 9 {
		rows[fmt.Sprintf("town %d", i)] = 200 + 100*(i*5%9)
	}
	data := towns(t, rows)
	b := accountant.Budget{Epsilon: 20, Delta: 1e-9}
	gen := must(levelsPlan(t, compose.Levels{Of: embedding(900)}, b, data.Schema()).Fit(t.Context(),
		data))(t)
	want := []string{"town 1", "town 3", "town 5", "town 7", "town 8"}
	if got := foundIn(gen); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestLevelsOfPersons: a person with many rows counts for one text, the most frequent one, so a
// text that one person repeats is not found.
func TestLevelsOfPersons(t *testing.T) {
	b := must(records.NewFrameBuilder(townSchema(t)))(t)
	var persons []int
	add := func(person int, towns ...any) {
		for _, town := range towns {
			persons = append(persons, person)
			if err := b.Append(town, "no"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for person := range 150 {
		add(person, "Bern", "Basel", "Bern", nil, "elsewhere")
	}
	for range 300 {
		add(1000, "alone")
	}
	data := must(records.GroupBy(b.Frame(), persons, 400))(t)
	budget := accountant.Budget{Epsilon: 3, Delta: 1e-9}
	p := levelsPlan(t, compose.Levels{Of: tables.MST{Common: tables.Common{Nominal: 151}}}, budget,
		data.Schema())
	l := ledger.New(budget, ledger.WithUnit(records.UnitUser))
	gen := must(p.FitOn(t.Context(), l, data))(t)
	if got := foundIn(gen); !slices.Equal(got, []string{"Bern"}) {
		t.Errorf("found %q, want Bern", got)
	}
	if g := gen.Guarantee(); g.Unit != records.UnitUser || g.RowsPerUnit != 400 {
		t.Errorf("the guarantee is for %s with %d rows", g.Unit, g.RowsPerUnit)
	}
	if _, err := gen.Sample(t.Context(), 20); err != nil {
		t.Error(err)
	}
	// A part that refuses persons still does.
	ranks := compose.Levels{Of: ranksOf(embedding(9))}
	if _, err := ranks.PlanFor(data.Schema(), budget); err == nil {
		t.Error("ranks of persons are planned")
	}
}

// TestLevelsReplay compares runs on neighbouring tables, with little noise too. The counts' noise
// is so small there that a text of one more row would be found without the threshold.
func TestLevelsReplay(t *testing.T) {
	base := map[string]int{"Basel": 60, "Bern": 40, "": 3}
	for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, epsilon := range []float64{3, 3000} {
			budget := accountant.Budget{Epsilon: epsilon, Delta: 1e-9, Relation: relation}
			p := levelsPlan(t, compose.Levels{Of: embedding(103)}, budget, townSchema(t))
			for _, more := range []any{"Bern", "new", nil, "elsewhere"} {
				data := towns(t, base)
				b := must(records.NewFrameBuilder(townSchema(t)))(t)
				if err := b.Append(more, "no"); err != nil {
					t.Fatal(err)
				}
				rows := data.Slice(0, data.Len())
				if relation == accountant.ReplaceOne { // the first row, of a town with no name
					rows = data.Slice(1, data.Len())
				}
				neighbour := must(records.Concat(data.Schema(), b.Frame(), rows))(t)
				privacytest.Replay[records.Data]{Budget: budget, Data: data, Neighbour: neighbour, Seeds: 1,
					Run: func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
						gen, err := p.FitOn(ctx, l, data)
						if err != nil {
							return nil, err
						}
						var file bytes.Buffer
						err = gen.Save(&file)
						return file.String(), err
					}}.Check(t)
			}
		}
	}
}

// TestLevelsDependOnNoOrder: the order of the rows changes neither the texts nor their order.
func TestLevelsDependOnNoOrder(t *testing.T) {
	data := towns(t, usual)
	order := make([]int32, data.Len())
	for i := range order {
		order[i] = int32((i*7 + 3) % len(order))
	}
	b := accountant.Budget{Epsilon: 200, Delta: 1e-9}
	p := levelsPlan(t, compose.Levels{Of: embedding(900)}, b, data.Schema())
	for _, rows := range []*records.Frame{data, data.Take(order)} {
		gen := must(p.Fit(t.Context(), rows))(t)
		if got := foundIn(gen); !slices.Equal(got, []string{"Basel", "Bern", "Chur"}) {
			t.Errorf("found %q", got)
		}
	}
}

// TestLevelsLost: a run whose counts were spent, and whose texts were lost, goes on without levels,
// and does not draw again. If the texts were kept, it goes on with them.
func TestLevelsLost(t *testing.T) {
	data := towns(t, usual)
	b := accountant.Budget{Epsilon: 2, Delta: 1e-9}
	p := levelsPlan(t, compose.Levels{Of: embedding(900)}, b, data.Schema())
	l, keep := ledger.New(b), synth.Checkpoint(filepath.Join(t.TempDir(), "run"))
	var gen *synth.Generator
	fit := func(stop string) (err error) {
		defer func() {
			if recover() != nil {
				err = errStopped
			}
		}()
		gen, err = p.FitOn(t.Context(), l, data, keep, synth.OnProgress(func(at synth.Progress) {
			if at.Stage == stop {
				panic(stop)
			}
		}))
		return err
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel() // before the counts are spent: the next run spends them
	if _, err := p.FitOn(ended, l, data, keep); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := fit("levels of open columns"); err != errStopped { // before the texts are kept
		t.Fatal(err)
	}
	if err := fit(""); err != nil || len(foundIn(gen)) > 0 {
		t.Errorf("with lost texts: found %q, %v", foundIn(gen), err)
	}
	l, keep = ledger.New(b), synth.Checkpoint(filepath.Join(t.TempDir(), "run"))
	if err := fit("merf: mean embedding"); err != errStopped { // after the texts are kept
		t.Fatal(err)
	}
	if err := fit(""); err != nil || len(foundIn(gen)) != 3 {
		t.Errorf("with texts that were kept: found %q, %v", foundIn(gen), err)
	}
}

var errStopped = errors.New("stopped")

// TestLevelsRefusals checks what PlanFor refuses.
func TestLevelsRefusals(t *testing.T) {
	s := townSchema(t)
	b := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	pure := accountant.Budget{Epsilon: 1}
	many := schemaOf(t, records.Hashed("a", 2049).WithOther("b"),
		records.Hashed("c", 2048).WithOther("d"))
	named := s.WithConstraints(records.Only("town", "Bern"))
	for name, c := range map[string]struct {
		config compose.Levels
		schema records.Schema
		budget accountant.Budget
	}{
		"no part":               {compose.Levels{}, s, b},
		"share":                 {compose.Levels{Of: embedding(9), Share: 1}, s, b},
		"noise":                 {compose.Levels{Of: embedding(9), NoiseMultiplier: -1}, s, b},
		"too much noise":        {compose.Levels{Of: embedding(9), NoiseMultiplier: 1e9}, s, b},
		"too many buckets":      {compose.Levels{Of: embedding(9)}, many, b},
		"δ = 0":                 {compose.Levels{Of: embedding(9)}, s, pure},
		"constraint of a level": {compose.Levels{Of: embedding(9)}, named, b},
	} {
		var p *param.Error
		if _, err := c.config.PlanFor(c.schema, c.budget); !errors.As(err, &p) {
			t.Errorf("%s: got %v, want a *param.Error", name, err)
		}
	}
	closed := schemaOf(t, records.Flag("old", "no", "yes"))
	if p := levelsPlan(t, compose.Levels{Of: embedding(9)}, b, closed); p.System() != "merf" {
		t.Errorf("without open columns the plan is of %s, want the part's", p.System())
	}
}

// TestLevelsShareOfDelta: texts of a single record take a tenth of δ, whatever the number of
// columns.
func TestLevelsShareOfDelta(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	for n := 1; n <= 3; n++ {
		var columns []records.Column
		for j := range n {
			columns = append(columns, records.Hashed(fmt.Sprint("town", j), 6).WithOther("elsewhere"))
		}
		p := levelsPlan(t, compose.Levels{Of: embedding(900)}, b, schemaOf(t, columns...))
		e := p.Stages()[0].Event.(accountant.SparseHistogram)
		if p := math.Erfc((e.Threshold-1)/e.Sigma/math.Sqrt2) / 2; e.Cells != n ||
			math.Abs(p*float64(n)/1e-10-1) > 1e-6 {
			t.Errorf("%d columns: %+v releases a text of one record with probability %v", n, e, p)
		}
	}
}

// TestLevelsAtTinyDeltas: a plan may have the smallest δ that a budget may have.
func TestLevelsAtTinyDeltas(t *testing.T) {
	for _, delta := range []float64{1e-9, 1e-15, 1e-18, accountant.MinDelta} {
		b := accountant.Budget{Epsilon: 2, Delta: delta}
		p := levelsPlan(t, compose.Levels{Of: tables.AIM{}}, b, townSchema(t))
		e := p.Stages()[0].Event.(accountant.SparseHistogram)
		alone := math.Erfc((e.Threshold-1)/e.Sigma/math.Sqrt2) / 2
		total := p.Total().Upper
		if !(total <= 2 && total > 1.8 && alone < delta && alone > delta/20) {
			t.Errorf("δ = %g: ε = %v, and a text alone is released with probability %g", delta, total,
				alone)
		}
	}
}
