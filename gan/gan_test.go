package gan_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// small returns the configuration of a whole run that takes milliseconds.
func small(s records.Schema, r accountant.Relation) gan.Config {
	return gan.Config{
		Schema:    s,
		Budget:    accountant.Budget{Epsilon: 8, Delta: 1e-5, Relation: r},
		Critic:    models.MLP{Hidden: []int{9, 5}, Activation: models.LeakyReLU},
		Generator: models.MLP{Hidden: []int{7}, BatchNorm: true},
		Latent:    3,
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 6,
			Optimizer: sgd.AdamWith(1e-2, 0.5, 0.9, 1e-8)},
		CriticSteps:    2,
		GeneratorBatch: 6,
		Seed:           5,
	}
}

func mustPlan(t testing.TB, c gan.Config) *gan.Plan {
	t.Helper()
	return must(c.Plan())(t)
}

// some returns n dense records around two prototypes. Later classes have fewer records.
func some(t testing.TB, s records.Schema, n int, seed uint64) records.Data {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	lo, hi := s.Bounds()
	flat, labels := make([]float32, n*s.Dim()), []int32(nil)
	for i := range n {
		for j := range s.Dim() {
			if (j*2/s.Dim() == min(i%3, 1)) != (rng.Float64() < 0.1) {
				flat[i*s.Dim()+j] = float32(hi)
			} else {
				flat[i*s.Dim()+j] = float32(lo)
			}
		}
		if s.Classes() > 0 {
			labels = append(labels, int32(min(rng.IntN(s.Classes()), rng.IntN(s.Classes()))))
		}
	}
	return must(records.FromFlat(s, flat, labels...))(t)
}

// weightsAndBiases returns two groups of an MLP with two hidden layers, whose blocks are weights
// and biases in turn.
func weightsAndBiases(weights, biases float64) sgd.Groups {
	return sgd.Groups{List: []sgd.Group{{Blocks: []int{0, 2, 4}, ClipNorm: weights},
		{Blocks: []int{1, 3, 5}, ClipNorm: biases}}}
}

// variants returns configurations, by name, that cover everything the guarantee depends on.
func variants(t testing.TB, s records.Schema, r accountant.Relation) map[string]gan.Config {
	out := map[string]gan.Config{}
	add := func(name string, change func(c *gan.Config)) {
		c := small(s, r)
		change(&c)
		out[name] = c
	}
	add("wasserstein", func(*gan.Config) {})
	add("curved", func(c *gan.Config) {
		c.Train.NominalBatch = 4
		c.Critic = models.MLP{Hidden: []int{6}, Activation: models.Tanh}
	})
	add("a generator step for each critic step", func(c *gan.Config) { c.CriticSteps = 1 })
	add("private norm", func(c *gan.Config) {
		c.Train.ClipNorm, c.Train.Clip = 0, sgd.DPNorm{MaxNorm: 10, Bins: 8, NoiseMultiplier: 4}
	})
	add("private norm, mean", func(c *gan.Config) {
		c.Train.NominalBatch, c.Train.ClipNorm = 4, 0
		c.Train.Clip = sgd.DPNorm{MaxNorm: 10, Bins: 8, NoiseMultiplier: 4}
	})
	add("quantile", func(c *gan.Config) {
		c.Train.ClipNorm, c.Train.NominalBatch = 0, 4
		c.Train.Clip = sgd.Quantile{Quantile: 0.5, Initial: 1, Rate: 0.2, NoiseMultiplier: 9}
	})
	add("normalised", func(c *gan.Config) {
		c.Train.ClipNorm, c.Train.Clip, c.Train.NominalBatch = 0, sgd.Normalize{}, 4
	})
	add("weights and biases", func(c *gan.Config) {
		c.Train.ClipNorm, c.Train.Clip = 0, weightsAndBiases(1, 0.1)
	})
	add("smooth, weights and biases", func(c *gan.Config) {
		c.Critic = models.MLP{Hidden: []int{6, 5}, Activation: models.Softplus}
		c.Train.ClipNorm, c.Train.Clip = 0, weightsAndBiases(1, 0.1)
	})
	add("averaged, labels left out", func(c *gan.Config) { c.Average, c.IgnoreLabels = 0.9, true })
	if s.Sparse() {
		return out
	}
	add("clustered from public data, warm", func(c *gan.Config) {
		c.Train.ClipNorm, c.Public, c.WarmSteps = 0, public(t, s, 9, 99), 2
		c.Clipping = gan.Clipping{Groups: gan.Clustered, K: 3, Adaptive: true, Batch: 4}
	})
	add("whole, kept norms", func(c *gan.Config) {
		c.Train.ClipNorm, c.Public, c.Average = 0, public(t, s, 9, 99), 0.9
		c.Clipping = gan.Clipping{Adaptive: true, Kept: true, Scale: 0.5}
	})
	add("mean by blocks, warm", func(c *gan.Config) {
		c.Train.NominalBatch = 4
		c.Train.ClipNorm, c.Public, c.WarmSteps = 0, public(t, s, 9, 99), 1
		c.Clipping = gan.Clipping{Groups: gan.Clustered, K: 3, Adaptive: true, Batch: 4}
	})
	if s.IsImage() {
		add("convolutions", func(c *gan.Config) {
			c.Critic = models.CNN{Height: s.Height(), Width: s.Width(), Channels: 1,
				Convolutions: []models.Convolution{{Maps: 3, Size: 3, Stride: 2, Pad: 1}},
				Activation:   models.LeakyReLU}
			c.Generator = models.ConvDecoder{Height: s.Height(), Width: s.Width(), Channels: 1,
				Maps: []int{4}, Size: 3, BatchNorm: true}
		})
	}
	return out
}

func fit(t testing.TB, c gan.Config, data records.Data,
	opts ...synth.Option) (*synth.Generator, *ledger.Ledger) {
	t.Helper()
	l := ledger.New(c.Budget)
	g := must(mustPlan(t, c).FitOn(context.Background(), l, data, opts...))(t)
	return g, l
}

func draw(t testing.TB, g *synth.Generator, n int, opts ...synth.DrawOption) records.Data {
	t.Helper()
	data := must(g.Sample(context.Background(), n, opts...))(t)
	if err := records.Check(data); err != nil {
		t.Fatalf("synthetic records outside the schema: %v", err)
	}
	return data
}

// TestLearnsClasses checks that with little noise the generator learns the mean of each class.
func TestLearnsClasses(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	s := records.Interval(2, -3, 3).WithLabels("left", "right")
	rng := rand.New(rand.NewPCG(1, 1))
	flat, labels := []float32{}, []int32{}
	for i := range 4000 {
		x := []float64{-1.5, 1.5}[i%2]
		flat = append(flat, float32(x+0.2*rng.NormFloat64()), float32(-x+0.2*rng.NormFloat64()))
		labels = append(labels, int32(i%2))
	}
	data := must(records.FromFlat(s, flat, labels...))(t)
	c := gan.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1000, Delta: 1e-5},
		Critic:    models.MLP{Hidden: []int{32}, Activation: models.LeakyReLU},
		Generator: models.MLP{Hidden: []int{32}}, Latent: 4,
		Train: sgd.Config{ClipNorm: 1, NoiseMultiplier: 0.5, SamplingProbability: 0.02,
			Steps: 2000, Optimizer: sgd.AdamWith(2e-3, 0.5, 0.9, 1e-8), NominalBatch: 80},
		CriticSteps: 4, Average: 0.99, Seed: 2}
	g := must(mustPlan(t, c).Fit(privacytest.Seeded(t, t.Context(), 3), data))(t)
	for class, x := range []float64{-1.5, 1.5} {
		mean, _ := draw(t, g, 500, synth.OfClass(class), synth.Seed(7)).(*records.Table).Flat()
		a, b := 0.0, 0.0
		for i := 0; i < len(mean); i += 2 {
			a, b = a+float64(mean[i])/500, b+float64(mean[i+1])/500
		}
		if math.Abs(a-x) > 1 || math.Abs(b+x) > 1 {
			t.Errorf("class %d has mean (%.2f, %.2f), want about (%v, %v)", class, a, b, x, -x)
		}
	}
}

// TestDivergedTrainingIsAnError: what no file can hold is no result, and the error says so.
func TestDivergedTrainingIsAnError(t *testing.T) {
	c := small(records.Interval(4, 0, 1), accountant.AddOrRemoveOne)
	c.Generator = models.MLP{Hidden: []int{7}}
	for _, o := range []sgd.Optimizer{sgd.Adam(1e37), sgd.SGD(1e35)} {
		c.Train.Optimizer, c.Train.NominalBatch = o, 6
		_, err := mustPlan(t, c).Fit(t.Context(), some(t, c.Schema, 12, 1))
		if err == nil || !strings.Contains(err.Error(), "diverged") {
			t.Errorf("%v: got error %v", o, err)
		}
	}
}
