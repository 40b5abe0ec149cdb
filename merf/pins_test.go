package merf_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// TestPins holds runs with options that the contract suite does not set to the bits that they had.
func TestPins(t *testing.T) {
	labelled := table(t, records.Label("class", "a", "b", "c"))
	rows := drawTable(t, 70, 3)
	for _, c := range []struct {
		name string
		set  func(c *merf.Config)
	}{
		{"counts", func(c *merf.Config) { c.CountShare, c.Nominal = 0.3, 60 }},
		{"noise", func(c *merf.Config) { c.NoiseMultiplier, c.Generator.Floor = 2, 30 }},
		{"default kernel", func(c *merf.Config) { c.Kernel = nil }},
		{"features", func(c *merf.Config) { c.Kernel, c.Features = nil, 30 }},
		{"phase", func(c *merf.Config) { c.Kernel = kernels()["phase"] }},
		{"pairs", func(c *merf.Config) { c.Kernel = kernels()["pairs"] }},
		{"clipped", func(c *merf.Config) { c.Kernel = kernels()["too long"] }},
		{"samples", func(c *merf.Config) { c.Batches = merf.Batches{Probability: 0.4, Steps: 5} }},
		{"samples of pairs", func(c *merf.Config) {
			c.Batches, c.Kernel = merf.Batches{Probability: 0.2, Steps: 4}, kernels()["pairs"]
		}},
		{"encoded", func(c *merf.Config) {
			c.Kernel = merf.Encoded{Encoder: publicEncoder(t, labelled.Dim(), false),
				Kernel: kernels()["rbf"]}
		}},
		{"networks", func(c *merf.Config) { c.Generator = several() }},
		{"two networks", func(c *merf.Config) { c.Generator.Generators = 2 }},
		{"networks of pairs", func(c *merf.Config) {
			c.Generator, c.Kernel = several(), rff.Pairs{Knots: 4}
			c.Generator.Batch = 31
		}},
		{"training", func(c *merf.Config) {
			c.Generator = merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{5, 4}},
				Latent: 3, Steps: 9, Batch: 20, LR: 0.1, Decay: 0.5, Average: 0.6, Seed: 4}
		}},
		{"default network", func(c *merf.Config) {
			c.Generator = merf.GeneratorConfig{Steps: 2, Batch: 9}
		}},
	} {
		for _, r := range relations {
			t.Run(c.name+" "+r.String(), func(t *testing.T) {
				config := small(labelled, r, kernels()["rbf"])
				c.set(&config)
				pinned(t, mustPlan(t, config), rows)
			})
		}
	}
}

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

// many returns random records of a schema, one of them extreme.
func many(t *testing.T, s records.Schema) records.Data {
	t.Helper()
	return slices.MaxFunc(privacytest.Neighbours(t, s, relations[0], 20, 3),
		func(a, b privacytest.Pair) int { return a.Data.Len() - b.Data.Len() }).Neighbour
}

// TestPinsOfKinds holds every kind of record to its bits, with maps of each kind.
func TestPinsOfKinds(t *testing.T) {
	for i, s := range schemas(t) {
		for name, k := range kernels() {
			t.Run(fmt.Sprint(name, " ", i), func(t *testing.T) {
				pinned(t, mustPlan(t, small(s, relations[i%2], k)),
					many(t, s))
			})
		}
	}
	sets := records.Sets(20, 4)
	config := small(sets, relations[0], merf.Encoded{Encoder: publicEncoder(t, sets.Dim(), false),
		Kernel: rff.RBF{Dim: 8, Bandwidth: 1}})
	t.Run("encoded sets", func(t *testing.T) {
		pinned(t, mustPlan(t, config), many(t, sets))
	})
	d := people(t, 40)
	for _, r := range relations {
		t.Run("persons "+r.String(), func(t *testing.T) {
			pinned(t, personPlan(t, d.Schema(), r), d)
		})
		c := small(d.Schema(), r, kernels()["pairs"])
		c.Batches = merf.Batches{Probability: 0.3, Steps: 3}
		t.Run("samples of persons "+r.String(), func(t *testing.T) { pinned(t, mustPlan(t, c), d) })
	}
}

// TestPinsOfDefaults holds what the rules choose for records of several numbers and schemas.
func TestPinsOfDefaults(t *testing.T) {
	var wide []records.Column
	for i := range 70 {
		wide = append(wide, records.Numeric(fmt.Sprint("x", i), 0, 1))
	}
	text := map[string][]byte{}
	for i, s := range append(schemas(t), records.Image(28, 28).WithLabels("a", "b"),
		must(records.NewSchema(wide[:30]...))(t), must(records.NewSchema(wide...))(t),
		records.RGBImage(32, 32).WithLabels("a", "b"), records.Interval(500, 0, 1)) {
		for j, c := range []merf.Config{{}, {Nominal: 40}, {Nominal: 3_000}, {Nominal: 200_000},
			{Nominal: 900, Kernel: rff.RBF{Dim: 50, Bandwidth: 1}}, {Nominal: 5000, Features: 3000},
			{Nominal: 5000, Generator: merf.GeneratorConfig{Generators: 200, Batch: 5000}},
			{Nominal: 1e8, Generator: merf.GeneratorConfig{Generators: 1, Batch: 2, Steps: 1}}} {
			c.Schema, c.Budget = s, accountant.Budget{Epsilon: 1, Delta: 1e-6,
				Relation: relations[(i+j)%2]}
			if p, err := c.Plan(); err == nil {
				text[fmt.Sprint(i)] = fmt.Appendf(text[fmt.Sprint(i)], "%s\n%s\n", p, must(json.Marshal(p))(t))
			}
		}
	}
	pins.Check(t, text)
}

// TestPinsOfReleases holds embeddings to their bits: from shards, from streams and of other
// processes. Other networks are then trained against them.
func TestPinsOfReleases(t *testing.T) {
	data := drawTable(t, 90, 2)
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"]))
	ctx := privacytest.Seeded(t, t.Context(), 7)
	shard := func(lo, hi int) *mechanism.Partial {
		s := p.NewPartial()
		if err := s.Add(ctx, data.Slice(lo, hi)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	stream := func(yield func(records.Data, error) bool) {
		_ = yield(data.Slice(0, 20), nil) && yield(data.Slice(20, 90), nil)
	}
	paid := func() *ledger.Ledger { return ledger.New(p.Budget()) }
	all := []*merf.Embedding{
		must(p.Release(ctx, paid(), []*mechanism.Partial{shard(0, 50), shard(50, 90)}))(t),
		must(p.EmbedStream(ctx, paid(), stream))(t),
		must(p.EmbedPasses(ctx, paid(), func(context.Context, synth.Pass) (*mechanism.Partial, error) {
			return shard(0, 90), nil
		}))(t),
		must(p.Embed(ctx, paid(), data))(t),
	}
	parts := map[string][]byte{"stream": pins.Rows(t, must(p.FitStream(ctx, paid(), stream))(t))}
	for i, e := range all {
		var file bytes.Buffer
		if err := e.Save(&file); err != nil {
			t.Fatal(err)
		}
		parts[fmt.Sprint("embedding", i)] = file.Bytes()
		parts[fmt.Sprint("text", i)] = fmt.Append(nil, e, e.Counts(), e.Sum(0), e.SumStd(), e.CountStd(),
			e.Schema(), e.Guarantee().Entries)
		again := must(merf.LoadEmbedding(&file))(t)
		parts[fmt.Sprint("again", i)] = pins.Rows(t, must(p.Refit(ctx, again))(t))
	}
	var file bytes.Buffer
	if err := all[0].Save(&file); err != nil {
		t.Fatal(err)
	}
	f := must(synth.DecodeFile(&file))(t)
	number := regexp.MustCompile(`"(sum|count)_std":[^,}]*`)
	for i, bad := range []string{`"${1}_std":0`, `"${1}_std":-1`} {
		lying := *f
		lying.Header = number.ReplaceAll(f.Header, []byte(bad))
		var text bytes.Buffer
		if err := lying.Write(&text); err != nil {
			t.Fatal(err)
		}
		_, err := merf.LoadEmbedding(&text)
		parts[fmt.Sprint("refused", i)] = fmt.Append(nil, err)
	}
	for name, g := range map[string]merf.GeneratorConfig{"one": quick, "several": several()} {
		gen := must(merf.Train(ctx, all[0], g))(t)
		parts[name] = pins.Rows(t, gen)
		m := must(gen.Model().(*merf.Model).Network(0))(t)
		parts[name+"layers"] = fmt.Appendf(nil, "%+v", must(m.Layers())(t))
	}
	pins.Check(t, parts)
}

// TestPinsOfResumedRuns goes on with copies of checkpoints that were taken in the release, whose
// later samples are then lost, and in the training.
func TestPinsOfResumedRuns(t *testing.T) {
	t.Parallel() // it waits for the disk
	for _, g := range []merf.GeneratorConfig{quick, several()} {
		for _, at := range []int{2, 75} {
			t.Run(fmt.Sprint(g.Generators, " ", at), func(t *testing.T) {
				data := drawTable(t, 50, 1)
				c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
				c.Generator, c.Batches = g, merf.Batches{Probability: 0.3, Steps: 6}
				c.Generator.Steps = 70
				p, ctx := mustPlan(t, c), privacytest.Seeded(t, t.Context(), 7)
				path := filepath.Join(t.TempDir(), "run")
				must(p.Fit(ctx, data, synth.CheckpointEvery(path, 3), synth.OnProgress(
					func(synth.Progress) {
						if at--; at == 0 {
							os.Link(path, path+"2")
						}
					})))(t)
				pins.Run(t, p, must(p.Fit(ctx, data, synth.CheckpointEvery(path+"2", 3)))(t))
			})
		}
	}
}
