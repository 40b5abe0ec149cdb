package tables

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestEverySettingIsChecked: each setting may be at its limits, and not beyond them.
func TestEverySettingIsChecked(t *testing.T) {
	s, _ := smallTable(t)
	plain := targetSchema(t)
	nan, inf, beyond := math.NaN(), math.Inf(1), defaults.Largest
	beyond++ // negative where an int has 32 bits
	flags := func(n int) records.Schema {
		var columns []records.Column
		for i := range n {
			columns = append(columns, records.Flag(fmt.Sprint(i), "n", "y"))
		}
		return must(records.NewSchema(columns...))(t)
	}
	levels := func(n int) records.Schema {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint(i)
		}
		var columns []records.Column
		for i := range 8 {
			columns = append(columns, records.Categorical(fmt.Sprint(i), list...))
		}
		return must(records.NewSchema(columns...))(t)
	}
	common := func(change func(c *Common)) func(*AIM) { return func(c *AIM) { change(&c.Common) } }
	bins := func(n int) func(*AIM) { return common(func(c *Common) { c.Bins = n }) }
	fine := func(n int) func(*AIM) { return common(func(c *Common) { c.Fine = n }) }
	cells := func(n int) func(*AIM) { return common(func(c *Common) { c.Cells = n }) }
	nominal := func(n int) func(*AIM) { return common(func(c *Common) { c.Nominal = n }) }
	column := func(x float64) func(*AIM) { return common(func(c *Common) { c.ColumnPart = x }) }
	within := func(x float64) func(*AIM) { return common(func(c *Common) { c.WithinPart = x }) }
	schema := func(s records.Schema) func(*AIM) { return common(func(c *Common) { c.Schema = s }) }
	class := func(x float64) func(*AIM) { return func(c *AIM) { c.ClassPart = x } }
	rounds := func(n int) func(*AIM) { return func(c *AIM) { c.Rounds = n } }
	order := func(n int) func(*AIM) { return func(c *AIM) { c.Order = n } }
	coarse := func(n int) func(*AIM) { return func(c *AIM) { c.Coarse = n } }
	after := func(s records.Schema, n int) func(*AIM) {
		return func(c *AIM) { c.Schema, c.known = s, n }
	}
	for ok, list := range map[bool][]func(*AIM){
		true: {bins(0), bins(2), bins(marginal.MostValues), fine(0), fine(8), fine(marginal.MostCells),
			cells(0), cells(1), cells(1 << 20), nominal(1), nominal(defaults.Largest), column(0.01),
			column(0.8), within(0.001), within(0.05), within(-1), within(-inf), class(0.9), class(-1),
			rounds(0), rounds(1), rounds(1 << 12), order(0), order(2), order(3), coarse(0), coarse(1),
			coarse(16), after(plain, 1), after(plain, 5), schema(flags(1024)),
			schema(levels(1 << 15))},
		false: {bins(-1), bins(1), bins(marginal.MostValues + 1), fine(-1), fine(7),
			fine(marginal.MostCells + 1), cells(-1), cells(1<<20 + 1), nominal(-1),
			nominal(beyond), column(-1), column(0.009), column(0.81), column(nan),
			within(0.0009), within(0.051), within(nan), class(0.91), class(nan), rounds(-1),
			rounds(1<<12 + 1), order(-1), order(1), order(4), coarse(-1), coarse(17), after(plain, -1),
			after(plain, 6), after(s, 1), schema(records.Sets(4, 2)), schema(records.Interval(3, 0, 1)),
			schema(flags(1025)), schema(levels(1<<15 + 1)), schema(records.Schema{}),
			common(func(c *Common) { c.Budget.Epsilon = -1 })},
	} {
		for i, change := range list {
			c := AIM{Common: Common{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}}
			change(&c)
			if _, err := c.method(); (err == nil) != ok {
				t.Errorf("setting %d of %v: %v", i, ok, err)
			}
		}
	}
}

// TestNoiseThatFitsNoGrid: a plan is refused exactly if the noise of one of its releases does not
// fit a grid, whichever release it is.
func TestNoiseThatFitsNoGrid(t *testing.T) {
	s, _ := smallTable(t)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		m := methodFor(t, s, r)
		m.WithinPart = 0.01
		_, target := targetPlan(t, accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: r})
		if !(target.trendPart > 0) {
			t.Fatal("there is no trend")
		}
		none := m
		none.rounds, none.WithinPart = 0, 0
		for name, m := range map[string]method{"tables": m, "trend": target, "columns": none} {
			refused := 0
			for e := -60; e <= 60; e++ {
				noise := math.Ldexp(1.1, e)
				want := m.survey().Drawable(m.columnNoise(noise))
				fits := func(std float64) {
					steps := std / marginal.TableGrid(1)
					want = want && steps >= 1 && steps <= 1<<45-1<<20
				}
				if m.WithinPart > 0 {
					want = want && m.parts(nil).Drawable(m.withinNoise(noise))
				}
				if m.rounds > 0 {
					fits(m.unitStd(noise))
				}
				if m.trendPart > 0 {
					least, most := m.trendStds(noise)
					fits(least)
					fits(3 * most)
				}
				if got := m.drawable(noise) == nil; got != want {
					t.Errorf("%v, %s: noise of %v is drawable: %v", r, name, noise, got)
				}
				if !want {
					refused++
				}
			}
			if refused < 10 || refused > 110 {
				t.Errorf("%v, %s: %d of 121 noises are refused", r, name, refused)
			}
		}
	}
}

// TestPassesOfOnePlan: a plan has sums for each of its passes, with its state, and for no other;
// other states are other passes. Sums are exact.
func TestPassesOfOnePlan(t *testing.T) {
	s, _ := smallTable(t)
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	some := Common{Schema: s, Budget: b, Fine: 8, WithinPart: noWithin}
	divided := some
	divided.WithinPart = 0.05
	c := AIM{Common: divided, Rounds: 2, Coarse: 2}
	all := must(c.Plan())(t)
	c.Common = some
	whole := must(c.Plan())(t)
	m := must(c.method())(t)
	groups := someGroups(m.attributes)
	other := someGroups(m.attributes)
	other[0].Group[0], other[0].Group[7] = other[0].Group[7], other[0].Group[0]
	d := marginal.Division{{3}, nil, nil, nil, nil}
	seen := map[string]string{}
	for name, p := range map[string]synth.Pass{"columns": {Purpose: purposeColumns},
		"within":       {Purpose: purposeWithin, State: d.State()},
		"tables":       {Purpose: purposeTables, State: marginal.PassState(groups)},
		"other groups": {Purpose: purposeTables, State: marginal.PassState(other)}} {
		sums, err := all.Partial(p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again, err := all.Partial(p); err != nil || again.ID() != sums.ID() || sums.Real() {
			t.Errorf("%s: another pass, or inexact sums, %v", name, err)
		}
		if same := seen[sums.ID().String()]; same != "" {
			t.Errorf("%s and %s are one pass", name, same)
		}
		seen[sums.ID().String()] = name
		if own, err := whole.Partial(p); (err == nil) != (name != "within") {
			t.Errorf("%s of a plan that divides no cells: %v", name, err)
		} else if err == nil && own.ID() == sums.ID() {
			t.Errorf("%s: two plans have one pass", name)
		}
		for _, state := range [][]byte{append(bytes.Clone(p.State), 0), append(bytes.Clone(p.State), 0,
			0), p.State[:max(len(p.State)-1, 0)], p.State[:max(len(p.State)-2, 0)]} {
			if bytes.Equal(state, p.State) {
				continue
			}
			if _, err := all.Partial(synth.Pass{Purpose: p.Purpose, State: state}); err == nil {
				t.Errorf("%s: a state of %d bytes instead of %d is accepted", name, len(state), len(p.State))
			}
		}
	}
	for _, purpose := range append(trendPasses, "", purposeValues, purposePairs) {
		if _, err := all.Partial(synth.Pass{Purpose: purpose}); err == nil {
			t.Errorf("a plan without a trend has the pass %q", purpose)
		}
	}
}

// TestPassesOfATrend: a pass takes the states of a plan's trend, and no other.
func TestPassesOfATrend(t *testing.T) {
	_, m := targetPlan(t, accountant.Budget{Epsilon: 1, Delta: 1e-5})
	groups := someGroups(m.attributes)
	d := domainOf(trendGroups(m.attributes, groups))
	parts := slices.Repeat([]float64{1}, m.attributes[0].Codes)
	good := func() trendState {
		return trendState{marginal.GroupState(groups), &trend{Target: 0, Parts: parts, Scale: 1},
			[][]int{{1}, {2, 3}}, 1}
	}
	for name, c := range map[string]struct {
		change func(*trendState)
		ok     bool
	}{
		"as it is":      {func(s *trendState) {}, true},
		"no tables":     {func(s *trendState) { s.Tables = nil }, true},
		"largest clip":  {func(s *trendState) { s.Clip = 2 * mostScore }, true},
		"no clip":       {func(s *trendState) { s.Clip = 0 }, false},
		"below 0":       {func(s *trendState) { s.Clip = -1 }, false},
		"a larger clip": {func(s *trendState) { s.Clip = 2.1 * mostScore }, false},
		"no groups":     {func(s *trendState) { s.Groups = nil }, false},
		"no trend":      {func(s *trendState) { s.Trend = nil }, false},
		"the target":    {func(s *trendState) { s.Tables[0] = []int{0} }, false},
		"no column":     {func(s *trendState) { s.Tables[0] = []int{} }, false},
		"beyond":        {func(s *trendState) { s.Tables[0] = []int{len(d)} }, false},
		"twice":         {func(s *trendState) { s.Tables[1] = []int{2, 2} }, false},
		"three":         {func(s *trendState) { s.Tables[1] = []int{1, 2, 3} }, false},
		"other target":  {func(s *trendState) { s.Trend.Target = 1 }, false},
		"a spread": {func(s *trendState) {
			s.Trend.Spread = [][]float64{make([]float64, trendResiduals)}
		}, false},
		"weights without tables": {func(s *trendState) { s.Trend.Weights = []float64{1} }, false},
		"too many": {func(s *trendState) {
			s.Tables = slices.Repeat([][]int{{1}}, mostTrendColumns*mostTrendColumns+1)
		}, false},
	} {
		s := good()
		c.change(&s)
		if got := m.trendCounter(encoded(t, s)); (got != nil) != c.ok {
			t.Errorf("%s: a counter %v", name, got != nil)
		}
	}
	if m.trendCounter([]byte("{")) != nil || m.trendCounter(nil) != nil {
		t.Error("a state that is no JSON has a counter")
	}
}

// TestForgedFits: a checkpoint is taken only if each of its measurements belongs to a table of the
// plan, and there is at most one for each round and column.
func TestForgedFits(t *testing.T) {
	s, _ := smallTable(t)
	m := methodFor(t, s, accountant.AddOrRemoveOne)
	groups := someGroups(m.attributes)
	begun := func() *fitting {
		return &fitting{work: work{m, 1}, domain: domainOf(groups), list: m.candidates(columnsOf(groups))}
	}
	cells := begun().list[0].cells
	one := func(units float64) []float64 {
		return append([]float64{0, units}, make([]float64, cells)...)
	}
	for name, c := range map[string]struct {
		h       fittingHeader
		numbers []float64
		ok      bool
	}{
		"none":          {fittingHeader{Level: 1}, nil, true},
		"one":           {fittingHeader{Level: 4, Pair: 2}, one(1), true},
		"all units":     {fittingHeader{Level: 4}, one(float64(m.units())), true},
		"every round":   {fittingHeader{Level: 1}, slices.Repeat(one(1), m.rounds+len(groups)), true},
		"one too many":  {fittingHeader{Level: 1}, slices.Repeat(one(1), m.rounds+len(groups)+1), false},
		"no level":      {fittingHeader{}, nil, false},
		"a large level": {fittingHeader{Level: 1<<28 + 1}, nil, false},
		"a pair":        {fittingHeader{Level: 1, Pair: -1}, nil, false},
		"cut":           {fittingHeader{Level: 1}, one(1)[:cells+1], false},
		"longer":        {fittingHeader{Level: 1}, append(one(1), 0), false},
		"no units":      {fittingHeader{Level: 1}, one(0), false},
		"half a unit":   {fittingHeader{Level: 1}, one(1.5), false},
		"more units":    {fittingHeader{Level: 1}, one(float64(m.units() + 1)), false},
		"no number":     {fittingHeader{Level: 1}, one(math.NaN()), false},
		"no table":      {fittingHeader{Level: 1}, append([]float64{-1}, one(1)[1:]...), false},
		"half a table":  {fittingHeader{Level: 1}, append([]float64{0.5}, one(1)[1:]...), false},
		"beyond":        {fittingHeader{Level: 1}, append([]float64{1e6}, one(1)[1:]...), false},
	} {
		f := must(synth.NewFile(c.h, synth.Part{Name: sectionTables, // NaN, too, which FloatsPart refuses
			Save: func() ([]byte, error) { return synth.Floats(c.numbers), nil }}))(t)
		restored := begun()
		if err := restored.RestoreFrom(f); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.ok {
			again := must(restored.file())(t)
			twice := begun()
			if err := twice.RestoreFrom(again); err != nil || twice.level != restored.level ||
				twice.pair != restored.pair || fmt.Sprint(twice.values) != fmt.Sprint(restored.values) {
				t.Errorf("%s: written and read again as %v, %v", name, twice.values, err)
			}
		}
	}
	m.strategy = worstFitted{known: 2}
	f := must(synth.NewFile(fittingHeader{Level: 1}, synth.FloatsPart(sectionTables, ptr(one(1)),
		2+cells)))(t)
	if begun().RestoreFrom(f) == nil {
		t.Error("a table that the plan does not measure is taken")
	}
}

func encoded(t *testing.T, x any) []byte {
	t.Helper()
	return must(json.Marshal(x))(t)
}

func ptr[T any](x T) *T { return &x }

// TestForgedModels: a model is read from what it wrote, and from nothing that no plan has written.
func TestForgedModels(t *testing.T) {
	s, _ := smallTable(t)
	m := methodFor(t, s, accountant.AddOrRemoveOne)
	m.attributes = marginal.AttributesIn(s, 8)
	fresh := func() *model {
		groups := someGroups(m.attributes)
		d := domainOf(groups)
		var factors []graphical.Factor
		for a, n := range d {
			factors = append(factors, graphical.Factor{Attributes: []int{a}, Theta: make([]float64, n)})
		}
		factors = append(factors, graphical.Factor{Attributes: []int{1, 2},
			Theta: make([]float64, d[1]*d[2])})
		return newModel(s, 8, groups, graphical.NewModel(d, factors))
	}
	read := func(m *model) error {
		f, err := m.Encode()
		if err == nil {
			_, err = readModel(f, synth.Loading{})
		}
		return err
	}
	for name, c := range map[string]struct {
		change func(*model)
		ok     bool
	}{
		"as it is":    {func(*model) {}, true},
		"few cells":   {func(m *model) { m.fine = 7 }, false},
		"many cells":  {func(m *model) { m.fine = marginal.MostCells + 1 }, false},
		"other cells": {func(m *model) { m.fine = 9 }, false},
		"sets":        {func(m *model) { m.schema = records.Sets(4, 2) }, false},
		"a group beyond": {func(m *model) {
			m.groups[0].Group[0] = uint16(m.attributes[0].Codes)
		}, false},
		"an empty group":    {func(m *model) { m.groups[0].Group[0] = 6 }, false},
		"fewer parts":       {func(m *model) { m.groups[4].Part = m.groups[4].Part[1:] }, false},
		"more parts":        {func(m *model) { m.groups[4].Part = append(m.groups[4].Part, 0) }, false},
		"a negative part":   {func(m *model) { m.groups[1].Part[0] = -0.1 }, false},
		"a large part":      {func(m *model) { m.groups[1].Part[0] = 2.1 }, false},
		"two":               {func(m *model) { m.groups[1].Part[0] = 2 }, true},
		"no number":         {func(m *model) { m.groups[1].Part[0] = math.NaN() }, false},
		"no finite factor":  {func(m *model) { m.model.Factors[0].Theta[1] = math.Inf(1) }, false},
		"a factor is NaN":   {func(m *model) { m.model.Factors[5].Theta[1] = math.NaN() }, false},
		"an unknown column": {func(m *model) { m.model.Factors[0].Attributes[0] = 5 }, false},
		"below 0":           {func(m *model) { m.model.Factors[0].Attributes[0] = -1 }, false},
		"a column twice":    {func(m *model) { m.model.Factors[5].Attributes = []int{2, 2} }, false},
		"no column":         {func(m *model) { m.model.Factors[0].Attributes = []int{} }, false},
		"a longer factor": {func(m *model) {
			m.model.Factors[0].Theta = append(m.model.Factors[0].Theta, 0)
		}, false},
		"a shorter factor": {func(m *model) { m.model.Factors[5].Theta = nil }, false},
		"many factors": {func(m *model) {
			one := m.model.Factors[0]
			m.model.Factors = append(m.model.Factors,
				slices.Repeat([]graphical.Factor{one}, mostRounds+2*len(m.groups))...)
		}, false},
		"a trend": {func(m *model) { m.trend = &trend{Target: 0, Scale: 1} }, false},
		"weights of cells that are not divided": {func(m *model) {
			m.division, m.weights = marginal.Division{nil, nil, nil, nil, nil}, []float64{1}
		}, false},
		"a division of other columns": {func(m *model) {
			m.division, m.weights = marginal.Division{{2}}, []float64{1}
		}, false},
	} {
		m := fresh()
		c.change(m)
		if err := read(m); (err == nil) != c.ok || err != nil && !errors.Is(err, synth.ErrFormat) &&
			!strings.Contains(err.Error(), "not finite") { // which is not even written
			t.Errorf("%s: %v", name, err)
		}
	}
}
