package tables

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// pairsOf returns a schema of flags, and factors of all pairs of them, whose tree is one clique.
func pairsOf(t *testing.T, flags int) (s records.Schema, groups []marginal.Grouping,
	factors []graphical.Factor) {
	t.Helper()
	var columns []records.Column
	for i := range flags {
		columns = append(columns, records.Flag(fmt.Sprint("f", i), "no", "yes"))
		groups = append(groups, marginal.Grouping{Group: []uint16{0, 1}, Size: 2,
			Part: []float64{0.5, 0.5}})
		for j := range i {
			factors = append(factors, graphical.Factor{Attributes: []int{j, i}, Theta: make([]float64, 4)})
		}
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	return s, groups, factors
}

// TestSmallFileOfLargeTree: the size of a file says nothing about its tree, so a tree that would
// take a reader more than some ten megabytes is refused.
func TestSmallFileOfLargeTree(t *testing.T) {
	for flags, good := range map[int]bool{16: true, 21: false} {
		s, groups, factors := pairsOf(t, flags)
		m := newModel(s, leastFine, groups, &graphical.Model{Factors: factors})
		f, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readModel(f, synth.Loading{}); errors.Is(err, synth.ErrFormat) == good ||
			(err == nil) != good {
			t.Errorf("a tree of 2^%d cells: got %v", flags, err)
		}
	}
}

// TestModelsOfManyRowsAreSmall: every different row that rows follow passes messages through all
// cells, and a small file may hold many of either. What a fit may have is always read.
func TestModelsOfManyRowsAreSmall(t *testing.T) {
	for _, c := range []struct{ flags, different, good int }{{19, 1, 1}, {19, 256, 1}, {19, 257, 0},
		{16, 2048, 1}, {16, 4096, 0}} {
		s, groups, factors := pairsOf(t, c.flags)
		m := newModel(s, leastFine, groups, graphical.NewModel(domainOf(groups), factors))
		own, err := records.NewSchema(s.Columns()[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.After(own, c.different); (err == nil) != (c.good == 1) {
			t.Errorf("2^%d cells for %d different rows of a root row: error %v", c.flags, c.different, err)
		}
	}
	var wide []string
	for i := range mostPassed/records.MostRows + 1 {
		wide = append(wide, fmt.Sprint(i))
	}
	s, err := records.NewSchema(records.Flag("f", "no", "yes"), records.Categorical("wide", wide...))
	if err != nil {
		t.Fatal(err)
	}
	of := graphical.Domain{2, len(wide)}
	groups := []marginal.Grouping{{Group: []uint16{0, 1}, Size: 2, Part: []float64{0.5, 0.5}}, {
		Group: make([]uint16, len(wide)), Size: len(wide), Part: make([]float64, len(wide))}}
	for i := range wide {
		groups[1].Group[i] = uint16(i)
	}
	m := newModel(s, leastFine, groups, graphical.NewModel(of, []graphical.Factor{
		{Attributes: []int{0}, Theta: make([]float64, 2)},
		{Attributes: []int{1}, Theta: make([]float64, len(wide))}}))
	own, err := records.NewSchema(s.Columns()[1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.After(own, records.MostRows); err != nil {
		t.Errorf("a fit without tables of several columns: %v", err)
	}
}

// TestFitsOfManyRowsAreRead: a fit does not pay for a model that is then refused. Tables of all
// pairs of three columns would make a tree of 64,000 cells, and there is room for 32,768.
func TestFitsOfManyRowsAreRead(t *testing.T) {
	var levels []string
	for i := range 40 {
		levels = append(levels, fmt.Sprint(i))
	}
	s, err := records.NewSchema(records.Categorical("a", levels...),
		records.Categorical("b", levels...), records.Categorical("c", levels...))
	if err != nil {
		t.Fatal(err)
	}
	own, err := records.NewSchema(s.Columns()[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	keys := make([]string, 600)
	for i := range keys {
		a, b := i%40, i/3%40
		c := a
		if i%2 == 0 {
			c = b
		}
		if i%5 == 0 {
			b = a
		}
		rows, keys[i] = append(rows, []any{levels[a], levels[b], levels[c]}), fmt.Sprint(i)
	}
	data, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 1e4, Delta: 1e-6}
	persons, err := records.GroupBy(data, keys, records.MostRows)
	if err != nil {
		t.Fatal(err)
	}
	p, err := AIM{Rounds: 4, Order: 2}.After(1).PlanFor(persons.Schema(), b)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Fit(privacytest.Seeded(t, t.Context(), 1), persons)
	if err != nil {
		t.Fatal(err)
	}
	m := g.Model().(*model)
	if _, err := m.After(own, records.MostRows); err != nil {
		t.Errorf("the tree %v: %v", m.model.Tree, err)
	}
}

// TestManyConditions: a file may hold many constraints. All conditions together make one model, for
// which there is room beside the file's and that of a class.
func TestManyConditions(t *testing.T) {
	for flags, room := range map[int]bool{19: true, 20: false} {
		s, groups, _ := pairsOf(t, flags)
		one := graphical.Factor{Theta: make([]float64, 1<<flags)}
		for i := range flags {
			one.Attributes = append(one.Attributes, i)
		}
		m := newModel(s, leastFine, groups, graphical.NewModel(domainOf(groups),
			[]graphical.Factor{one}))
		var list []records.Constraint
		for k := range 100 {
			list = append(list, records.Combinations([]string{fmt.Sprint("f", k%flags),
				fmt.Sprint("f", (k+1)%flags)}, []string{"no", "no"}, []string{"yes", "yes"}))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		given, met, p := m.Condition(list)
		runtime.ReadMemStats(&after)
		if !room {
			if given != synth.Model(m) || len(met) > 0 || p != 1 {
				t.Errorf("2^%d cells: conditioned on %d constraints", flags, len(met))
			}
			continue
		}
		if len(met) != 100 || p < 0x1p-18*0.999 || p > 0x1p-18*1.001 {
			t.Errorf("conditioned on %d of 100 constraints of the probability %v, want 2^-18", len(met), p)
		}
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 20 {
			t.Errorf("conditions allocated %d MiB", mib)
		}
		sampler, err := given.Sampler(synth.Draw{Cluster: -1, Class: -1})
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := sampler.Next(10); err != nil || rows.Len() != 10 {
			t.Error(rows, err)
		}
	}
}

// TestSmallFileOfLargeFactors: a file of 209 kB with a hundred factors of eight flags took 96 MB,
// because every table of factors had a view of its own from the clique.
func TestSmallFileOfLargeFactors(t *testing.T) {
	const flags, size = 20, 8
	s, groups, _ := pairsOf(t, flags)
	var factors []graphical.Factor
	for rng := rand.New(rand.NewPCG(1, 2)); len(factors) < 100; {
		of := rng.Perm(flags)[:size] // a double would be refused
		slices.Sort(of)
		factors = append(factors, graphical.Factor{Attributes: of, Theta: make([]float64, 1<<size)})
	}
	f := must(newModel(s, leastFine, groups, &graphical.Model{Factors: factors}).Encode())(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := readModel(f, synth.Loading{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 32 {
		t.Errorf("a file of %d bytes allocated %d MiB", len(f.Sections[0].Data), mib)
	}
}

// TestSmallFileOfEqualFactors: a file with the same columns in many factors, as no fit makes, would
// take long to read.
func TestSmallFileOfEqualFactors(t *testing.T) {
	s, groups, factors := pairsOf(t, 5)
	for _, twice := range []bool{false, true} {
		if twice {
			factors = append(factors, factors[3])
		}
		f, err := newModel(s, leastFine, groups, &graphical.Model{Factors: factors}).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readModel(f, synth.Loading{}); errors.Is(err, synth.ErrFormat) != twice {
			t.Errorf("twice %v: got %v", twice, err)
		}
	}
}

// TestCellsWithinLimits: a part of a composition may have its share of the cells of a file. Its
// plan may have the cells that plans have by default; a fit has no more than the share.
func TestCellsWithinLimits(t *testing.T) {
	schema, _, _ := pairsOf(t, 2)
	for cells, parts := range map[int]int{1 << 20: 1, 1 << 19: 2, 1<<20/3 - 1: 3, 1 << 15: 32,
		defaultCells: 1 << 20} {
		limits := records.Limits{Values: 2 << 20 / int64(parts), Parameters: 5 << 20 / int64(parts)}
		for _, more := range []int{0, 2} {
			if cells != defaultCells { // otherwise of plans only
				err := checkCells(limits, float64(cells+more), 100)
				if over := new(records.LimitError); errors.As(err, &over) != (more > 0) {
					t.Errorf("%d cells more than %d in one of %d parts: %v", more, cells, parts, err)
				}
				if err := checkCells(limits, float64(cells+more), float64(cells+more)); err != nil {
					t.Errorf("single columns of %d cells in one of %d parts: %v", cells+more, parts, err)
				}
			}
			if cells < defaultCells || cells+more > mostCells {
				continue
			}
			c := AIM{Common: Common{Schema: schema, Cells: cells + more,
				Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}}
			p, err := synth.PlanOf(c.Plan())
			if err != nil {
				t.Fatal(err)
			}
			text, err := p.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			_, err = Systems().ReadPlan(text,
				synth.WithLimits(records.Limits{Parameters: limits.Parameters}))
			if over := new(records.LimitError); errors.As(err, &over) != (more > 0) {
				t.Errorf("a plan of %d cells in one of %d parts: %v", cells+more, parts, err)
			}
		}
	}
}

// TestFitWithinItsShare: models that a file holds together share its cells, which a fit therefore
// keeps to. It may always have its single columns.
func TestFitWithinItsShare(t *testing.T) {
	const flags = 8
	schema, _, _ := pairsOf(t, flags)
	var rows [][]any
	for i := range 1000 {
		row := make([]any, flags)
		for j := range row {
			row[j] = []string{"no", "yes"}[(i>>(j/2)+i*j/40)%2]
		}
		rows = append(rows, row)
	}
	data := must(records.FromValues(schema, rows...))(t)
	b := accountant.Budget{Epsilon: 100, Delta: 1e-5}
	plan := must(AIM{Common: Common{Schema: schema, Budget: b}}.Plan())(t)
	for _, share := range []int{1, 40, 2} {
		parts := mostCells / share
		if share == 1 {
			parts = 1
		}
		g := must(plan.FitOn(network.Sharing(t.Context(), parts), ledger.New(b), data))(t)
		f := must(g.Model().Encode())(t)
		if _, err := readModel(f, synth.Loading{Limits: records.Limits{
			Values: 2 << 20 / int64(parts)}}); err != nil {
			t.Errorf("a fit for one of %d models: %v", parts, err)
		}
		cells := graphical.Cells(g.Model().(*model).model.Domain, factorsOf(g.Model().(*model)))
		if large := cells > 40; large != (share == 1) {
			t.Errorf("a fit for one of %d models has %v cells", parts, cells)
		}
	}
}

func factorsOf(m *model) (list [][]int) {
	for _, f := range m.model.Factors {
		list = append(list, f.Attributes)
	}
	return list
}

// TestManyConditionsOfManyFactors: to see whether there is room for a joint condition takes time in
// a model of many columns and factors, whatever its cells. Single columns always have room.
func TestManyConditionsOfManyFactors(t *testing.T) {
	const flags = 512
	s, groups, _ := pairsOf(t, flags)
	var factors []graphical.Factor
	for i := range flags {
		for _, group := range [][]int{{i}, {i, i + 1}, {i, i + 2}, {i, i + 3}} {
			if group[len(group)-1] < flags {
				factors = append(factors,
					graphical.Factor{Attributes: group, Theta: make([]float64, 1<<len(group))})
			}
		}
	}
	m := newModel(s, leastFine, groups, graphical.NewModel(domainOf(groups), factors))
	var single, joint []records.Constraint
	for i := range flags - 1 {
		single = append(single, records.Only(fmt.Sprint("f", i), "yes"))
		joint = append(joint, records.Combinations([]string{fmt.Sprint("f", i), fmt.Sprint("f", i+1)},
			[]string{"no", "no"}, []string{"yes", "yes"}))
	}
	if _, met, _ := m.Condition(single); len(met) != len(single) {
		t.Errorf("conditioned on %d of %d single columns", len(met), len(single))
	}
	_, met, _ := m.Condition(joint)
	if n := len(met); n < 8 || n > mostSpent/factorCells/len(factors) {
		t.Errorf("conditioned on %d of %d constraints", n, len(joint))
	}
}

// fourLate returns a file with a trend that draws four columns of so many levels after the target,
// two of which have a level less.
func fourLate(t *testing.T, most int) *synth.File {
	t.Helper()
	columns := []records.Column{records.Target("y", 0, 100)}
	var levels []string
	for i := range most {
		levels = append(levels, fmt.Sprint(i))
	}
	for i := range 4 {
		columns = append(columns, records.Categorical(fmt.Sprint("c", i), levels[:most-i/2]...))
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	var groups []marginal.Grouping
	for i, a := range marginal.AttributesIn(s, leastFine) {
		g := marginal.Grouping{Group: make([]uint16, a.Codes), Size: 1,
			Part: slices.Repeat([]float64{1 / float64(a.Codes)}, a.Codes)}
		for code := range g.Group {
			if i > 0 {
				g.Group[code], g.Size = uint16(code), a.Codes
			}
		}
		groups = append(groups, g)
	}
	d := domainOf(groups)
	var factors []graphical.Factor
	for i := 1; i <= 4; i++ {
		for j := 1; j < i; j++ {
			factors = append(factors,
				graphical.Factor{Attributes: []int{j, i}, Theta: make([]float64, d[i]*d[j])})
		}
	}
	m := newModel(s, leastFine, groups, graphical.NewModel(d, factors))
	m.trend = &trend{Parts: groups[0].Part, Late: []int{1, 2, 3, 4}, Scale: 0.5,
		Spread: [][]float64{slices.Repeat([]float64{1}, trendResiduals)}}
	return must(m.Encode())(t)
}

// TestLateColumnsOfASmallFile: the columns that a trend draws after the target have a tree of their
// own. A file of 49 kB with four of them took 80 MB at its first draw, and milliseconds for a row.
func TestLateColumnsOfASmallFile(t *testing.T) {
	if _, err := readModel(fourLate(t, 24), synth.Loading{}); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("columns with 304,704 combinations: got %v, want ErrFormat", err)
	}
	f := fourLate(t, 23)
	read, err := readModel(f, synth.Loading{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sampler, err := read.Sampler(synth.Draw{Cluster: -1, Class: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sampler.Next(3); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 14 {
		t.Errorf("three rows take %d MB, want at most 14", got)
	}
}

// TestCombinationsOfManyLevels: a file of 900 kB may have 20,000 levels and 15,000 combinations of
// them, which are read for each set of conditions.
func TestCombinationsOfManyLevels(t *testing.T) {
	levels, rows := make([]string, 20_000), make([][]string, 15_000)
	for i := range levels {
		levels[i] = fmt.Sprint("level", i)
	}
	for i := range rows {
		rows[i] = []string{levels[i], []string{"no", "yes"}[i%2]}
	}
	s, err := records.NewSchema(records.Categorical("c", levels...), records.Flag("f", "no", "yes"),
		records.Label("y", "no", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	s = s.WithConstraints(records.Combinations([]string{"c", "f"}, rows...))
	var groups []marginal.Grouping
	for _, a := range marginal.AttributesIn(s, leastFine) {
		g := marginal.Grouping{Group: make([]uint16, a.Codes), Size: 2, Part: make([]float64, a.Codes)}
		for code := range g.Group {
			g.Group[code], g.Part[code] = uint16(code%2), 2/float64(a.Codes)
		}
		groups = append(groups, g)
	}
	m := newModel(s, leastFine, groups, graphical.NewModel(domainOf(groups),
		[]graphical.Factor{{Attributes: []int{0, 1, 2}, Theta: make([]float64, 8)}}))
	g := synth.NewGenerator(nameAIM, m, ledger.Guarantee{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rowsOf, err := g.Sample(t.Context(), 100, synth.OfClass(1), synth.Seed(1))
	runtime.ReadMemStats(&after)
	if err != nil || rowsOf.Len() != 100 {
		t.Fatal(rowsOf, err)
	}
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 36 {
		t.Errorf("a draw allocated %d MiB", mib)
	}
}
