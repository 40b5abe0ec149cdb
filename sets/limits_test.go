package sets

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestEverySettingIsChecked: each setting may be at its limits, and not beyond them.
func TestEverySettingIsChecked(t *testing.T) {
	beyond := defaults.Largest
	beyond++ // negative where an int has 32 bits
	most := func(n int) func(*MWEM) { return func(c *MWEM) { c.MaxItems = n } }
	nominal := func(n int) func(*MWEM) { return func(c *MWEM) { c.Nominal = n } }
	schema := func(s records.Schema) func(*MWEM) { return func(c *MWEM) { c.Schema = s } }
	numbers := func(rounds, domain, queries int) func(*MWEM) {
		return func(c *MWEM) { c.Rounds, c.Domain, c.Queries = rounds, domain, queries }
	}
	for ok, list := range map[bool][]func(*MWEM){
		true: {func(*MWEM) {}, most(0), most(1), most(3), nominal(1), nominal(defaults.Largest)},
		false: {most(-1), most(4), nominal(-1), nominal(beyond), schema(records.Schema{}),
			schema(records.Binary(6)), schema(records.Sets(6, 3).WithLabels("a", "b")),
			func(c *MWEM) { c.Budget.Epsilon = -1 }, func(c *MWEM) { c.Budget.Delta = 2 }},
	} {
		for i, change := range list {
			c := MWEM{Common: Common{Schema: records.Sets(6, 3),
				Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}}
			if change(&c); (c.validate().Err() == nil) != ok {
				t.Errorf("setting %d of %v: %v", i, ok, c.validate().Err())
			}
			if _, err := (Independent{c.Common}).Plan(); (err == nil) != ok {
				t.Errorf("setting %d of %v, independent: %v", i, ok, err)
			}
		}
	}
	for ok, list := range map[bool][]func(*MWEM){
		true: {func(*MWEM) {}, numbers(1, 1, 1), numbers(2, mostDomain, 9), numbers(2, 9, 1<<16)},
		false: {numbers(-1, 9, 9), numbers(1<<16+1, 9, 9), numbers(2, -1, 9), numbers(2, mostDomain+1, 9),
			numbers(2, 9, -1), numbers(2, 9, 1<<16+1)},
	} {
		for i, change := range list {
			c := MWEM{Common: Common{Schema: records.Sets(6, 3),
				Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}, Rounds: 2}
			change(&c)
			p, err := c.Plan()
			if (err == nil) != ok {
				t.Errorf("numbers %d of %v: %v", i, ok, err)
			}
			if err != nil {
				continue
			}
			text, err := p.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			again, err := Systems().ReadPlan(text)
			if err != nil {
				t.Fatal(err)
			}
			twice, err := again.(synth.PassProgram).MarshalJSON()
			if err != nil || string(twice) != string(text) {
				t.Errorf("numbers %d: reading a plan changes it: %s, want %s, %v", i, twice, text, err)
			}
		}
	}
	big := MWEM{Common: Common{Schema: records.Sets(1000, 500), MaxItems: 500,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}, Rounds: 2, Domain: mostInDomain/500 + 1}
	if _, err := big.Plan(); err == nil {
		t.Error("a domain of too many items has a plan")
	}
	c := Independent{Common{Schema: records.Sets(6, 3), MaxItems: 2}}
	if independent(c).counts().limit != 2 {
		t.Error("the largest number of items is not that of the plan")
	}
}

// TestNoiseThatFitsNoGrid: noise can be drawn exactly if it fits the grid of each count.
func TestNoiseThatFitsNoGrid(t *testing.T) {
	for _, s := range []records.Schema{records.Sets(6, 3), records.Sets(6, 3).ByPerson(2)} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			common := Common{Schema: s, MaxItems: 3, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5,
				Relation: r}}
			one, two, refused := independent{common}, mwem{MWEM{Common: common}}, 0
			for e := -80; e <= 80; e++ {
				noise := math.Ldexp(1.3, e)
				items, rows := one.counts().std(noise)
				fits := func(std float64, grid float64) bool {
					return std/grid >= 1 && std/grid <= 1<<43
				}
				persons := s.RowsPerPerson() > 0
				want := fits(items, mechanism.CountGrid(items, persons)) &&
					fits(rows, mechanism.CountGrid(rows, persons))
				if one.drawable(noise) != want {
					t.Errorf("%v: noise of %v can be drawn: %v", s, noise, !want)
				}
				if !want {
					refused++
				}
				grid := countGrid(noise, persons)
				if two.drawable(noise) != fits(noise, grid) || math.Log2(grid) != math.Trunc(math.Log2(grid)) ||
					grid > 1 || grid < mechanism.FinestCounts || persons && grid > records.ShareStep {
					t.Errorf("%v: noise of %v on the grid %v can be drawn: %v", s, noise, grid,
						two.drawable(noise))
				}
			}
			if persons := s.RowsPerPerson() > 0; persons && refused == 0 {
				t.Errorf("%v: no noise is refused", s)
			}
		}
	}
}

// TestForgedFiles: answers and models are read from what a fit wrote, and from nothing else.
func TestForgedFiles(t *testing.T) {
	total := 5.0
	for what, c := range map[string]struct {
		numbers []float64
		ok      bool
	}{
		"none":            {nil, true},
		"one":             {[]float64{3, 7.5}, true},
		"every round":     {[]float64{0, 1, 9, -2, 0, 3}, true},
		"one too many":    {[]float64{0, 1, 9, -2, 0, 3, 1, 1}, false},
		"no such query":   {[]float64{10, 1}, false},
		"below 0":         {[]float64{-1, 1}, false},
		"half a query":    {[]float64{0.5, 1}, false},
		"half an answer":  {[]float64{1}, false},
		"a query is NaN":  {[]float64{math.NaN(), 1}, false},
		"an answer is so": {[]float64{1, math.NaN()}, false},
	} {
		h := measurements{Total: &total}
		f, err := synth.NewFile(h, synth.Part{Name: sectionAnswers, // NaN, too, which FloatsPart refuses
			Save: func() ([]byte, error) { return synth.Floats(c.numbers), nil }})
		if err != nil {
			t.Fatal(err)
		}
		var m measurements
		if err := (&answered{&m, 10, 3}).RestoreFrom(f); (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if !c.ok {
			continue
		}
		var numbers []float64
		for _, a := range m.Answers {
			numbers = append(numbers, float64(a.Query), a.Value)
		}
		if !slices.Equal(numbers, c.numbers) || *m.Total != total {
			t.Errorf("%s: read %v", what, m)
		}
		again, err := m.file()
		if err != nil {
			t.Fatal(err)
		}
		var twice measurements
		if err := (&answered{&twice, 10, 3}).RestoreFrom(again); err != nil ||
			!slices.Equal(twice.Answers, m.Answers) {
			t.Errorf("%s: written and read again as %v, %v", what, twice, err)
		}
	}
	uniform := slices.Repeat([]float64{1. / 42}, 42) // sets of up to 3 of 6 items
	changed := func(x float64) []float64 { return append([]float64{x}, uniform[1:]...) }
	for what, c := range map[string]struct {
		kind    string
		h       modelHeader
		numbers []float64
		ok      bool
	}{
		"independent":  {nameIndependent, modelHeader{}, make([]float64, 6), true},
		"an item less": {nameIndependent, modelHeader{}, make([]float64, 5), false},
		"an item more": {nameIndependent, modelHeader{}, make([]float64, 7), false},
		"no sets": {nameIndependent, modelHeader{Schema: records.Binary(6)}, make([]float64, 6),
			false},
		"NaN": {nameIndependent, modelHeader{}, slices.Repeat([]float64{math.NaN()}, 6),
			false},
		"a domain":       {nameMWEM, modelHeader{MaxItems: 3, Domain: 1}, uniform, true},
		"a set less":     {nameMWEM, modelHeader{MaxItems: 3, Domain: 1}, uniform[1:], false},
		"a set more":     {nameMWEM, modelHeader{MaxItems: 3, Domain: 1}, append(uniform, 1), false},
		"no items":       {nameMWEM, modelHeader{MaxItems: 0, Domain: 1}, uniform[:1], false},
		"too many items": {nameMWEM, modelHeader{MaxItems: 4, Domain: 1}, make([]float64, 57), false},
		"no domain":      {nameMWEM, modelHeader{MaxItems: 3, Domain: 0}, uniform, false},
		"a huge domain":  {nameMWEM, modelHeader{MaxItems: 3, Domain: mostDomain + 1}, uniform, false},
		"largest domain": {nameMWEM, modelHeader{MaxItems: 3, Domain: mostDomain}, uniform, true},
		"negative":       {nameMWEM, modelHeader{MaxItems: 3, Domain: 1}, changed(-1e-9), false},
		"a set never":    {nameMWEM, modelHeader{MaxItems: 3, Domain: 1}, changed(0), true},
		"all zero":       {nameMWEM, modelHeader{MaxItems: 3, Domain: 1}, make([]float64, 42), false},
		"infinite sum": {nameMWEM, modelHeader{MaxItems: 3, Domain: 1},
			slices.Repeat([]float64{1e307}, 42), false},
		"a NaN weight": {nameMWEM, modelHeader{MaxItems: 3, Domain: 1}, changed(math.NaN()), false},
	} {
		if c.h.Schema.Dim() == 0 {
			c.h.Schema = records.Sets(6, 3)
		}
		f, err := synth.NewFile(c.h, synth.Part{Name: sectionNumbers,
			Save: func() ([]byte, error) { return synth.Floats(c.numbers), nil }})
		if err != nil {
			t.Fatal(err)
		}
		f.Kind = c.kind
		m, err := readModel(f, synth.Loading{})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil && !m.Schema().Equal(c.h.Schema) {
			t.Errorf("%s: read with the schema %v", what, m.Schema())
		}
		if err == nil {
			again, err := m.Encode()
			if err == nil {
				again.Kind = c.kind
				_, err = readModel(again, synth.Loading{})
			}
			if err != nil {
				t.Errorf("%s: written again, it is refused: %v", what, err)
			}
		}
	}
}

// TestInterruptedCounts: counts of some of the records are not taken for those of all.
func TestInterruptedCounts(t *testing.T) {
	data, err := records.FromItems(records.Sets(6, 3), slices.Repeat([][]uint32{{1, 4}}, 9000))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []method{independent{Common{Schema: data.Schema(), MaxItems: 3}},
		mwem{MWEM{Common: Common{Schema: data.Schema(), MaxItems: 3}, Queries: 9}}} {
		c, err := m.counter(synth.Pass{Purpose: m.passes()[0]}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(t.Context(), data); err != nil {
			t.Fatal(err)
		}
		rows := c.Sums()[1]
		if got := float64(rows.Exact()[0]) * rows.Grid(); got != 9000 {
			t.Errorf("%s: %v records", m.name(), got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Add(ctx, data); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a cancelled count gives %v", m.name(), err)
		}
		for _, p := range []synth.Pass{{}, {Purpose: "another"},
			{Purpose: m.passes()[0], State: []byte("x")}} {
			if _, err := m.counter(p, 1); err == nil {
				t.Errorf("%s: a pass of another plan, %v, has a counter", m.name(), p)
			}
		}
	}
}

// TestItemsWithinLimits: the domain of a part of a composition may have its share of the items that
// a whole may have. A few kilobytes describe a domain of millions of items.
func TestItemsWithinLimits(t *testing.T) {
	const most, domain = 1 << 12, 1 << 11
	h := modelHeader{Schema: records.Sets(1<<13, most), MaxItems: most, Domain: domain}
	numbers := slices.Repeat([]float64{1. / domain}, domain)
	f, err := synth.NewFile(h, synth.FloatsPart(sectionNumbers, &numbers, domain))
	if err != nil {
		t.Fatal(err)
	}
	f.Kind = nameMWEM
	for values, good := range map[int64]bool{0: true, most * domain / 8: true,
		most*domain/8 - 1: false} {
		_, err := readModel(f, synth.Loading{Limits: records.Limits{Values: values}})
		if over := new(records.LimitError); errors.As(err, &over) == good || good && err != nil {
			t.Errorf("a limit of %d: %v", values, err)
		}
	}
}
