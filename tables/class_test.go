package tables

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// TestClassTablesAreThoseOfEachColumn checks which tables are measured without a choice: for each
// column, the table with the class that has the fewest cells. Together they get the plan's fraction
// of the units, in equal numbers. Tables without room in the model are omitted.
func TestClassTablesAreThoseOfEachColumn(t *testing.T) {
	s, _ := smallTable(t)
	m := methodFor(t, s, 0)
	groups := someGroups(m.attributes)
	domain := columnsOf(groups)
	fit := func(part float64, cells int, m method) *fitting {
		m.strategy, m.Cells = worstFitted{classPart: part}, cells
		f := &fitting{work: work{m, 1}, domain: domain[:len(groups)], groups: groups,
			list: m.candidates(domain)}
		for a := range groups {
			f.columns = append(f.columns, graphical.Measurement{Attributes: []int{a}})
		}
		return f
	}
	f := fit(0.5, 1<<18, m)
	list, units := f.strategy.(worstFitted).classTables(f)
	if want := int(0.5 * float64(f.units()) / 4); units != want {
		t.Errorf("got %d units for each table, want %d", units, want)
	}
	for a, i := range list {
		c := f.list[i]
		coarse := groups[a].CoarseSize > 0
		if !slices.Equal(c.attributes, []int{a, 4}) || c.fine() == coarse {
			t.Errorf("table %d is %v of columns %v, want the coarsest of column %d and the class", a,
				c.attributes, c.columns, a)
		}
	}
	if len(list) != 4 {
		t.Errorf("got %d tables, want one for each of 4 columns", len(list))
	}
	classTables := func(part float64, cells int) []int {
		list, _ := worstFitted{classPart: part}.classTables(fit(part, cells, m))
		return list
	}
	if list := classTables(0.5, 24); len(list) == 0 || len(list) >= 4 {
		t.Errorf("got %d tables in a model of 24 cells, want some but not all", len(list))
	}
	for _, part := range []float64{0, 0.01} {
		if list := classTables(part, 1<<18); len(list) > 0 {
			t.Errorf("a fraction of %v of 48 units: got tables %v, want none", part, list)
		}
	}
}

// TestFewRecordsChangeTheDefaults checks that defaults follow from the records compared with the
// noise: many records have all cells, the usual rounds and no tables without a choice, and few
// records have fewer cells and rounds. A plan without a class has no tables with it.
func TestFewRecordsChangeTheDefaults(t *testing.T) {
	s, _ := smallTable(t)
	of := func(s records.Schema, n int) method {
		m, err := AIM{Common: Common{Schema: s, Nominal: n,
			Budget: accountant.Budget{Epsilon: 0.3, Delta: 1e-5}}}.method()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	many, few, unknown := of(s, 1_000_000), of(s, 1000), of(s, 0)
	part := func(m method) float64 { return m.strategy.(worstFitted).classPart }
	for name, w := range map[string]method{"many": many, "unknown": unknown} {
		if w.Fine != marginal.MostCells || w.ColumnPart != leastColumnPart || part(w) != 0 ||
			w.rounds != roundsFor(5) {
			t.Errorf("%s records: got %d cells, parts %v and %v, %d rounds; want the usual defaults", name,
				w.Fine, w.ColumnPart, part(w), w.rounds)
		}
	}
	if few.Fine >= 60 || few.ColumnPart <= 0.2 || part(few) <= 0.4 || few.rounds >= roundsFor(5) {
		t.Errorf("few records: got %d cells, parts %v and %v, %d rounds", few.Fine, few.ColumnPart,
			part(few), few.rounds)
	}
	if w := of(s.WithoutLabels(), 1000); part(w) != 0 {
		t.Errorf("without a class: got a part of %v for tables with the class, want 0", part(w))
	}
}

// TestTargetsAreLikeClasses checks that a number to be predicted has the tables of a class, in any
// place of the schema: twice the weight, and coarse groups of the other columns but not of its own.
func TestTargetsAreLikeClasses(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("c", "u", "v"), records.Target("y", 0, 1),
		records.Numeric("x", 0, 1), records.Flag("f", "no", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := AIM{Common: Common{Schema: s, Nominal: 1000,
		Budget: accountant.Budget{Epsilon: 0.3, Delta: 1e-5}}}.method()
	if err != nil {
		t.Fatal(err)
	}
	if m.goal() != 1 || m.strategy.(worstFitted).classPart == 0 {
		t.Fatalf("goal %d, part %v", m.goal(), m.strategy.(worstFitted).classPart)
	}
	domain := columnsOf(someGroups(m.attributes))
	domain[4+1], domain[4+2] = 3, 3 // both columns of numbers have coarse groups
	pairs := map[string]float64{}
	for _, c := range m.candidates(domain) {
		if len(c.attributes) == 2 {
			pairs[fmt.Sprint(c.columns)] = c.weight
		}
	}
	for columns, weight := range map[string]float64{"[0 1]": 2. / 3, "[1 2]": 2. / 3, "[1 3]": 2. / 3,
		"[1 6]": 2. / 3, "[0 2]": 1. / 3, "[2 3]": 1. / 3} {
		if math.Abs(pairs[columns]-weight) > 1e-12 {
			t.Errorf("columns %s: weight %v, want %v", columns, pairs[columns], weight)
		}
	}
	if _, own := pairs["[5 2]"]; own || len(pairs) != 7 {
		t.Errorf("pairs: %v", pairs)
	}
}

// TestClassTablesAreMeasuredOnce: a run that was interrupted among the tables of the class measures
// the others only, and none if the units that are left are too few.
func TestClassTablesAreMeasuredOnce(t *testing.T) {
	s, _ := smallTable(t)
	m := methodFor(t, s, 0)
	m.strategy, m.Cells = worstFitted{classPart: 0.5}, 1<<18
	groups := someGroups(m.attributes)
	domain := columnsOf(groups)
	f := &fitting{work: work{m, 1}, domain: domain[:len(groups)], groups: groups,
		list: m.candidates(domain)}
	last := f.list[len(f.list)-1]
	f.counts = mechanism.NewFixedSum(last.first+last.cells, marginal.TableGrid(1))
	for a := range groups {
		f.columns = append(f.columns, graphical.Measurement{Attributes: []int{a}})
	}
	list, units := m.strategy.(worstFitted).classTables(f)
	budget := accountant.Budget{Epsilon: 1e6, Delta: 1e-5, Relation: m.Budget.Relation}
	for done := range len(list) + 1 {
		for _, short := range []bool{false, true} {
			left := f.units() - done*units
			if short {
				left = len(list) - done - 1
			}
			if left < 1 {
				continue
			}
			var err error
			f.measures, err = mechanism.Begin(t.Context(), ledger.New(budget)).Reserve("use",
				accountant.Gaussian{NoiseMultiplier: f.unitNoise(f.noise)}, left)
			if err != nil {
				t.Fatal(err)
			}
			f.values = nil
			for _, i := range list[:done] {
				f.values = append(f.values, tableValues{candidate: i, units: units})
			}
			if err := f.strategy.begin(f); err != nil {
				t.Fatal(err)
			}
			want := list
			if short {
				want = list[:done]
			}
			var got []int
			for _, v := range f.values {
				got = append(got, v.candidate)
			}
			if used := (len(want) - done) * units; !slices.Equal(got, want) ||
				f.measures.Remaining() != left-used {
				t.Errorf("after %d tables with %d units left: measured %v with %d left, want %v and %d",
					done, left, got, f.measures.Remaining(), want, left-used)
			}
		}
	}
}

// TestTheLastRoundTakesTheRest: a measurement has the units of its level, and those that are left
// in the last round or if two levels do not fit.
func TestTheLastRoundTakesTheRest(t *testing.T) {
	l := ledger.New(accountant.Budget{Epsilon: 1e6, Delta: 1e-5})
	reserve := func(n int) *mechanism.Allowance {
		a, err := mechanism.Begin(t.Context(), l).Reserve("use",
			accountant.Gaussian{NoiseMultiplier: 50}, n)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct{ choices, left, want int }{{1, 20, 20}, {2, 20, 4}, {9, 8, 4},
		{9, 7, 7}, {1, 3, 3}} {
		f := &fitting{level: 4, choices: reserve(c.choices), measures: reserve(c.left)}
		if got := (worstFitted{}).units(f); got != c.want {
			t.Errorf("%d rounds and %d units left: took %d, want %d", c.choices, c.left, got, c.want)
		}
	}
}

// anyTable is the strategy of AIM in a model that has room for every table.
type anyTable struct{ worstFitted }

func (anyTable) fits(*fitting) func([]int) bool { return func([]int) bool { return true } }

// TestChoicesSubtractTheNoise: without noise of its own, a choice is the table whose weighted
// distance from the guess exceeds the expected noise of its measurement most. This is the same
// under both relations, though under replace-one a distance changes by 2.
func TestChoicesSubtractTheNoise(t *testing.T) {
	const std = 40.0
	s, _ := smallTable(t)
	rng := rand.New(rand.NewPCG(4, 9))
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		m := methodFor(t, s, r)
		m.strategy, m.Cells = anyTable{}, 1<<18
		groups := someGroups(m.attributes)
		domain := columnsOf(groups)
		list := m.candidates(domain)
		last := list[len(list)-1]
		f := &fitting{work: work{m, 1}, domain: domain[:len(groups)], groups: groups, list: list,
			covers: newCovers(domain, groups, list), refused: map[int]bool{},
			counts: mechanism.NewFixedSum(last.first+last.cells, marginal.TableGrid(1))}
		var err error
		f.choices, err = mechanism.Begin(t.Context(), ledger.New(accountant.Budget{Epsilon: 1e9,
			Delta: 1e-5, Relation: r})).Reserve("use", accountant.ExponentialMechanism{Epsilon: 1e4}, 20)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			f.counts.Reset()
			score, best := make([]float64, len(list)), math.Inf(-1)
			guesses := make([][]float64, len(list))
			for i, c := range list {
				guesses[i] = make([]float64, c.cells)
				apart := 0.0
				for k := range c.cells {
					n := rng.IntN(150)
					f.counts.AddInt(c.first+k, int64(n))
					apart += float64(n)
				}
				score[i] = c.weight * (apart - marginal.ExpectedNoise(c.cells, std))
				best = max(best, score[i])
			}
			i, err := f.choose(guesses, std)
			if err != nil {
				t.Fatal(err)
			}
			if score[i] < best-4 { // utilities are whole numbers
				t.Errorf("%v: chose a score of %v, the best is %v", r, score[i], best)
			}
		}
	}
}

// TestListsOfTablesAreLimited checks how many tables may be measured: those of three columns if all
// of them have room, else those with the class, else none. A table and a list may have exactly as
// many cells as allowed.
func TestListsOfTablesAreLimited(t *testing.T) {
	for _, c := range []struct{ columns, groups, order, class, want int }{
		{30, 2, 3, -1, 30 + 435 + 4060}, // 465 + 30³/6 are at most 5000
		{31, 2, 3, -1, 31 + 465},
		{31, 2, 3, 30, 31 + 465 + 435},
		{70, 2, 3, 69, 70 + 2415 + 2346}, // 2485 + 70²/2 are at most 5000
		{71, 2, 3, 70, 71 + 2485},
		{99, 2, 2, -1, 99 + 4851},
		{100, 2, 2, -1, mostCandidates},
		{3, 256, 2, -1, 3 + 3}, // 256² cells are allowed
		{3, 257, 2, -1, 3},
		{12, 40, 3, -1, 12 + 66 + 220}, // 14 million cells
		{13, 40, 3, -1, 13 + 78},       // 18 million
		{257, 1 << 16, 1, -1, 256},     // of 2^16 cells each
	} {
		m := method{attributes: make([]marginal.Attribute, c.columns), order: c.order, classWeight: 1}
		domain := make(graphical.Domain, 2*c.columns)
		for a := range c.columns {
			domain[a], m.attributes[a].Block.Width = c.groups, 1
			m.attributes[a].Target = a == c.class
		}
		if len(m.candidates(domain)) != c.want {
			t.Errorf("%+v: %d tables", c, len(m.candidates(domain)))
		}
	}
}
