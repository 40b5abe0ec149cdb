package merf

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

func smallConfig() Config {
	return Config{Schema: records.Binary(3).WithLabels("a", "b"), Kernel: rff.RBF{Dim: 6,
		Bandwidth: 1},
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}
}

// declared are features with bounds that a user declares.
type declared struct {
	rff.EmbeddingKernel
	norm, change float64
	in, dim      int // 0 for those of the kernel
}

func (d declared) Embedding(l rff.Layout, seed uint64) (rff.Embedding, error) {
	e, err := d.EmbeddingKernel.Embedding(l, seed)
	return declaredFeatures{e, d}, err
}

type declaredFeatures struct {
	rff.Embedding
	of declared
}

func (d declaredFeatures) NormBound() float64   { return d.of.norm }
func (d declaredFeatures) ChangeBound() float64 { return d.of.change }
func (d declaredFeatures) In() int              { return cmp.Or(d.of.in, d.Embedding.In()) }
func (d declaredFeatures) Dim() int             { return cmp.Or(d.of.dim, d.Embedding.Dim()) }

// TestEverySettingIsChecked: each setting may be at its limits, and not beyond them.
func TestEverySettingIsChecked(t *testing.T) {
	nan, inf, beyond := math.NaN(), math.Inf(1), maxLatent+1
	share := func(x float64) func(*Config) { return func(c *Config) { c.CountShare = x } }
	noise := func(x float64) func(*Config) { return func(c *Config) { c.NoiseMultiplier = x } }
	batches := func(p float64, n int) func(*Config) {
		return func(c *Config) { c.Batches = Batches{p, n} }
	}
	replace := func(nominal int, s records.Schema) func(*Config) {
		return func(c *Config) {
			c.Budget.Relation, c.Nominal, c.Schema = accountant.ReplaceOne, nominal, s
		}
	}
	generator := func(change func(*GeneratorConfig)) func(*Config) {
		return func(c *Config) { change(&c.Generator) }
	}
	lr := func(x float64) func(*Config) { return generator(func(g *GeneratorConfig) { g.LR = x }) }
	decay := func(x float64) func(*Config) {
		return generator(func(g *GeneratorConfig) { g.Decay = x })
	}
	average := func(x float64) func(*Config) {
		return generator(func(g *GeneratorConfig) { g.Average = x })
	}
	floor := func(x float64) func(*Config) {
		return generator(func(g *GeneratorConfig) { g.Floor = x })
	}
	size := func(latent, networks, batch, features int) func(*Config) {
		return generator(func(g *GeneratorConfig) {
			g.Latent, g.Generators, g.Batch, g.FeaturesPerStep = latent, networks, batch, features
		})
	}
	bound := func(norm, change float64) func(*Config) {
		return func(c *Config) { c.Kernel = declared{c.Kernel, norm, change, 0, 0} }
	}
	shape := func(in, dim int) func(*Config) {
		return func(c *Config) { c.Kernel = declared{c.Kernel, 1, 2, in, dim} }
	}
	plain, labelled := records.Binary(3), records.Binary(3).WithLabels("a", "b")
	for ok, list := range map[bool][]func(*Config){
		true: {func(*Config) {}, share(0), share(0.99), noise(0), noise(1 << 24), batches(0.5, 1),
			batches(1e-9, 1000), replace(1, plain), replace(0, labelled), replace(5, labelled), lr(1e-9),
			decay(1), decay(0.01), average(0.99), floor(1e-9), size(1, 1, 1, 0), size(9, 64, 1<<20, 3),
			bound(1, 2), bound(0x1p-40, 0x1p-40), bound(0x1p40, 0x1p41), shape(0, maxSums/2)},
		false: {share(-.1), share(1), share(nan), noise(-1), noise(1<<24 + 1), noise(nan), noise(inf),
			batches(0, 1), batches(1, 1), batches(nan, 1), batches(-.1, 1), batches(.5, 0), batches(.5, -1),
			replace(0, plain), replace(-1, labelled), lr(-1), lr(inf), lr(nan), decay(-1), decay(1.1),
			decay(nan), average(-.1), average(1), average(nan), floor(-1), floor(inf), floor(nan),
			size(-1, 1, 1, 0), size(beyond, 1, 1, 0), size(1, -1, 1, 0), size(1, 65, 1, 0),
			size(1, 1, -1, 0), size(1, 1, 1<<20+1, 0), size(1, 1, 1, -1),
			generator(func(g *GeneratorConfig) { g.Steps = -1 }),
			func(c *Config) { c.Features = -1 }, func(c *Config) { c.Features = 4 },
			func(c *Config) { c.Schema = records.Schema{} }, func(c *Config) { c.Budget.Epsilon = -1 },
			bound(0, 0), bound(0x1p-41, 0x1p-41), bound(0x1p41, 0x1p41), bound(1, 0), bound(1, 2.1),
			bound(1, nan), bound(nan, 1), bound(inf, 1), shape(4, 0), shape(0, -1),
			shape(0, maxSums/2+1)},
	} {
		for i, change := range list {
			c := smallConfig()
			if change(&c); (c.validate() == nil) != ok {
				t.Errorf("setting %d of %v: %v", i, ok, c.validate())
			}
		}
	}
}

// TestForgedStates: a checkpoint is taken only if a run of the plan can have written it.
func TestForgedStates(t *testing.T) {
	fresh := func() *samples {
		e := &Embedding{config: smallConfig(), sums: make([]float64, 12), counts: make([]float64, 2)}
		var err error
		if e.features, err = e.config.features(); err != nil {
			t.Fatal(err)
		}
		return &samples{steps: 5, sums: e}
	}
	done := 3
	for what, c := range map[string]struct {
		h  stateHeader
		ok bool
	}{
		"begun":        {stateHeader{}, true},
		"all":          {stateHeader{samplesHeader: samplesHeader{5}}, true},
		"too many":     {stateHeader{samplesHeader: samplesHeader{6}}, false},
		"below 0":      {stateHeader{samplesHeader: samplesHeader{-1}}, false},
		"trained":      {stateHeader{samplesHeader{5}, trainingHeader{&done, 1, 0}}, true},
		"no noise":     {stateHeader{samplesHeader{5}, trainingHeader{&done, 0, 1}}, false},
		"below":        {stateHeader{samplesHeader{5}, trainingHeader{&done, -1, 1}}, false},
		"below counts": {stateHeader{samplesHeader{5}, trainingHeader{&done, 1, -1}}, false},
	} {
		from := fresh()
		for i := range from.sums.sums {
			from.sums.sums[i] = float64(i)
		}
		f, err := synth.NewFile(c.h, from.sums.parts()...)
		if err != nil {
			t.Fatal(err)
		}
		s := fresh()
		if err := s.RestoreFrom(f); (err == nil) != c.ok || err != nil && !errors.Is(err,
			synth.ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
		if c.ok && (s.made != c.h.Made || s.complete != (c.h.Done != nil) ||
			!slices.Equal(s.sums.sums, from.sums.sums)) {
			t.Errorf("%s: restored %+v", what, s)
		}
	}
	good := fileHeader{Schema: records.Binary(3).WithLabels("a", "b"), Latent: 1, Shares: []float64{1,
		0}}
	for what, c := range map[string]struct {
		change func(h *fileHeader)
		ok     bool
	}{
		"as it is":      {func(*fileHeader) {}, true},
		"largest":       {func(h *fileHeader) { h.Latent, h.Networks = maxLatent, maxGenerators }, true},
		"no codes":      {func(h *fileHeader) { h.Latent = 0 }, false},
		"huge codes":    {func(h *fileHeader) { h.Latent = maxLatent + 1 }, false},
		"networks":      {func(h *fileHeader) { h.Networks = maxGenerators + 1 }, false},
		"no networks":   {func(h *fileHeader) { h.Networks = -1 }, false},
		"a share less":  {func(h *fileHeader) { h.Shares = []float64{1} }, false},
		"a share more":  {func(h *fileHeader) { h.Shares = []float64{1, 0, 0} }, false},
		"NaN":           {func(h *fileHeader) { h.Shares = []float64{1, math.NaN()} }, false},
		"below 0":       {func(h *fileHeader) { h.Shares = []float64{1, -1e-9} }, false},
		"none at all":   {func(h *fileHeader) { h.Shares = []float64{0, 0} }, false},
		"another table": {func(h *fileHeader) { h.Schema = records.Schema{} }, false},
	} {
		h := good
		if c.change(&h); (h.check() == nil) != c.ok {
			t.Errorf("%s: %v", what, h.check())
		}
	}
}

// TestMeansOfSamples: the released embedding is the mean of the samples' releases, divided by the
// probability, and if some are lost the mean of the others.
func TestMeansOfSamples(t *testing.T) {
	for _, made := range []int{1, 2, 4} {
		e := &Embedding{sums: make([]float64, 2), counts: make([]float64, 1), noise: noise{sum: 3,
			count: 2}}
		s := &samples{steps: 4, sums: e}
		want := 0.0
		for i := range made {
			x := float64(i*i + 1)
			s.add([]mechanism.Part{{Out: []float64{x, -2 * x}}, {Out: []float64{10 * x}}}, 1/(0.5*4))
			want += x / float64(made) / 0.5
		}
		if err := s.finish(&work{noise: noise{count: 1}}); err != nil {
			t.Fatal(err)
		}
		wider := math.Sqrt(4 / float64(made))
		if math.Abs(e.sums[0]-want) > 1e-9 || math.Abs(e.sums[1]+2*want) > 1e-9 ||
			math.Abs(e.counts[0]-10*want) > 1e-9 || math.Abs(e.noise.sum-3*wider) > 1e-9 ||
			math.Abs(e.noise.count-2*wider) > 1e-9 {
			t.Errorf("%d of 4 releases: sums %v, counts %v, noise %v, want %v", made, e.sums, e.counts,
				e.noise, want)
		}
	}
	if err := (&samples{steps: 4, sums: &Embedding{}}).finish(&work{}); !errors.Is(err,
		synth.ErrLost) {
		t.Errorf("no release: %v", err)
	}
}

// TestInterruptedSums: sums of some of the records are not taken for those of all, on any number of
// cores.
func TestInterruptedSums(t *testing.T) {
	p, err := smallConfig().Plan()
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.FromFlat(smallConfig().Schema, make([]float32, 30_000), make([]int32,
		10_000)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		for _, n := range []int{0, 1, 10_000} {
			c := p.work.newCounter(device.CPUWith(workers))
			ctx, cancel := context.WithCancel(t.Context())
			if err := c.Add(ctx, data.Slice(0, n)); err != nil {
				t.Fatal(err)
			}
			counts := c.Sums()[1]
			steps := int64(1 / counts.Grid())
			if got := counts.Exact()[0]; got != int64(n)*steps {
				t.Errorf("%d cores count %d records, want %d", workers, got/steps, n)
			}
			cancel()
			if err := c.Add(ctx, data.Slice(0, n)); !errors.Is(err, context.Canceled) {
				t.Errorf("%d cores, %d records: a cancelled sum gives %v", workers, n, err)
			}
		}
	}
}
