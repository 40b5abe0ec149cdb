package frontdoor_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestLargePoolsAreReadBack reads plans of pools with five networks of images, and of eight systems
// on ranks. Their networks together are within the limits for untrusted plans.
func TestLargePoolsAreReadBack(t *testing.T) {
	b := accountant.Budget{Epsilon: 4, Delta: 1e-5}
	images := privgen.MERF(records.Image(28, 28).WithLabels("a", "b"), b).Nominal(60_000)
	table := must(records.NewSchema(records.Numeric("x", 0, 1), records.Label("class", "a", "b")))(t)
	ranks := compose.Ranks{Of: privgen.MERF(table, b).Nominal(10_000)}
	of := func(s records.Schema, n int, d privgen.Design) privgen.ComposedChain {
		return privgen.Compose(s, b, compose.Pool{Of: slices.Repeat([]privgen.Design{d}, n)})
	}
	for name, chain := range map[string]privgen.ComposedChain{
		"five of images": of(records.Image(28, 28).WithLabels("a", "b"), 5, images),
		"eight of ranks": of(table, 8, ranks),
	} {
		p, err := chain.Plan()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := must(json.Marshal(p))(t)
		if _, err := privgen.ReadPlan(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPoolChain checks that a pool of all systems of tables spends its budget, that its plan and
// its generator can be read back, and that draws obey constraints.
func TestPoolChain(t *testing.T) {
	data := must(wardTable())(t)
	s, b := data.Schema(), accountant.Budget{Epsilon: 4, Delta: 1e-5}
	embedding := privgen.MERF(s, b).Nominal(200).Train(merf.GeneratorConfig{Steps: 20})
	chain := privgen.Compose(s, b, compose.Pool{Shares: []float64{1, 1, 1, 3}, Of: []privgen.Design{
		privgen.AIM(s, b).Nominal(200), privgen.MST(s, b).Nominal(200), embedding,
		compose.Ranks{Of: embedding.Seed(2)}}})
	plan := must(chain.Plan())(t)
	if got := plan.Total().Upper; got > 4 || got < 3.9 {
		t.Errorf("the plan costs ε = %v", got)
	}
	text := must(json.Marshal(plan))(t)
	read, err := privgen.ReadPlan(text)
	if err != nil || read.String() != plan.String() {
		t.Fatalf("the plan read back differs, error %v:\n%v", err, read)
	}
	gen := must(read.Fit(t.Context(), data))(t)
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	back := must(privgen.Load(&file))(t)
	var drawn [2][]float64
	for i, g := range []*privgen.Generator{gen, back} {
		rows := must(g.Sample(t.Context(), 30, privgen.Seed(1), privgen.OfClass(1),
			privgen.Given(records.Within("age", 50, 100))))(t)
		drawn[i] = rows.(*records.Frame).Numbers(0)
	}
	if !slices.Equal(drawn[0], drawn[1]) || slices.Min(drawn[0]) < 50 {
		t.Errorf("ages %v, and %v after reading back", drawn[0], drawn[1])
	}
	var wrong *param.Error
	for _, bad := range []privgen.ComposedChain{{}, privgen.Compose(s, b,
		compose.Pool{Of: []privgen.Design{nil, embedding}})} {
		if _, err := bad.Plan(); !errors.As(err, &wrong) {
			t.Errorf("missing systems: got error %v, want a *param.Error", err)
		}
	}
}

// TestLabelledPoolsAreReadable checks that a classifier can be added to a pool and to a system on
// ranks, and that the result can be read back.
func TestLabelledPoolsAreReadable(t *testing.T) {
	data := must(wardTable())(t)
	s, b := data.Schema(), accountant.Budget{Epsilon: 8, Delta: 1e-5}
	embedding := privgen.MERF(s, b).Nominal(200).Train(merf.GeneratorConfig{Steps: 20})
	ranks := compose.Ranks{Of: embedding}
	for name, of := range map[string]privgen.Design{
		"ranks": ranks,
		"pool":  compose.Pool{Of: []privgen.Design{ranks, embedding}},
	} {
		chain := privgen.Compose(s, b, compose.Labels{Of: of, Nominal: 200,
			Features: rff.RBF{Dim: 10, Bandwidth: 1},
			Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3,
				Optimizer: sgd.Momentum(1, 0.9)}})
		plan, err := chain.Plan()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		gen, err := plan.Fit(t.Context(), data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := json.Marshal(plan)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := privgen.ReadPlan(text); err != nil {
			t.Errorf("the plan of a labelled %s: %v", name, err)
		}
		var file bytes.Buffer
		if err := gen.Save(&file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := privgen.Load(&file); err != nil {
			t.Errorf("the generator of a labelled %s: %v", name, err)
		}
	}
}

// wardTable makes a small labelled table.
func wardTable() (*records.Frame, error) {
	schema, err := records.NewSchema(records.Integer("age", 0, 100),
		records.Categorical("ward", "north", "south"), records.Label("outcome", "home", "stay"))
	if err != nil {
		return nil, err
	}
	rows := make([][]any, 200)
	for i := range rows {
		rows[i] = []any{20 + i%60, []string{"north", "south"}[i%2], []string{"home", "stay"}[i%3/2]}
	}
	return records.FromValues(schema, rows...)
}
