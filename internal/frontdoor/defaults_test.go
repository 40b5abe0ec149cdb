package frontdoor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// kinds returns schemas of every kind of record, with and without classes.
func kinds(t testing.TB) []records.Schema {
	t.Helper()
	table := tableOf(t, 0, 5, 3, "v0", "v1", "v2").Schema()
	list := []records.Schema{table, table.WithoutLabels(), records.Sets(900, 20)}
	for _, s := range []records.Schema{records.Binary(20), records.Interval(7, -1, 3),
		records.Image(16, 16), records.BinaryImage(12, 12)} {
		list = append(list, s, s.WithLabels("a", "b"))
	}
	return list
}

// tableOf returns random rows of a table with a flag and a class, in which column j of levels has
// j+3 of them.
func tableOf(t testing.TB, rows, numbers, choices int, classes ...string) *records.Frame {
	t.Helper()
	columns := []records.Column{records.Flag("flag", "no", "yes"), records.Label("class", classes...)}
	for j := range numbers {
		columns = append(columns, []records.Column{records.Numeric(fmt.Sprint("number", j), -4, 4),
			records.Integer(fmt.Sprint("number", j), 0, 90),
			records.Numeric(fmt.Sprint("number", j), 0, 1e5).Logarithmic()}[j%3])
	}
	for j := range choices {
		columns = append(columns, records.Categorical(fmt.Sprint("choice", j),
			strings.Split("abcdefgh"[:j+3], "")...))
	}
	s := must(records.NewSchema(columns...))(t)
	flat, labels := make([]float32, rows*s.Dim()), make([]int32, rows)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range flat {
		flat[i] = rng.Float32()
	}
	for i := range labels {
		labels[i] = int32(rng.IntN(len(classes)))
	}
	return must(records.DecodeFlat(s, flat, labels...))(t)
}

// oneLiners returns the chains of every system with only schema, budget and nominal size set.
func oneLiners(s records.Schema, b accountant.Budget,
	n int) map[string]func() (privgen.Plan, error) {
	list := map[string]func() (privgen.Plan, error){
		"merf": func() (privgen.Plan, error) { return privgen.MERF(s, b).Nominal(n).Plan() },
		"dpgm": func() (privgen.Plan, error) { return privgen.DPGM(s, b).Nominal(n).Plan() },
	}
	if s.Kind() != records.MixedTable {
		list["gan"] = func() (privgen.Plan, error) { return privgen.GAN(s, b).Nominal(n).Plan() }
	}
	if s.Kind() != records.MixedTable && !s.Sparse() {
		list["mix"] = func() (privgen.Plan, error) { return privgen.Mix(s, b).Nominal(n).Plan() }
	}
	if s.Sparse() && s.Classes() == 0 {
		list["independent"] =
			func() (privgen.Plan, error) { return privgen.Independent(s, b).Nominal(n).Plan() }
		list["mwem"] = func() (privgen.Plan, error) { return privgen.MWEM(s, b).Nominal(n).Plan() }
	}
	if s.Kind() == records.MixedTable {
		list["aim"] = func() (privgen.Plan, error) { return privgen.AIM(s, b).Nominal(n).Plan() }
		list["mst"] = func() (privgen.Plan, error) { return privgen.MST(s, b).Nominal(n).Plan() }
	}
	return list
}

// TestOneLinersPlan checks that every system plans every kind of record from schema, budget and
// nominal size alone, under both relations. The plan must keep its budget, be the same after JSON,
// and state its chosen settings or its predicted cost.
func TestOneLinersPlan(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		b := accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: r}
		for _, s := range kinds(t) {
			for _, n := range []int{300, 30_000} {
				for name, plan := range oneLiners(s, b, n) {
					if name == "mix" && (n > 300 || r == accountant.ReplaceOne) {
						continue // its search for a degree takes seconds
					}
					p, err := plan()
					if err != nil {
						t.Errorf("%s, %v, %v, %d records: %v", name, r, s, n, err)
						continue
					}
					checkDefaultPlan(t, fmt.Sprintf("%s, %v, %v, %d records", name, r, s, n), p)
				}
			}
		}
	}
}

func checkDefaultPlan(t *testing.T, name string, p privgen.Plan) {
	t.Helper()
	if p.Total().Upper > p.Budget().Epsilon {
		t.Errorf("%s: the plan costs %v, more than its budget", name, p.Total())
	}
	text := p.String()
	if !strings.Contains(text, "chosen: ") && !strings.Contains(text, "predicted: ") {
		t.Errorf("%s: the plan's text states neither choices nor predictions:\n%s", name, text)
	}
	written, err := json.Marshal(p)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	again, err := privgen.ReadPlan(written)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if again.String() != text {
		t.Errorf("%s: the plan read back is\n%s\nwant\n%s", name, again, text)
	}
}

// TestEachChoiceIsOverriddenAlone checks that a given setting is kept, and that the other settings
// still get defaults.
func TestEachChoiceIsOverriddenAlone(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	vectors := records.Interval(30, 0, 1)
	g := func(c gan.Config) gan.Config {
		t.Helper()
		p := must(privgen.GAN(vectors, b).Nominal(30_000).Train(c).Plan())(t)
		return p.Config
	}
	if c := g(gan.Config{Latent: 3}); c.Latent != 3 || c.Train.Steps == 0 {
		t.Errorf("latent 3: %+v", c)
	}
	if c := g(gan.Config{Train: sgd.Config{Steps: 17}}); c.Train.Steps != 17 ||
		c.Train.SamplingProbability == 0 || c.Train.Clip == nil {
		t.Errorf("17 steps: %+v", c.Train)
	}
	if c := g(gan.Config{Train: sgd.Config{ClipNorm: 2}}); c.Train.ClipNorm != 2 ||
		c.Train.Clip != nil {
		t.Errorf("clip norm 2: %+v", c.Train)
	}
	if c := g(gan.Config{Penalty: 3}); c.Penalty != 3 {
		t.Errorf("penalty 3: %v", c.Penalty)
	}
	if c := g(gan.Config{CriticSteps: 7, Average: 0.5}); c.CriticSteps != 7 || c.Average != 0.5 {
		t.Errorf("7 critic steps: %+v", c)
	}
	sets := records.Sets(900, 20)
	d, err := privgen.DPGM(sets, b).Nominal(30_000).Cluster(kmeans.Config{K: 3}).
		Marginals(dpgm.Marginals{Off: true}).Plan()
	if err != nil || d.Config.Cluster.K != 3 || d.Config.Marginals != nil ||
		d.Config.Features == nil || d.Config.Model == nil {
		t.Errorf("three clusters: %v, %+v", err, d)
	}
	m, err := privgen.MERF(records.Binary(20), b).Nominal(30_000).
		Train(merf.GeneratorConfig{Steps: 7}).Embed(merf.Config{Features: 44}).Plan()
	if err != nil || m.Features() != 44 || m.Config.Generator.Steps != 7 {
		t.Errorf("44 features: %v, %+v", err, m)
	}
	x, err := privgen.Mix(records.Image(8, 8), b).Nominal(30_000).
		Mixtures(mix.Config{Mixtures: 600}).Plan()
	if err != nil || x.Config.Mixtures != 600 || x.Config.ClipNorm == 0 || x.Degree() == 0 {
		t.Errorf("600 mixtures: %v, %+v", err, x)
	}
}

// TestDefaultsFollowTheNoise checks that a smaller budget never gets more steps or more features.
func TestDefaultsFollowTheNoise(t *testing.T) {
	vectors := records.Interval(30, 0, 1)
	lastSteps, lastFeatures := math.MaxInt, math.MaxInt
	for _, e := range []float64{8, 1, 0.1} {
		b := accountant.Budget{Epsilon: e, Delta: 1e-5}
		g := must(privgen.GAN(vectors, b).Nominal(10_000).Plan())(t)
		m := must(privgen.MERF(records.Binary(200).WithLabels("a", "b", "c"), b).Nominal(2_000).Plan())(t)
		if work := g.Config.Train.Steps; work > lastSteps || m.Features() > lastFeatures {
			t.Errorf("ε = %v: %d steps after %d, %d features after %d", e, work, lastSteps, m.Features(),
				lastFeatures)
		}
		lastSteps, lastFeatures = g.Config.Train.Steps, m.Features()
	}
	if lastFeatures > 200 {
		t.Errorf("%d features at ε = .1", lastFeatures)
	}
}

// TestFewBitsNeedFewFeatures checks that records of 20 bits get at most 1000 features. With 10,000
// features it took more than a minute.
func TestFewBitsNeedFewFeatures(t *testing.T) {
	for _, n := range []int{0, 60_000} {
		p := must(privgen.MERF(records.Binary(20),
			accountant.Budget{Epsilon: 1, Delta: 1e-5}).Nominal(n).Plan())(t)
		if p.Features() > 1000 {
			t.Errorf("nominal %d: %d features", n, p.Features())
		}
	}
}

func TestWrongNominalSizes(t *testing.T) {
	for name, plan := range oneLiners(records.Sets(40, 5), accountant.Budget{Epsilon: 1, Delta: 1e-5},
		-1) {
		var mistake *param.Error
		if _, err := plan(); !errors.As(err, &mistake) {
			t.Errorf("%s of -1 records: %v", name, err)
		}
	}
}

// TestRecommend checks that Recommend returns plans within the budget, each with a reason in one
// sentence. The expected system must come first.
func TestRecommend(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	first := map[string]string{}
	for _, s := range kinds(t) {
		list, err := privgen.Recommend(s, b, 30_000)
		if err != nil || len(list) < 2 {
			t.Errorf("%v: %d plans, %v", s, len(list), err)
			continue
		}
		for _, r := range list {
			if !strings.HasSuffix(r.Reason, ".") || r.Plan.Total().Upper > 1 {
				t.Errorf("%v: %v", s, r)
			}
		}
		first[s.String()] = list[0].Plan.System()
	}
	for _, c := range []struct {
		s    records.Schema
		want string
	}{{records.Sets(900, 20), "dpgm"}, {kinds(t)[0], "pool"},
		{records.BinaryImage(12, 12), "dpgm"}} {
		if got := first[c.s.String()]; got != c.want {
			t.Errorf("%v: %s comes first, want %s", c.s, got, c.want)
		}
	}
	var mistake *param.Error
	if _, err := privgen.Recommend(records.Binary(3), b, 0); !errors.As(err, &mistake) {
		t.Errorf("no nominal size: %v", err)
	}
}

// TestRecommendRanks checks that MERF is recommended on ranks of numbers if rows are many, and on
// the numbers themselves otherwise. A pool comes first if rows are many for half of the budget,
// too.
func TestRecommendRanks(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	numbers := must(records.NewSchema(records.Numeric("x", 0, 1), records.Label("class", "u", "v")))(t)
	levels, err := records.NewSchema(records.Flag("x", "no", "yes"), records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		schema      records.Schema
		rows        int
		want, first string
	}{{numbers, 10_000, "ranks", "pool"}, {numbers, 2000, "ranks", "aim"},
		{numbers, 1000, "merf", "aim"}, {levels, 10_000, "merf", "aim"}} {
		list := must(privgen.Recommend(c.schema, b, c.rows))(t)
		var systems []string
		for _, r := range list {
			systems = append(systems, r.Plan.System())
		}
		if !slices.Contains(systems, c.want) ||
			slices.Contains(systems, "merf") != (c.want == "merf") || systems[0] != c.first {
			t.Errorf("%v, %d rows: %v, want %s first, and %s", c.schema, c.rows, systems, c.first, c.want)
		}
	}
}

// TestNothingToLearn checks that Recommend returns ErrNoise together with plans if the noise is too
// large for every mean.
func TestNothingToLearn(t *testing.T) {
	names := make([]string, 26)
	for i := range names {
		names[i] = string(rune('a' + i))
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	spoken := records.Interval(617, -1, 1).WithLabels(names...)
	list, err := privgen.Recommend(spoken, b, 1100)
	if !errors.Is(err, privgen.ErrNoise) || len(list) == 0 {
		t.Errorf("1,100 records of 617 numbers in 26 classes: %d plans, %v", len(list), err)
	}
	for _, enough := range []struct {
		s records.Schema
		n int
	}{{spoken, 100_000}, {kinds(t)[0], 3000}, {records.Sets(16_470, 76), 88_000}} {
		if _, err := privgen.Recommend(enough.s, b, enough.n); err != nil {
			t.Errorf("%d records of %v: %v", enough.n, enough.s, err)
		}
	}
}

// TestOneLinersFit checks that every system fits and samples small data with its defaults.
func TestOneLinersFit(t *testing.T) {
	b := accountant.Budget{Epsilon: 2, Delta: 1e-5}
	table := tableOf(t, 400, 3, 2, "v0", "v1")
	items, err := records.NewSetBuilder(records.Sets(60, 9))
	for i := 0; i < 400 && err == nil; i++ {
		err = items.Add([]uint32{uint32(i % 7), uint32(7 + i%13), uint32(20 + i*i%40)})
	}
	if err != nil {
		t.Fatal(err)
	}
	sets := must(items.Table())(t)
	for _, data := range []records.Data{table, sets} {
		for name, plan := range oneLiners(data.Schema(), b, 400) {
			if name == "merf" { // it takes seconds, and merf's own tests fit its defaults
				continue
			}
			p := must(plan())(t)
			g, err := p.Fit(context.Background(), data)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			rows, err := g.Sample(context.Background(), 50)
			if err != nil || rows.Len() != 50 || records.Check(rows) != nil {
				t.Errorf("%s: sample: %v", name, err)
			}
		}
	}
}
