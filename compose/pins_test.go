package compose_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
	"github.com/seed7ba64551/privgen/tables"
)

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
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
	t.Run("read", func(t *testing.T) {
		all := append(slices.Clone(systems), tables.Systems()...)
		all = append(all, compose.Systems(all)...)
		text := must(json.Marshal(p))(t)
		var file bytes.Buffer
		if err := g.Save(&file); err != nil {
			t.Fatal(err)
		}
		read, again := must(all.ReadPlan(text))(t), must(all.Load(&file))(t)
		if second := must(json.Marshal(read))(t); !bytes.Equal(text, second) ||
			read.String() != p.String() {
			t.Errorf("read back as %s, want %s", second, text)
		}
		if !bytes.Equal(pins.Rows(t, again), pins.Rows(t, g)) {
			t.Error("a generator that was read draws other records")
		}
		pins.Check(t, map[string][]byte{"plan": text})
	})
	return g
}

// many returns random records of a schema, one of them extreme.
func many(t *testing.T, s records.Schema) records.Data {
	t.Helper()
	return slices.MaxFunc(privacytest.Neighbours(t, s, accountant.AddOrRemoveOne, 40, 3),
		func(a, b privacytest.Pair) int { return a.Data.Len() - b.Data.Len() }).Neighbour
}

// TestPinsOfKinds holds compositions of every kind of record to the bits that they had.
func TestPinsOfKinds(t *testing.T) {
	compose.DrawFew(t)
	numbers := schemaOf(t, records.Numeric("a", -1, 3).WithMissing(), records.Integer("n", 0, 40),
		records.Flag("f", "no", "yes"), records.Numeric("l", 1, 1e5).Logarithmic())
	for name, s := range map[string]records.Schema{"numbers": numbers, "towns": townSchema(t),
		"labelled": schemaOf(t, records.Numeric("a", 0, 1), records.Label("y", "u", "v", "w")),
		"target":   schemaOf(t, records.Numeric("a", 0, 1), records.Target("y", 0, 9)),
		"vectors":  records.Interval(5, -2, 3).WithLabels("a", "b", "c"),
		"plain":    records.Interval(4, 0, 1), "bits": records.Binary(6).WithLabels("a", "b"),
		"grey": records.Image(4, 5).WithLabels("a", "b"), "colour": records.RGBImage(4, 4),
		"sets": records.Sets(9, 3)} {
		for kind, subject := range map[string]synthtest.Subject{"ranks": ranksSubject,
			"pool": poolSubject, "labels": labelsSubject, "changes": changesSubject,
			"levels": levelsSubject} {
			for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
				data := many(t, s)
				p, err := subject.Plan(s, budgetUnder(r), data.Len())
				if err == nil {
					t.Run(fmt.Sprint(kind, " ", name, " ", r), func(t *testing.T) { pinned(t, p, data) })
				}
			}
		}
	}
}

// TestPins holds compositions with options that the contract suite does not set to their bits.
func TestPins(t *testing.T) {
	compose.DrawFew(t)
	s := schemaOf(t, records.Numeric("a", -1, 3).WithMissing(), records.Integer("n", 0, 400),
		records.Flag("f", "no", "yes"), records.Numeric("l", 1, 1e5).Logarithmic())
	b := must(records.NewFrameBuilder(s))(t)
	for i := range 180 {
		var a any = float64(i*i%40) / 14
		if i%9 == 0 {
			a = nil
		}
		if err := b.Append(a, i*i%400, i%3 == 0, 1+float64(i*i*i%90_000)); err != nil {
			t.Fatal(err)
		}
	}
	frame := b.Frame()
	images := must(records.FromFlat(records.Image(6, 7).WithLabels("a", "b"), shaded(60*42),
		slices.Repeat([]int32{0, 0, 1}, 20)...))(t)
	pairs := lowAndHigh(t, records.Interval(2, 0, 1).WithLabels("a", "b", "c"), 90)
	aim := tables.AIM{Common: tables.Common{Bins: 4, Fine: 10}, Rounds: 3}
	mst := tables.MST{Common: tables.Common{Bins: 4}}
	change := compose.Change{Contrast: compose.Contrast{Black: 0.3, White: 0.7}, Distortion: 0.7,
		Normalize: true}
	clusters := dpgm.Config{Cluster: kmeans.Config{K: 2, Iterations: 2, Share: 0.2},
		Model: models.VAE{Hidden: []int{4}, Latent: 2},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4, Optimizer: sgd.Adam(1e-2)}}
	features := rff.RBF{Dim: 8, Bandwidth: 1}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.4, Steps: 5,
		Optimizer: sgd.Adam(0.1)}
	for name, c := range map[string]struct {
		of   synth.Design
		data records.Data
	}{
		"levels of persons":  {compose.Levels{Of: aim}, personsOf(t, towns(t, usual))},
		"ranks of clusters":  {compose.Ranks{Of: clusters, Cells: 8}, frame},
		"levels of clusters": {compose.Levels{Of: clusters}, towns(t, usual)},
		"ranks":              {compose.Ranks{Of: aim, Cells: 30, NoiseMultiplier: 3}, frame},
		"ranks of few":       {compose.Ranks{Of: mst, Share: 0.6, Cells: 4, Seed: 2}, frame},
		"ranks of all":       {compose.Ranks{Of: embedding(0)}, frame},
		"pool":               {compose.Pool{Of: []synth.Design{aim, mst, embedding(0)}}, frame},
		"pool of shares": {compose.Pool{Of: []synth.Design{aim, embedding(0)},
			Shares: []float64{0.7, 0.3}}, frame},
		"pool of ranks": {compose.Pool{Of: []synth.Design{compose.Ranks{Of: aim, Cells: 9}, mst}}, frame},
		"fixed": {compose.Ranks{Of: compose.Fixed(must(mst.PlanFor(must(compose.RankSchema(s))(t),
			accountant.Budget{Epsilon: 1, Delta: 1e-6}))(t)), Cells: 9}, frame},
		"labels": {compose.Labels{Of: embedding(0), Features: features, Nominal: 90, Margin: 0.2}, pairs},
		"trained labels": {compose.Labels{Of: embedding(0), Features: features, Nominal: 90, Share: 0.4,
			Train: train, Tries: 2}, pairs},
		"labels of noise": {compose.Labels{Of: embedding(0), Features: features, Nominal: 90,
			Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.4, Steps: 5, NoiseMultiplier: 4,
				Optimizer: sgd.Momentum(1, 0.5), NominalBatch: 30}}, pairs},
		"labels of images": {compose.Labels{Of: embedding(0), Nominal: 60,
			Contrast: compose.Contrast{Black: 0.1, White: 0.6}}, images},
		"labels of plain images": {compose.Labels{Of: embedding(0), Nominal: 60,
			Contrast: compose.Contrast{White: 1}, Tries: 5}, images},
		"changes": {compose.Changes{Of: embedding(0), Candidates: []compose.Change{{},
			{Contrast: compose.DefaultContrast}, {Distortion: 1}, {Distortion: 2, Normalize: true}},
			Records: 50, Seed: 3}, images},
		"changes by default": {compose.Changes{Of: embedding(0), Records: 20, Share: 0.3}, images},
		"changed": {compose.Changes{Of: embedding(0), Records: 20,
			Candidates: []compose.Change{change, change}}, images},
		"changes of labels": {compose.Changes{Of: compose.Labels{Of: embedding(0), Nominal: 60,
			Features: rff.RBF{Dim: 6, Bandwidth: 2}},
			Candidates: []compose.Change{{}, {Distortion: 1}}, Records: 20}, images},
		"levels":          {compose.Levels{Of: aim}, towns(t, usual)},
		"levels of noise": {compose.Levels{Of: mst, NoiseMultiplier: 20, Share: 0}, towns(t, usual)},
		"levels of less":  {compose.Levels{Of: embedding(0), Share: 0.02}, towns(t, usual)},
		"no level": {compose.Levels{Of: aim}, towns(t, map[string]int{"a": 2, "b": 1, "": 9,
			"elsewhere": 4, strings.Repeat("x", 300): 3})},
		"levels of ranks": {compose.Levels{Of: compose.Pool{Of: []synth.Design{aim, mst}}},
			towns(t, usual)},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := c.of.PlanFor(c.data.Schema(), accountant.Budget{Epsilon: 4, Delta: 1e-5})
			if err != nil {
				t.Fatal(err)
			}
			g := pinned(t, p, c.data)
			t.Run("parts", func(t *testing.T) { pinParts(t, g) })
			t.Run("clusters", func(t *testing.T) {
				var b device.Batch
				c.data.Range(0, min(c.data.Len(), 50), &b)
				of := make([]int32, b.Rows)
				g.Assign(b, of)
				pins.Check(t, map[string][]byte{"of": fmt.Append(nil, of)})
			})
		})
	}
}

// personsOf returns the rows as those of persons with different numbers of rows.
func personsOf(t *testing.T, f *records.Frame) records.Data {
	t.Helper()
	keys := make([]int, f.Len())
	for i := range keys {
		keys[i] = i * i % 101
	}
	return must(records.GroupBy(f, keys, 3))(t)
}

// pinParts holds to their bits what this package computes from a release.
func pinParts(t *testing.T, g *synth.Generator) {
	t.Helper()
	agreement, err := compose.Agreement(g)
	chosen, failed := compose.Chosen(g)
	parts := map[string][]byte{"agreement": fmt.Append(nil, agreement, err, g.Weights()),
		"chosen": fmt.Append(nil, chosen, failed)}
	if part, err := compose.Part(g, 0); err == nil {
		parts["part"] = pins.Rows(t, part)
	}
	if strict, err := compose.WithMargin(g, 0.3); err == nil {
		parts["strict"] = pins.Rows(t, strict)
		parts["strict_agreement"] = fmt.Append(nil, must(compose.Agreement(strict))(t))
	}
	for i, s := range g.Schema().Columns() {
		if levels := s.Levels(); len(levels) > 0 {
			parts[fmt.Sprint("given", i)] = pins.Rows(t, g,
				synth.Given(records.Only(s.Name(), levels[len(levels)-1])))
		} else if lo, hi := s.Bounds(); hi > lo && g.Schema().Kind() == records.MixedTable {
			parts[fmt.Sprint("given", i)] = pins.Rows(t, g,
				synth.Given(records.Within(s.Name(), lo, lo+(hi-lo)/3)))
		}
	}
	pins.Check(t, parts)
}

// shaded returns grey levels.
func shaded(n int) []float32 {
	flat := make([]float32, n)
	for i := range flat {
		flat[i] = float32(i*i%101) / 100
	}
	return flat
}

// TestPinsOfChanges holds changes of images to their bits.
func TestPinsOfChanges(t *testing.T) {
	grey := must(records.FromFlat(records.Image(7, 9), shaded(12*63)))(t)
	colour := must(records.FromFlat(records.RGBImage(6, 5), shaded(12*90)))(t)
	for name, d := range map[string]*records.Table{"grey": grey, "colour": colour} {
		parts := map[string][]byte{}
		add := func(what string, out *records.Table, err error) {
			var b device.Batch
			if err == nil {
				out.Range(0, out.Len(), &b)
			}
			parts[what] = fmt.Append(nil, b.Dense.Data, err)
		}
		for i, c := range []compose.Contrast{compose.DefaultContrast, {White: 0.5},
			{Black: 0.4, White: 1}} {
			out, err := c.Apply(d)
			add(fmt.Sprint("contrast", i), out, err)
		}
		for i, c := range []compose.Distortion{{Strength: 1, Seed: 3}, {Strength: 0.2, Normalize: true},
			{Strength: 4, Seed: 1}} {
			out, err := c.Apply(d)
			add(fmt.Sprint("distortion", i), out, err)
		}
		t.Run(name, func(t *testing.T) { pins.Check(t, parts) })
	}
}

// TestPinsOfLinkedTables holds tables whose rows belong to each other to their bits.
func TestPinsOfLinkedTables(t *testing.T) {
	data := shopOf(t, customers(150, 1))
	for i, epsilon := range []float64{2, 30} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			p := linkedPlan(t, accountant.Budget{Epsilon: epsilon, Delta: 1e-5,
				Relation: accountant.Relation(i)}, 3)
			g := pinned(t, p, data)
			t.Run("tables", func(t *testing.T) {
				var text []byte
				for _, l := range must(drawnTables(t.Context(), g, 40))(t) {
					for i := range l.Tables().All() {
						rows, parents := l.Table(i)
						for row := range rows.Len() {
							for column := range rows.Schema().Columns() {
								text = fmt.Append(text, rows.Value(row, column), " ")
							}
						}
						text = fmt.Append(text, parents)
					}
				}
				pins.Check(t, map[string][]byte{"rows": text})
			})
		})
	}
}

// TestPinsOfResumedRuns goes on with copies of checkpoints from within the parts.
func TestPinsOfResumedRuns(t *testing.T) {
	compose.DrawFew(t)
	s := schemaOf(t, records.Numeric("a", 0, 1), records.Label("y", "u", "v", "w"))
	grey := records.Image(4, 5).WithLabels("a", "b")
	for name, c := range map[string]struct {
		subject synthtest.Subject
		schema  records.Schema
	}{"ranks": {ranksSubject, s}, "pool": {poolSubject, records.Interval(5, 0, 1)},
		"labels": {labelsSubject, s}, "changes": {changesSubject, grey},
		"levels": {levelsSubject, townSchema(t)}} {
		for _, at := range []int{2, 5} {
			t.Run(fmt.Sprint(name, " ", at), func(t *testing.T) {
				data := many(t, c.schema)
				p := must(c.subject.Plan(c.schema, budgetUnder(accountant.AddOrRemoveOne), data.Len()))(t)
				ctx, path := privacytest.Seeded(t, t.Context(), 7), filepath.Join(t.TempDir(), "run")
				n := 0
				must(p.Fit(ctx, data, synth.CheckpointEvery(path, 1), synth.OnProgress(
					func(synth.Progress) {
						if n++; n == at {
							os.Link(path, path+"2")
						}
					})))(t)
				if n < at {
					t.Skip("the run ends before")
				}
				pins.Run(t, p, must(p.Fit(ctx, data, synth.CheckpointEvery(path+"2", 1)))(t))
			})
		}
	}
}

// TestPlansKeepTheirCandidates: a plan does not change with the caller's list.
func TestPlansKeepTheirCandidates(t *testing.T) {
	s, list := records.Image(4, 5).WithLabels("a", "b"), []compose.Change{{}, {Distortion: 1}}
	p := must(compose.Changes{Of: embedding(0), Candidates: list, Records: 20}.PlanFor(s,
		budgetUnder(accountant.AddOrRemoveOne)))(t)
	before := must(json.Marshal(p))(t)
	list[1].Distortion = 3
	if after := must(json.Marshal(p))(t); !bytes.Equal(before, after) {
		t.Errorf("the plan was %s and is %s", before, after)
	}
}

// TestPinsOfDefaults holds what compositions of several systems choose.
func TestPinsOfDefaults(t *testing.T) {
	parts := map[string][]byte{}
	grey, s := records.Image(28, 28).WithLabels("a", "b"), townSchema(t)
	quick := merf.Config{Kernel: rff.RBF{Dim: 30, Bandwidth: 1},
		Generator: merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{6}}, Steps: 4}}
	for name, c := range map[string]struct {
		of synth.Design
		s  records.Schema
	}{"labels": {compose.Labels{Of: quick, Nominal: 5000}, grey},
		"changes": {compose.Changes{Of: quick}, grey},
		"levels":  {compose.Levels{Of: tables.AIM{Common: tables.Common{Nominal: 3000}}}, s},
		"ranks": {compose.Ranks{Of: tables.MST{}}, schemaOf(t, records.Numeric("a", 0, 1),
			records.Numeric("b", 0, 1))},
		"both": {compose.Labels{Nominal: 5000, Of: compose.Changes{Of: quick}}, grey}} {
		for i, epsilon := range []float64{0.5, 8, 1e-12} {
			p, err := c.of.PlanFor(c.s, accountant.Budget{Epsilon: epsilon, Delta: 1e-6})
			if parts[fmt.Sprint(name, i)] = fmt.Append(nil, err); err == nil {
				parts[fmt.Sprint(name, i)] = append(must(json.Marshal(p))(t), p.String()...)
			}
		}
	}
	pins.Check(t, parts)
}
