package merf

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// choiceConfig returns a plan's configuration for a small table with columns of every kind, and all
// of its rows.
func choiceConfig(t *testing.T, r accountant.Relation) (Config, [][]any) {
	t.Helper()
	s, err := records.NewSchema(records.Numeric("x", 0, 1), records.Integer("n", 0, 2).WithMissing(),
		records.Categorical("c", "a", "b", "d", "e"), records.Flag("f", "no", "yes"),
		records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	for _, x := range []float64{0, 0.4, 1} {
		for _, n := range []any{0, 2, nil} {
			for _, c := range []string{"a", "d", "e"} {
				for _, f := range []string{"no", "yes"} {
					rows = append(rows, []any{x, n, c, f, []string{"u", "v"}[len(rows)%2]})
				}
			}
		}
	}
	return Config{Schema: s, Budget: accountant.Budget{Epsilon: 2, Delta: 1e-5, Relation: r},
		Kernel: rff.Pairs{Knots: 3}, Choice: Choice{Pairs: 3, Groups: 3}}, rows
}

// exactSums returns the sums of rows in a pass, as counts. They are released with noise of 1e-5.
func exactSums(t *testing.T, w *work, p synth.Pass, rows ...[]any) (out []float64) {
	t.Helper()
	table, err := records.FromValues(w.config.Schema, rows...)
	if err != nil {
		t.Fatal(err)
	}
	return readSums(t, w, p, table)
}

func readSums(t *testing.T, w *work, p synth.Pass, data records.Data) (out []float64) {
	t.Helper()
	sums, err := w.stagePartial(p)
	if err != nil || sums == nil {
		t.Fatalf("no sums for %+v: %v", p, err)
	}
	if err := sums.Add(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	for _, sum := range sums.Sums() {
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1e9, Delta: 0.5})
		grant, err := mechanism.Begin(context.Background(), ledger).Spend("test",
			accountant.Gaussian{NoiseMultiplier: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, sum.Dim())
		if err := grant.Release(1e-9, mechanism.Part{Sum: sum, Std: 1e-5, Out: values}); err != nil {
			t.Fatal(err)
		}
		out = append(out, values...)
	}
	return out
}

// someGroups divides every column's codes into up to three groups.
func someGroups(w *work) (list []marginal.Grouping) {
	for _, a := range columnsOf(w.config.Schema) {
		g := marginal.Grouping{Group: make([]uint16, a.Codes)}
		for code := range g.Group {
			g.Group[code] = uint16(code * min(a.Codes, 3) / a.Codes)
			g.Size = int(g.Group[code]) + 1
		}
		list = append(list, g)
	}
	return list
}

// TestChoiceSensitivities compares every row of a small table with every other. The columns' counts
// change by at most the effect that the price of their release assumes. The absolute changes of a
// pair's table add up to at most the sensitivity that a choice assumes. Some rows attain both
// bounds.
func TestChoiceSensitivities(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		c, rows := choiceConfig(t, r)
		c.Nominal = 50 // public under replace-one
		p, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		w := p.work
		groups := someGroups(w)
		noise := columnsNoise(p.Config.NoiseMultiplier)
		std, _ := w.config.survey().Std(noise)
		var columns, tables [][]float64
		for _, row := range rows {
			columns = append(columns, exactSums(t, w, synth.Pass{Purpose: PurposeColumns}, row))
			tables = append(tables, exactSums(t, w, synth.Pass{Purpose: PurposePairs,
				State: marginal.GroupState(groups)}, row))
		}
		list := pairTables(groups)
		if len(list) != 6 {
			t.Fatalf("got %d pairs of four columns, want 6", len(list))
		}
		squares, total := 0.0, 0.0
		for i := range rows {
			for k := range rows {
				sum := 0.0
				for at, v := range columns[i] {
					if r == accountant.ReplaceOne {
						v -= columns[k][at]
					}
					sum += v * v / (std * std)
				}
				squares = max(squares, sum)
				for _, one := range list {
					sum := 0.0
					for at := one.first; at < one.first+one.cells; at++ {
						v := tables[i][at]
						if r == accountant.ReplaceOne {
							v -= tables[k][at]
						}
						sum += math.Abs(v)
					}
					total = max(total, sum)
				}
			}
		}
		if got, want := math.Sqrt(squares), 1/noise; math.Abs(got/want-1) > 1e-4 {
			t.Errorf("%v: the columns' counts change by %v, want %v", r, got, want)
		}
		if want := float64(w.change()); math.Abs(total-want) > 1e-3 {
			t.Errorf("%v: a pair's table changes by %v in total, want %v", r, total, want)
		}
	}
}

// TestChoiceStagesArePriced checks that the fractions of the squared effect add up to 1, by the
// formulas of zero-concentrated differential privacy, and that a plan spends its budget.
func TestChoiceStagesArePriced(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		c, _ := choiceConfig(t, r)
		c.Nominal = 50
		p, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		rho := 0.0
		for _, s := range p.Stages() {
			switch e := s.Event.(type) {
			case accountant.Gaussian:
				rho += float64(s.Count) / (2 * e.NoiseMultiplier * e.NoiseMultiplier)
			case accountant.ExponentialMechanism:
				rho += float64(s.Count) * e.Epsilon * e.Epsilon / 8
			}
		}
		z := p.Config.NoiseMultiplier
		if want := 1 / (2 * z * z); len(p.Stages()) != 3 || math.Abs(rho/want-1) > 1e-12 {
			t.Errorf("%v: %d stages have ρ = %v together, want three with %v", r, len(p.Stages()), rho,
				want)
		}
		if e := p.Total().Upper; e > c.Budget.Epsilon || e < 0.99*c.Budget.Epsilon {
			t.Errorf("%v: the plan has ε = %v, want at most %v and little less", r, e, c.Budget.Epsilon)
		}
		effect := p.work.noise.effect * p.Stages()[2].NoiseMultiplier
		if math.Abs(effect-1) > 1e-9 {
			t.Errorf("%v: the embedding changes by %v of its priced effect, want 1", r, effect)
		}
	}
}

// TestPersonsCountOnceInPairs checks that all rows of a person add 1 to every pair's table.
func TestPersonsCountOnceInPairs(t *testing.T) {
	c, rows := choiceConfig(t, accountant.AddOrRemoveOne)
	rowsOnly := c.Schema
	c.Schema = rowsOnly.ByPerson(3)
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	groups := someGroups(p.work)
	table, err := records.FromValues(rowsOnly, rows[0], rows[7], rows[23])
	if err != nil {
		t.Fatal(err)
	}
	person, err := records.GroupBy(table, []string{"p", "p", "p"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	counts := readSums(t, p.work, synth.Pass{Purpose: PurposePairs,
		State: marginal.GroupState(groups)}, person)
	for _, one := range pairTables(groups) {
		sum := 0.0
		for _, v := range counts[one.first : one.first+one.cells] {
			sum += v
		}
		if math.Abs(sum-1) > 1e-3 {
			t.Errorf("a person of three rows counts %v in the table of %v, want 1", sum, one.pair)
		}
	}
}

// TestEveryPairKeepsTheBound checks that the features of any pairs have the bounds for which the
// plan computed the noise, and no more features than the plan states.
func TestEveryPairKeepsTheBound(t *testing.T) {
	c, _ := choiceConfig(t, accountant.ReplaceOne)
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	plan := p.work.config.bounds(p.work.features)
	all := pairTables(someGroups(p.work))
	for set := range 1 << len(all) {
		var pairs [][2]int
		for k, one := range all {
			if set>>k&1 == 1 {
				pairs = append(pairs, one.pair)
			}
		}
		if len(pairs) > c.Choice.Pairs {
			continue
		}
		w, err := p.work.with(pairs)
		if err != nil {
			t.Fatal(err)
		}
		b := w.config.bounds(w.features)
		if b.norm > plan.norm || b.change > plan.change || b.dim > plan.dim || w.noise != p.work.noise {
			t.Errorf("pairs %v have the bounds %+v, the plan has %+v", pairs, b, plan)
		}
		if got, ok := readPairs(w.pairs, c.Choice.Pairs); !ok || !slices.EqualFunc(got, pairs,
			func(a, b [2]int) bool { return slices.Contains(pairs, a) }) {
			t.Errorf("the state of %v is read as %v", pairs, got)
		}
	}
}

// TestChoiceStates checks that states of passes and checkpoints are refused unless a run of the
// plan can have them.
func TestChoiceStates(t *testing.T) {
	c, _ := choiceConfig(t, accountant.AddOrRemoveOne)
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	groups := someGroups(p.work)
	wide := slices.Clone(groups)
	wide[0].Group = slices.Clone(wide[0].Group)
	for code := range wide[0].Group {
		wide[0].Group[code] = uint16(code)
	}
	state := marginal.GroupState(groups)
	for why, pass := range map[string]synth.Pass{
		"columns with a state":    {Purpose: PurposeColumns, State: []byte{0}},
		"groups cut":              {Purpose: PurposePairs, State: state[:len(state)-2]},
		"no groups":               {Purpose: PurposePairs},
		"more groups than a plan": {Purpose: PurposePairs, State: marginal.GroupState(wide)},
		"no state":                {Purpose: PurposeEmbed},
		"half a pair":             {Purpose: PurposeEmbed, State: []byte{0, 1, 0}},
		"an unknown column":       {Purpose: PurposeEmbed, State: pairState([][2]int{{0, 4}})},
		"a pair twice":            {Purpose: PurposeEmbed, State: []byte{0, 0, 0, 1, 0, 0, 0, 1, 0}},
		"a column with itself":    {Purpose: PurposeEmbed, State: pairState([][2]int{{1, 1}})},
		"more pairs than a plan": {Purpose: PurposeEmbed,
			State: pairState([][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}})},
		"another purpose": {Purpose: "pairs"},
	} {
		if _, err := p.Partial(pass); err == nil {
			t.Errorf("a pass with %s is accepted", why)
		}
	}
	for _, pass := range []synth.Pass{{Purpose: PurposeColumns}, {Purpose: PurposePairs, State: state},
		{Purpose: PurposeEmbed, State: pairState([][2]int{{0, 2}, {1, 3}})},
		{Purpose: PurposeEmbed, State: pairState(nil)}} {
		if _, err := p.Partial(pass); err != nil {
			t.Errorf("a pass of the plan, %+v: %v", pass, err)
		}
	}
	for why, pairs := range map[string][][2]int{"more than a plan": {{0, 1}, {0, 2}, {0, 3}, {1, 2}},
		"twice": {{0, 1}, {0, 1}}, "of one column": {{2, 2}}, "of no column": {{0, 4}},
		"turned": {{1, 0}}} {
		f, err := synth.NewFile(choiceHeader{pairs})
		if err != nil {
			t.Fatal(err)
		}
		if (&choosing{work: p.work, tables: pairTables(groups)}).RestoreFrom(f) == nil {
			t.Errorf("a checkpoint with pairs %s is accepted: %v", why, pairs)
		}
	}
}

// TestTheMostPairsAreWritten checks that checkpoints and embeddings of the largest number of chosen
// pairs can be written. Otherwise a run would spend its budget and lose what it has released.
func TestTheMostPairsAreWritten(t *testing.T) {
	var columns []records.Column
	for i := 0; pairsOf(i) <= mostPairs; i++ {
		columns = append(columns, records.Flag(fmt.Sprint("f", i), "no", "yes"))
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Schema: s, Budget: accountant.Budget{Epsilon: 2, Delta: 1e-5},
		Kernel: rff.Pairs{MaxDim: 1 << 20}, Choice: Choice{Pairs: mostPairs, Groups: 2}}
	if c.validateChoice() != nil {
		t.Fatalf("%d pairs of %d columns are refused", mostPairs, len(columns))
	}
	k := widest(rff.Pairs{}, layout(s), mostPairs)
	kernel, err := rff.MarshalEmbedding(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []any{choiceHeader{k.Only}, embeddingHeader{Schema: s, Kernel: kernel}} {
		f, err := synth.NewFile(header)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Write(io.Discard); err != nil {
			t.Errorf("%d pairs in a %T: %v", mostPairs, header, err)
		}
	}
}
