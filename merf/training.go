package merf

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/enum"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// GeneratorConfig says which generator is trained against an embedding, and how. None of it costs
// anything, and zero values stand for the defaults named here.
type GeneratorConfig struct {
	// Architecture is models.MLP with two hidden layers of 200 and batch norm by default.
	Architecture models.GeneratorArchitecture
	Latent       int     // Gaussian coordinates of a code, beside the class; default 16
	Steps        int     // default 2000
	Batch        int     // synthetic records a step, all classes together; default 512
	LR           float64 // learning rate of Adam; default 0.005
	Decay        float64 // what the learning rate has fallen to at the end; default 0.05
	// Average is the decay of the moving average of parameters that is kept, in [0, 1); default 0.98.
	Average float64
	Weights Weighting // of the classes' distances
	// Floor is the least count, in standard deviations of its noise; default 3.
	Floor  float64
	Shrink bool      // shrink each released mean by its own signal and noise (Wiener)
	Labels LabelDraw // how often each class is generated
	Seed   uint64    // of initial weights and of codes
}

// Weighting is how much each class's squared distance counts.
type Weighting int

const (
	// BySignal weights a class by signal ÷ (signal + noise) of its released mean: near 1 for classes
	// that are large enough to be seen, near 0 for those that drown in the noise.
	BySignal Weighting = iota
	// Uniform gives all classes weight 1.
	Uniform
	// ByProportion weights classes by their noisy proportions.
	ByProportion
)

var weightingNames = enum.Names[Weighting]{Type: "merf.Weighting", List: []string{
	BySignal: "signal", Uniform: "uniform", ByProportion: "proportion",
}}

func (w Weighting) known() bool { return weightingNames.Known(w) }

// String is the name.
func (w Weighting) String() string { return weightingNames.String(w) }

// MarshalText writes the name.
func (w Weighting) MarshalText() ([]byte, error) { return weightingNames.Marshal(w) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, with the names that there are.
func (w *Weighting) UnmarshalText(text []byte) error { return weightingNames.Unmarshal(text, w) }

// LabelDraw is how often each class is generated where no class is asked for.
type LabelDraw int

const (
	// NoisyProportions draws labels as often as the released counts say, clamped at zero.
	NoisyProportions LabelDraw = iota
	// UniformLabels draws every class equally often: what a learner wants that is judged by its
	// balanced accuracy.
	UniformLabels
)

var labelDrawNames = enum.Names[LabelDraw]{Type: "merf.LabelDraw", List: []string{
	NoisyProportions: "proportions", UniformLabels: "uniform",
}}

func (l LabelDraw) known() bool { return labelDrawNames.Known(l) }

// String is the name.
func (l LabelDraw) String() string { return labelDrawNames.String(l) }

// MarshalText writes the name.
func (l LabelDraw) MarshalText() ([]byte, error) { return labelDrawNames.Marshal(l) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, with the names that there are.
func (l *LabelDraw) UnmarshalText(text []byte) error { return labelDrawNames.Unmarshal(text, l) }

func orDefault[T comparable](x *T, value T) {
	var zero T
	if *x == zero {
		*x = value
	}
}

// withDefaults fills in what was left zero.
func (g GeneratorConfig) withDefaults() GeneratorConfig {
	if g.Architecture == nil {
		g.Architecture = models.MLP{Hidden: []int{200, 200}, BatchNorm: true}
	}
	orDefault(&g.Latent, 16)
	orDefault(&g.Steps, 2000)
	orDefault(&g.Batch, 512)
	orDefault(&g.LR, 0.005)
	orDefault(&g.Decay, 0.05)
	orDefault(&g.Average, 0.98)
	orDefault(&g.Floor, 3)
	return g
}

// Validate reports every mistake, as joined *param.Error values.
func (g GeneratorConfig) Validate() error {
	g = g.withDefaults()
	var k param.Checker
	positive := func(path string, n int) {
		k.OK(n > 0, "merf.GeneratorConfig."+path, n, "a positive integer")
	}
	positive("Latent", g.Latent)
	positive("Steps", g.Steps)
	positive("Batch", g.Batch)
	k.OK(g.Latent <= maxLatent, "merf.GeneratorConfig.Latent", g.Latent,
		fmt.Sprintf("at most %d", maxLatent))
	k.OK(g.Batch <= maxBatch, "merf.GeneratorConfig.Batch", g.Batch,
		fmt.Sprintf("at most %d", maxBatch))
	k.OK(g.LR > 0 && finite(g.LR), "merf.GeneratorConfig.LR", g.LR, "a positive finite number")
	k.OK(g.Decay > 0 && g.Decay <= 1, "merf.GeneratorConfig.Decay", g.Decay, "a part in (0, 1]")
	k.OK(g.Average >= 0 && g.Average < 1, "merf.GeneratorConfig.Average", g.Average,
		"a decay in [0, 1)")
	k.OK(g.Floor > 0 && finite(g.Floor), "merf.GeneratorConfig.Floor", g.Floor,
		"a positive number of standard deviations")
	k.OK(g.Weights.known(), "merf.GeneratorConfig.Weights", int(g.Weights), "a known weighting")
	k.OK(g.Labels.known(), "merf.GeneratorConfig.Labels", int(g.Labels), "a known way to draw labels")
	if v, ok := g.Architecture.(interface{ Validate() error }); ok {
		k.Add(v.Validate())
	}
	return k.Err()
}

// Codes and batches are bounded, so that sizes stay far from overflowing.
const maxLatent, maxBatch = 1 << 20, 1 << 20

// codeWidth is the width of what a generator reads: the latent coordinates, then the class,
// one-hot.
func codeWidth(latent int, s records.Schema) int {
	if s.Classes() > 1 {
		return latent + s.Classes()
	}
	return latent
}
