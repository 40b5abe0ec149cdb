package dpgm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

func pinned(t *testing.T, p synth.Plan, data records.Data) {
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
	t.Run("clusters", func(t *testing.T) {
		m := must(systemModel(encoded(t, g)))(t)
		var b device.Batch
		data.Range(0, data.Len(), &b)
		of := make([]int32, b.Rows)
		g.Assign(b, of)
		layers, err := m.Layers(0)
		pins.Check(t, map[string][]byte{"of": fmt.Append(nil, of, m.Clusters(), m.Weights()),
			"layers": fmt.Appendf(nil, "%+v %v", layers, err)})
	})
}

var bothRelations = []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}

// baskets returns sets of unequal sizes.
func baskets(t *testing.T, s records.Schema, n int) records.Data {
	list := make([][]uint32, n)
	for i := range list {
		for j := range i % (s.MaxItems() + 1) {
			list[i] = append(list[i], uint32((i*i+3*j)%s.Dim()))
		}
	}
	return must(records.FromItems(s, list))(t)
}

// TestPins holds runs with options that the contract suite does not set to the bits that they had.
func TestPins(t *testing.T) {
	sets, tall := records.Sets(14, 5), table(t)
	data := map[string]records.Data{"bits": bits(t, 50, 12, 3), "images": bars(t, 50),
		"sets": baskets(t, sets, 60), "table": someRows(t, tall, 40, 2)}
	for kind, d := range data {
		for _, r := range bothRelations {
			for name, c := range variants(d.Schema(), r) {
				if kind == "images" && r == accountant.ReplaceOne {
					continue // takes long
				}
				if _, machine := c.Model.(models.RBM); machine && kind == "table" {
					continue
				}
				t.Run(fmt.Sprint(name, " ", kind, " ", r), func(t *testing.T) {
					pinned(t, mustPlan(t, c), d)
				})
			}
		}
	}
	t.Run("persons", func(t *testing.T) {
		keys := make([]int, 50)
		for i := range keys {
			keys[i] = i * i % 31
		}
		people := must(records.GroupBy(data["bits"], keys, 3))(t)
		c := small(people.Schema(), accountant.AddOrRemoveOne)
		pinned(t, mustPlan(t, c), people)
	})
	for name, set := range map[string]func(c *dpgm.Config){
		"memory": func(c *dpgm.Config) {
			c.Cluster.Memory, c.Cluster.Small = 0.5, kmeans.SplitLargest
		},
		"noise": func(c *dpgm.Config) {
			c.Cluster.Share, c.Cluster.NoiseMultiplier, c.Train.NoiseMultiplier = 0, 3, 5
		},
		"noise of marginals": func(c *dpgm.Config) { c.Marginals = &dpgm.Marginals{NoiseMultiplier: 2} },
		"clear marginals": func(c *dpgm.Config) {
			c.Marginals, c.Budget.Epsilon = &dpgm.Marginals{Share: 0.4}, 1e3
		},
		"quantile": func(c *dpgm.Config) {
			c.Train.ClipNorm, c.Train.NominalBatch = 0, 20
			c.Train.Clip = sgd.Quantile{Quantile: 0.5, Rate: 0.2, Initial: 1, NoiseMultiplier: 9}
		},
		"normalised": func(c *dpgm.Config) { c.Train.ClipNorm, c.Train.Clip = 0, sgd.Normalize{} },
		"momentum": func(c *dpgm.Config) {
			c.Train.Optimizer, c.Train.MicroBatch, c.Average = sgd.Momentum(0.1, 0.9), 7, 0.5
		},
		"deep": func(c *dpgm.Config) {
			c.Model = models.VAE{Hidden: []int{6, 4}, Latent: 3, Activation: models.Tanh, OutputBias: -1}
		},
		"sweeps": func(c *dpgm.Config) { c.Model = models.RBM{Hidden: 3, Chains: 5, SampleSweeps: 7} },
		"merged": func(c *dpgm.Config) { c.Cluster.Centers, c.Cluster.Merge = 5, 1 },
		"given": func(c *dpgm.Config) {
			c.Features = nil
			c.Cluster.Init = kmeans.Init{Method: kmeans.Given, Centers: make([][]float32, 3)}
			for i := range c.Cluster.Init.Centers {
				c.Cluster.Init.Centers[i] = slices.Repeat([]float32{float32(i) / 2}, c.Schema.Dim())
			}
		},
	} {
		for _, kind := range []string{"bits", "sets"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				c := small(data[kind].Schema(), accountant.AddOrRemoveOne)
				set(&c)
				if p, err := c.Plan(); err == nil {
					pinned(t, p, data[kind])
				}
			})
		}
	}
}

// TestPinsOfDefaults holds what the rules choose, and quick runs of it.
func TestPinsOfDefaults(t *testing.T) {
	parts := map[string][]byte{}
	for i, s := range []records.Schema{records.Binary(12), records.Image(28, 28),
		records.BinaryImage(10, 10), records.Sets(50, 8), records.Sets(3000, 40), table(t),
		records.RGBImage(8, 8)} {
		for j, c := range []dpgm.Config{{Nominal: 400}, {Nominal: 60_000}, {Nominal: 5000,
			Marginals: &dpgm.Marginals{Off: true}, Train: sgd.Config{Clip: sgd.Normalize{}}},
			{Nominal: 5000, Cluster: kmeans.Config{K: 3, NoiseMultiplier: 20}, Average: 0.5}} {
			c.Schema = s
			c.Budget = accountant.Budget{Epsilon: 4, Delta: 1e-6, Relation: bothRelations[(i+j)%2]}
			name := fmt.Sprint(i, "of", j)
			p, err := c.Plan()
			if err != nil {
				parts[name] = []byte(err.Error())
				continue
			}
			parts[name] = append(must(json.Marshal(p))(t), p.String()...)
		}
	}
	pins.Check(t, parts)
	data := bars(t, 40)
	c := dpgm.Config{Schema: data.Schema(), Nominal: 2000,
		Budget: accountant.Budget{Epsilon: 10, Delta: 1e-5},
		Model:  models.VAE{Hidden: []int{4}, Latent: 2}}
	c.Cluster, c.Train.Steps = kmeans.Config{K: 2, Iterations: 2, Centers: 3}, 3
	t.Run("strokes", func(t *testing.T) { pinned(t, mustPlan(t, c), data) })
	c.Features = rff.Strokes{Cells: 2, Orientations: 3, Blur: 0.5}
	t.Run("few strokes", func(t *testing.T) { pinned(t, mustPlan(t, c), data) })
}

// TestPinsOfResumedRuns goes on with copies of checkpoints from each stage.
func TestPinsOfResumedRuns(t *testing.T) {
	t.Parallel() // it waits for the disk
	for name, p := range keptVariants(t) {
		for _, at := range []int{2, 7} {
			t.Run(fmt.Sprint(name, " ", at), func(t *testing.T) {
				data, n := bits(t, 40, 12, 3), 0
				ctx, path := privacytest.Seeded(t, t.Context(), 7), filepath.Join(t.TempDir(), "run")
				must(p.Fit(ctx, data, synth.CheckpointEvery(path, 2), synth.OnProgress(
					func(synth.Progress) {
						if n++; n == at {
							os.Link(path, path+"2")
						}
					})))(t)
				pins.Run(t, p, must(p.Fit(ctx, data, synth.CheckpointEvery(path+"2", 2)))(t))
			})
		}
	}
}
