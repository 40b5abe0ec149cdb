package gan_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
}

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
}

var relations = []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}

// TestPins holds runs with options that the contract suite does not set to the bits that they had.
func TestPins(t *testing.T) {
	for i, s := range schemas(t) {
		for _, r := range relations {
			for name, c := range variants(t, s, r) {
				t.Run(fmt.Sprint(name, " ", i, " ", r), func(t *testing.T) {
					pinned(t, mustPlan(t, c), several(t, s))
				})
			}
		}
	}
	s := records.Interval(5, -1, 2).WithLabels("a", "b", "c")
	t.Run("persons", func(t *testing.T) {
		keys := make([]int, 45)
		for i := range keys {
			keys[i] = i * i % 31
		}
		data := must(records.GroupBy(some(t, s, 45, 3), keys, 3))(t)
		pinned(t, mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne)), data)
	})
	t.Run("model", func(t *testing.T) {
		ctx := privacytest.Seeded(t, t.Context(), 7)
		m := must(mustPlan(t, small(s, accountant.AddOrRemoveOne)).Fit(ctx, some(t, s, 45, 3)))(t).
			Model().(*gan.Model)
		made := device.HostMatrix(2, 5, make([]float32, 10))
		err := m.Generate(device.HostMatrix(2, 3, []float32{1, 0, -1, 2, .5, 0}), []int32{2, 0}, made)
		pins.Check(t, map[string][]byte{"made": fmt.Append(nil, made.Data, err),
			"layers": fmt.Appendf(nil, "%+v", must(m.Layers())(t))})
	})
	for name, set := range map[string]func(c *gan.Config){
		"noise":     func(c *gan.Config) { c.Train.NoiseMultiplier, c.Penalty = 3, 2 },
		"own":       func(c *gan.Config) { c.Critic, c.Train.NominalBatch = slopes{}, 4 },
		"optimiser": func(c *gan.Config) { c.GeneratorOptimizer = sgd.SGD(0.1) },
		"defaults": func(c *gan.Config) {
			c.CriticSteps, c.GeneratorBatch, c.Train.Steps = 0, 0, 9
		},
		"few at a time": func(c *gan.Config) { c.Train.MicroBatch = 5 },
		"few of few":    func(c *gan.Config) { c.Train.SamplingProbability = 0.02 },
		"two clusters":  clipped(gan.Clipping{Groups: gan.Clustered, K: 2, Adaptive: true, Batch: 7}),
		"weights": clipped(gan.Clipping{Groups: gan.WeightsAndBiases, Adaptive: true, Kept: true,
			Scale: 2}),
		"chosen": func(c *gan.Config) {
			*c = gan.Config{Schema: c.Schema, Budget: c.Budget, Nominal: 200}
			c.Critic, c.Generator = models.MLP{Hidden: []int{4}}, models.MLP{Hidden: []int{4}}
			c.Train.Steps, c.GeneratorBatch = 5, 9
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := small(s, accountant.AddOrRemoveOne)
			if set(&c); c.Clipping.Adaptive {
				c.Public = public(t, s, 30, 2)
			}
			pinned(t, mustPlan(t, c), some(t, s, 45, 3))
		})
	}
}

func clipped(how gan.Clipping) func(c *gan.Config) {
	return func(c *gan.Config) { c.Train.ClipNorm, c.Clipping, c.WarmSteps = 0, how, 1 }
}

// several returns records of a schema: sets have unequal sizes.
func several(t *testing.T, s records.Schema) records.Data {
	if !s.Sparse() {
		return some(t, s, 45, 3)
	}
	list := make([][]uint32, 40)
	for i := range list {
		for j := range i % (s.MaxItems() + 1) {
			list[i] = append(list[i], uint32((i*i+3*j)%s.Dim()))
		}
	}
	return must(records.FromItems(s, list))(t)
}

// TestPinsOfDefaults holds what the rules choose.
func TestPinsOfDefaults(t *testing.T) {
	parts := map[string][]byte{}
	for i, s := range append(schemas(t), records.Image(28, 28).WithLabels("a", "b"),
		records.RGBImage(64, 64)) {
		for j, c := range []gan.Config{{Nominal: 500}, {Nominal: 100_000},
			{Nominal: 5_000_000},
			{Nominal: 5000, Critic: slopes{}, Train: sgd.Config{ClipNorm: 1, NoiseMultiplier: 2}},
			{Nominal: 5000, Latent: 4, Train: sgd.Config{SamplingProbability: 0.1, Steps: 70}}} {
			c.Schema, c.Budget = s, accountant.Budget{Epsilon: 4, Delta: 1e-6, Relation: relations[j%2]}
			p, err := c.Plan()
			if err != nil {
				parts[fmt.Sprint(i, "of", j)] = []byte(err.Error())
				continue
			}
			text, _ := json.Marshal(p) // a plan with a network of its own is not written
			parts[fmt.Sprint(i, "of", j)] = fmt.Append(text, p, p.Config.Nominal)
		}
	}
	pins.Check(t, parts)
}

// TestPinsOfResumedRuns goes on with copies of checkpoints from within the training.
func TestPinsOfResumedRuns(t *testing.T) {
	t.Parallel() // it waits for the disk
	s := records.Interval(5, -1, 2).WithLabels("a", "b", "c")
	for name, c := range variants(t, s, accountant.AddOrRemoveOne) {
		t.Run(name, func(t *testing.T) {
			p, data, n := mustPlan(t, c), some(t, s, 45, 3), 0
			ctx, path := privacytest.Seeded(t, t.Context(), 7), filepath.Join(t.TempDir(), "run")
			must(p.Fit(ctx, data, synth.CheckpointEvery(path, 2), synth.OnProgress(func(synth.Progress) {
				if n++; n == 5 {
					os.Link(path, path+"2")
				}
			})))(t)
			pins.Run(t, p, must(p.Fit(ctx, data, synth.CheckpointEvery(path+"2", 2)))(t))
		})
	}
}
