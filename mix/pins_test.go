package mix_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

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

// unequal returns records of which most are of the first classes.
func unequal(t *testing.T, n int, s records.Schema) *records.Table {
	return greyOf(t, n, s, func(rng *rand.Rand, classes int) int {
		return min(rng.IntN(classes), rng.IntN(classes))
	})
}

// TestPins holds runs to the bits that they had, and so all that is computed from what they
// release.
func TestPins(t *testing.T) {
	s := records.Image(3, 4).WithLabels("a", "b", "c")
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		all := variants(s, r, 50)
		for name, c := range variants(records.RGBImage(2, 3), r, 50) {
			all["colours "+name] = c
		}
		for name, c := range variants(records.Interval(5, -2, 3).WithLabels("a", "b"), r, 50) {
			all["numbers "+name] = c
		}
		all["waves"] = clearly(small(records.Image(13, 12).WithLabels("a", "b"), sampling(r, 50, 4)))
		for name, set := range map[string]func(c *mix.Config){
			"no degree":      func(c *mix.Config) { c.Sampling = sampling(r, 50, 0) },
			"label share":    func(c *mix.Config) { c.LabelShare = 0.7 },
			"noise":          func(c *mix.Config) { c.NoiseMultiplier, c.Budget.Epsilon = 2, 1e3 },
			"long":           func(c *mix.Config) { c.ClipNorm = 0.5 },
			"noisy centres":  func(c *mix.Config) { c.Centers = noisy(2) },
			"three rounds":   func(c *mix.Config) { c.Mixtures = 300 },
			"clear":          func(c *mix.Config) { c.Budget.Epsilon, c.Mixtures = 1e4, 90 },
			"clear centred":  func(c *mix.Config) { *c = clearly(*c); c.Centers = noisy(0.1) },
			"clear by class": func(c *mix.Config) { *c = clearly(*c); c.ByClass = true },
			"everything": func(c *mix.Config) {
				*c = clearly(*c)
				c.ByClass, c.LabelShare = true, 0.2
				c.Centers = noisy(0.1)
			},
		} {
			c := all["poisson"]
			set(&c)
			all[name] = c
		}
		for name, c := range all {
			t.Run(r.String()+" "+name, func(t *testing.T) {
				data := unequal(t, 50, c.Schema)
				m := pinned(t, mustPlan(t, c), data).Model().(*mix.Model)
				if c.Budget.Epsilon > 10 || r == accountant.AddOrRemoveOne {
					checkModel(t, m, data)
				}
			})
		}
	}
}

func sampling(r accountant.Relation, n, degree int) mix.Sampling {
	if r == accountant.ReplaceOne {
		return mix.PoissonReplaceOne{Records: n, Degree: degree}
	}
	return mix.Poisson{Nominal: n, Degree: degree}
}

func noisy(z float64) mix.Centers { return mix.Centers{NoiseMultiplier: z, ClipNorm: 1} }

// clearly returns a configuration with so little noise that moments say something.
func clearly(c mix.Config) mix.Config {
	c.Budget.Epsilon, c.NoiseMultiplier, c.Mixtures = 1e8, 0.01, 240
	return c
}

// checkModel holds the rows, moments and trained networks of a release to their bits.
func checkModel(t *testing.T, m *mix.Model, data *records.Table) {
	t.Helper()
	t.Run("rows", func(t *testing.T) {
		var npz bytes.Buffer
		rows := mix.Project(m.Whiten(), m.Schema())
		if err := rows.WriteNPZ(&npz); err != nil {
			t.Fatal(err)
		}
		x, y := m.Rows().Matrices()
		parts := map[string][]byte{"npz": npz.Bytes(), "rows": fmt.Append(nil, x.Data, y.Data),
			"prepared": contents(must(m.Prepared(data))(t))}
		_, wrong := mix.Denoise(rows, records.Image(5, 5), 0.8)
		parts["refused"] = fmt.Append(nil, wrong)
		if smooth, err := mix.Denoise(rows, m.Schema(), 0.7); err == nil {
			x, y := smooth.Matrices()
			parts["smooth"] = fmt.Append(nil, x.Data, y.Data)
		}
		if classes := rows.Classes(); classes > 1 {
			net := must(models.MLP{Hidden: []int{3}}.Classifier(device.CPU(), rows.Dim(), classes, 1))(t)
			learn := mix.Trainer{Epochs: 2, Batch: 30, LearningRate: 0.02, Seed: 2}
			if err := learn.Fit(t.Context(), net, rows); err != nil {
				t.Fatal(err)
			}
			parts["net"] = fmt.Append(nil, net.Params().Flat.Data)
			if moments, err := m.Moments(); err == nil {
				err := learn.FitMoments(t.Context(), net, moments, 70)
				parts["fresh"] = fmt.Append(nil, err, net.Params().Flat.Data)
			}
		}
		moments, err := m.Moments()
		parts["moments"] = fmt.Append(nil, err)
		if err == nil {
			for class := range max(moments.Classes(), 1) {
				parts["moments"] = fmt.Append(parts["moments"], mix.MeanOf(moments, class),
					moments.Components(class))
			}
			parts["drawn"] = contents(must(moments.Sample(t.Context(), 20, 3))(t))
			if d, err := moments.Described(data); err == nil {
				parts["described"] = contents(d)
			}
		}
		pins.Check(t, parts)
	})
}

func contents(d records.Data) []byte {
	var b device.Batch
	d.Range(0, d.Len(), &b)
	return fmt.Append(nil, b.Dense.Data, b.Labels)
}

// TestPinsOfPersons holds mixtures of persons with different numbers of rows to their bits.
func TestPinsOfPersons(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	keys := make([]int, 60)
	for i := range keys {
		keys[i] = i * i % 35
	}
	data := must(records.GroupBy(unequal(t, 60, s), keys, 3))(t)
	for name, c := range map[string]mix.Config{"plain": {}, "projected": {
		Projection: mix.Projection{Dim: 3, Seed: 4}},
		"centred": {Centers: mix.Centers{Share: 0.2, ClipNorm: 1}}} {
		t.Run(name, func(t *testing.T) {
			c.Schema, c.Budget = data.Schema(), accountant.Budget{Epsilon: 50, Delta: 1e-5}
			c.Sampling, c.Mixtures, c.ClipNorm = mix.Poisson{Nominal: 20, Degree: 4}, 60, 1
			pinned(t, mustPlan(t, c), data)
		})
	}
}

// TestPinsOfPasses holds a run whose records other processes read to its bits.
func TestPinsOfPasses(t *testing.T) {
	defer mix.PassesOf(80)()
	s := records.Image(2, 3).WithLabels("a", "b")
	data := unequal(t, 40, s)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for name, c := range variants(s, r, 40) {
			if c.Sampling.Relation() != r || name == "subset" || name == "subset projected" ||
				name == "subset centred" {
				continue
			}
			t.Run(r.String()+" "+name, func(t *testing.T) {
				p := mustPlan(t, c)
				e := &elsewhere{plan: p, key: mechanism.NewKey(),
					shards: []records.Data{part(data, 0, 9), part(data, 9, 40)}}
				ctx := privacytest.Seeded(t, t.Context(), 7)
				pins.Run(t, p, must(p.FitPasses(ctx, ledger.New(c.Budget), e.read,
					synth.Shards(e.names()...)))(t))
			})
		}
	}
}

// TestPinsOfDefaults holds what the rules choose, and the degrees that were considered.
func TestPinsOfDefaults(t *testing.T) {
	grey := records.Image(8, 8).WithLabels("a", "b")
	for name, c := range map[string]mix.Config{
		"colours":   {Schema: records.RGBImage(8, 8), Nominal: 300},
		"grey":      {Schema: grey, Nominal: 200_000},
		"persons":   {Schema: grey.ByPerson(3), Nominal: 900},
		"numbers":   {Schema: records.Interval(4, -1, 1), Nominal: 5000, Mixtures: 400, ClipNorm: 2},
		"projected": {Schema: grey, Nominal: 90, Projection: mix.Projection{Dim: 7}, NoiseMultiplier: 2},
		"subsets": {Schema: grey, Nominal: 90, Mixtures: 50,
			Sampling: mix.WithoutReplacement{Records: 90},
			Budget:   accountant.Budget{Relation: accountant.ReplaceOne}},
		"small degrees": {Schema: grey, Nominal: 9, Mixtures: 400},
		"replaced": {Schema: grey, Nominal: 90, Mixtures: 50,
			Budget: accountant.Budget{Relation: accountant.ReplaceOne}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Budget.Epsilon, c.Budget.Delta = 20, 1e-5
			p := mustPlan(t, c)
			x, y := p.Noise()
			pins.Check(t, map[string][]byte{"plan": fmt.Appendf(nil, "%s%s%v%v%v%+v", p,
				must(json.Marshal(p))(t), p.Degree(), x, y, p.Candidates)})
		})
	}
}

// TestPinsOfResumedRuns goes on with a copy of a checkpoint, whose later mixtures are lost.
func TestPinsOfResumedRuns(t *testing.T) {
	t.Parallel() // it waits for the disk
	s := records.Image(2, 3).WithLabels("a", "b")
	for name, c := range variants(s, accountant.AddOrRemoveOne, 30) {
		t.Run(name, func(t *testing.T) {
			if c = clearly(c); c.Centers.Share > 0 {
				c.Centers = noisy(0.1)
			}
			data, p, n := unequal(t, 30, s), mustPlan(t, c), 0
			ctx, path := privacytest.Seeded(t, t.Context(), 7), filepath.Join(t.TempDir(), "run")
			opts := []synth.Option{synth.On(device.CPUWith(1)), synth.OnProgress(func(synth.Progress) {
				if n++; n == 70 {
					os.Link(path, path+"2")
				}
			})}
			must(p.Fit(ctx, data, append(opts, synth.CheckpointEvery(path, 9))...))(t)
			g := must(p.Fit(ctx, data, synth.CheckpointEvery(path+"2", 9), opts[0]))(t)
			pins.Run(t, p, g)
			checkModel(t, g.Model().(*mix.Model), data)
		})
	}
}
