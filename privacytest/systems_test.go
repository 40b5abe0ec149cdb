package privacytest_test

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// fitting is a whole run. It returns the visible values of the run.
type fitting func(ctx context.Context, ledger *ledger.Ledger, data records.Data) (any, error)

// replayed lists whole runs of every system on a schema.
var replayed = []struct {
	name   string // the package, and the special features of the run
	schema records.Schema
	fit    func(s records.Schema, b accountant.Budget) fitting
}{
	{"dpgm, marginals", records.Sets(12, 4), fitMarginals},
	{"mix", records.Image(2, 2).WithLabels("a", "b"), fitMix},
	{"mix, projected, centred", records.Interval(3, -1, 1), fitMix},
	{"merf", records.Interval(3, -1, 2).WithLabels("a", "b"), fitMerf},
	{"merf, table", mixedTable(), fitMerf},
	{"merf, sets in a stream", records.Sets(9, 4), fitMerfStream},
	{"merf, shards", records.Image(2, 2).WithLabels("a", "b", "c"), fitMerfShards},
	{"gan", records.Interval(3, 0, 1).WithLabels("a", "b"), fitGAN},
	{"sets, independent", records.Sets(10, 5), fitBaseline},
	{"sets, MWEM", records.Sets(12, 5), fitBaseline},
	{"tables, AIM", mixedTable(), fitTables},
	{"tables, AIM for a number", targetTable(), fitTables},
	{"tables, MST", smallTable(), fitMST},
	{"compose, ranks", mixedTable(), fitRanks},
	{"compose, levels", openTable(), fitOpen},
	{"compose, pool", records.Interval(3, -1, 2).WithLabels("a", "b"), fitPool},
	{"compose, labels", records.Interval(3, -1, 2).WithLabels("a", "b"), fitLabels},
	{"compose, changes", records.Image(2, 2).WithLabels("a", "b"), fitChanges},
}

func mixedTable() records.Schema {
	s, err := records.NewSchema(records.Numeric("x", 0, 10).WithMissing(), records.Integer("n", 0, 6),
		records.Categorical("c", "p", "q", "r"), records.Flag("f", "no", "yes"),
		records.Label("y", "a", "b"))
	if err != nil {
		panic(err)
	}
	return s
}

// targetTable has a number to be predicted, which is not the last column.
func targetTable() records.Schema {
	s, err := records.NewSchema(records.Target("t", 0, 100), records.Categorical("c", "p", "q", "r"),
		records.Integer("n", 0, 2000))
	if err != nil {
		panic(err)
	}
	return s
}

func openTable() records.Schema {
	s, err := records.NewSchema(records.Hashed("t", 6).WithOther("o"), records.Flag("f", "no", "yes"))
	if err != nil {
		panic(err)
	}
	return s
}

// ran holds the names of the systems that runs of these tests have released.
var ran = map[string]bool{}

// TestSystemsUnderReplay replays a run of each system that privgen.Systems lists, and more.
func TestSystemsUnderReplay(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	all := 0
	for _, c := range replayed {
		for _, r := range relations {
			t.Run(c.name+" "+r.String(), func(t *testing.T) {
				all++
				replayAll(t, c.schema, r,
					c.fit(c.schema, accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r}))
			})
		}
	}
	if all < len(replayed)*len(relations) {
		return // -run has chosen some
	}
	for _, s := range privgen.Systems() {
		if !ran[s.Name] && s.Name != "linked" { // which is replayed by person
			t.Errorf("no run of the system %s is replayed", s.Name)
		}
	}
}

// TestEveryAlgorithmIsUnderReplay: the runs of every package that adds noise are replayed in this
// file or in library_test.go. Nested modules have their own replays.
func TestEveryAlgorithmIsUnderReplay(t *testing.T) {
	// TestTrainingUnderReplay and TestKMeansUnderReplay replay sgd and kmeans. Package synth draws for
	// the systems.
	known := []string{"sgd", "kmeans", "synth"}
	for _, c := range replayed {
		name, _, _ := strings.Cut(c.name, ",")
		known = append(known, name)
	}
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("got %d files (%v), want at least 50", len(files), err)
	}
	for _, path := range files {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "go.mod")); err == nil {
			continue
		}
		name := filepath.Base(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || name == "privacytest" || slices.Contains(known, name) {
			continue
		}
		source := must(os.ReadFile(path))(t)
		f := must(parser.ParseFile(token.NewFileSet(), path, source, parser.ImportsOnly))(t)
		for _, i := range f.Imports {
			if strings.HasSuffix(i.Path.Value, "/privgen/mechanism\"") {
				t.Errorf("%s adds noise, but no run of package %s is replayed here", path, name)
			}
		}
	}
}

// briefly returns the configuration of a short training.
func briefly(steps int) sgd.Config {
	return sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: steps, NoiseMultiplier: 2,
		Optimizer: sgd.Adam(0.1)}
}

// planned returns a run of a plan, which is made once for all data.
func planned(plan func() (synth.Plan, error)) fitting {
	once := sync.OnceValues(plan)
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		p, err := once()
		if err != nil {
			return nil, err
		}
		return released(p.FitOn, ctx, l, data)
	}
}

// fitMarginals fits DPGM with clusters and releases the frequencies of coordinates as well.
func fitMarginals(s records.Schema, b accountant.Budget) fitting {
	return planned(func() (synth.Plan, error) {
		plan, err := dpgm.Config{Schema: s, Budget: b,
			Cluster:   kmeans.Config{K: 2, Iterations: 2, NoiseMultiplier: 3},
			Marginals: &dpgm.Marginals{NoiseMultiplier: 3}, Model: models.VAE{Hidden: []int{4}, Latent: 2},
			Train: briefly(2)}.Plan()
		return synth.PlanOf(plan, err)
	})
}

// released returns everything that leaves a fit on one worker: progress, the generator's file and
// guarantee.
func released(fit func(context.Context, *ledger.Ledger, records.Data,
	...synth.Option) (*synth.Generator, error),
	ctx context.Context, ledger *ledger.Ledger, data records.Data) (any, error) {
	var told []any
	gen, err := fit(ctx, ledger, data, synth.On(device.CPUWith(1)),
		synth.OnProgress(func(p synth.Progress) {
			p.Elapsed = 0
			told = append(told, p)
		}))
	if err != nil {
		return told, err
	}
	ran[gen.System()] = true
	var file bytes.Buffer
	err = gen.Save(&file)
	return append(told, file.Bytes(), gen.Weights(), gen.Guarantee()), err
}

// fitMix fits DPMix. Under replace-one the number of records is public, and the plan uses it.
func fitMix(s records.Schema, b accountant.Budget) fitting {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		c := mix.Config{Schema: s, Budget: b, Sampling: mix.Poisson{Nominal: 6, Degree: 2},
			Mixtures: 20, ClipNorm: 1.5, NoiseMultiplier: 2}
		if b.Relation == accountant.ReplaceOne {
			c.Sampling = mix.WithoutReplacement{Records: data.Len(), Degree: 1}
		}
		if s.Classes() == 0 {
			c.Centers = mix.Centers{NoiseMultiplier: 3, ClipNorm: 0.7}
		}
		plan, err := c.Plan()
		if err != nil {
			return nil, err
		}
		return released(plan.FitOn, ctx, l, data)
	}
}

func planMerf(s records.Schema, b accountant.Budget) (*merf.Plan, error) {
	c := merf.Config{Schema: s, Budget: b, NoiseMultiplier: 2}
	if s.Kind() != records.MixedTable {
		c.Features = 20
	}
	if b.Relation == accountant.ReplaceOne && s.Classes() < 2 {
		c.Nominal = 7
	}
	return c.Plan()
}

// embedded returns everything that an embedding contains, and a generator trained on it.
func embedded(ctx context.Context, e *merf.Embedding, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	g := merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{5}}, Latent: 2,
		Steps: 2, Batch: 8}
	m, err := merf.Train(ctx, e, g, synth.On(device.CPUWith(1)))
	if err != nil {
		return nil, err
	}
	ran[m.System()] = true
	file, err := m.Model().Encode()
	var sums [][]float64
	for c := range e.Classes() {
		sums = append(sums, e.Sum(c))
	}
	return []any{file, sums, e.Counts(), e.String(), e.Guarantee()}, err
}

func fitMerf(s records.Schema, b accountant.Budget) fitting {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		plan, err := planMerf(s, b)
		if err != nil {
			return nil, err
		}
		e, err := plan.Embed(ctx, l, data, synth.On(device.CPUWith(2)))
		return embedded(ctx, e, err)
	}
}

// fitMerfStream passes the records one at a time.
func fitMerfStream(s records.Schema, b accountant.Budget) fitting {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		plan, err := planMerf(s, b)
		if err != nil {
			return nil, err
		}
		e, err := plan.EmbedStream(ctx, l, one(data))
		return embedded(ctx, e, err)
	}
}

// one returns a stream of single sets or single persons.
func one(data records.Data) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		for i := range data.Len() {
			var piece records.Data
			if p, ok := records.AsPersons(data); ok {
				piece = records.WithPart(p.Slice(i, i+1), i, 1000)
			} else {
				piece = data.(*records.SetTable).Slice(i, i+1)
			}
			if !yield(piece, nil) {
				return
			}
		}
	}
}

// fitMerfShards sums even and odd rows separately and merges the sums before the noise is added.
func fitMerfShards(s records.Schema, b accountant.Budget) fitting {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		plan, err := planMerf(s, b)
		if err != nil {
			return nil, err
		}
		rows := [2][]int32{}
		for i := range data.Len() {
			rows[i%2] = append(rows[i%2], int32(i))
		}
		var shards []*mechanism.Partial
		for _, r := range rows {
			shard := plan.NewPartial()
			if err := shard.Add(ctx, data.(*records.Table).Take(r)); err != nil {
				return nil, err
			}
			shards = append(shards, shard)
		}
		e, err := plan.Release(ctx, l, shards)
		return embedded(ctx, e, err)
	}
}

func fitGAN(s records.Schema, b accountant.Budget) fitting {
	return planned(func() (synth.Plan, error) {
		plan, err := gan.Config{Schema: s, Budget: b,
			Critic:    models.MLP{Hidden: []int{5}, Activation: models.LeakyReLU},
			Generator: models.MLP{Hidden: []int{4}}, Latent: 2, CriticSteps: 1, GeneratorBatch: 4, Seed: 5,
			Train: briefly(3)}.Plan()
		return synth.PlanOf(plan, err)
	})
}

func fitBaseline(s records.Schema, b accountant.Budget) fitting {
	return planned(func() (synth.Plan, error) {
		b.Epsilon = 2
		common := sets.Common{Schema: s, Budget: b, MaxItems: 3, Seed: 4}
		plan, err := sets.Independent{Common: common}.Plan()
		if s.Dim() == 12 {
			plan, err = sets.MWEM{Common: common, Rounds: 3, Queries: 20}.Plan()
		}
		return synth.PlanOf(plan, err)
	})
}

// fitTables fits AIM, which chooses two marginals.
func fitTables(s records.Schema, b accountant.Budget) fitting {
	return planned(func() (synth.Plan, error) {
		plan, err := tables.AIM{Common: tables.Common{Schema: s, Budget: b, Bins: 3, Seed: 4},
			Rounds: 2, Order: 2}.Plan()
		return synth.PlanOf(plan, err)
	})
}
