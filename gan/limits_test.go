package gan

import (
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func smallConfig(t *testing.T) Config {
	t.Helper()
	s := records.Image(2, 2).WithLabels("a", "b")
	rows, err := records.FromFlat(s, make([]float32, 8), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Critic: models.MLP{Hidden: []int{3}}, Generator: models.MLP{Hidden: []int{3}}, Latent: 2,
		Public: records.DeclarePublic(rows), WarmSteps: 1,
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 6, Optimizer: sgd.Adam(0.01)}}
}

// TestEverySettingIsChecked: each setting may be at its limits, and not beyond them.
func TestEverySettingIsChecked(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	latent := func(n int) func(*Config) { return func(c *Config) { c.Latent = n } }
	penalty := func(x float64) func(*Config) { return func(c *Config) { c.Penalty = x } }
	critic := func(n int) func(*Config) { return func(c *Config) { c.CriticSteps = n } }
	batch := func(n int) func(*Config) { return func(c *Config) { c.GeneratorBatch = n } }
	average := func(x float64) func(*Config) { return func(c *Config) { c.Average = x } }
	warm := func(n int) func(*Config) { return func(c *Config) { c.WarmSteps = n } }
	train := func(change func(c *sgd.Config)) func(*Config) {
		return func(c *Config) { change(&c.Train) }
	}
	clip := func(x Clipping) func(*Config) {
		return func(c *Config) { c.Clipping, c.Train.ClipNorm = x, 0 }
	}
	none, err := records.FromFlat(records.Image(2, 2).WithLabels("a", "b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := records.FromFlat(records.Image(2, 2), make([]float32, 8))
	if err != nil {
		t.Fatal(err)
	}
	public := func(d records.Data, steps int) func(*Config) {
		return func(c *Config) { c.Public, c.WarmSteps = records.DeclarePublic(d), steps }
	}
	table, err := records.NewSchema(records.Flag("f", "n", "y"))
	if err != nil {
		t.Fatal(err)
	}
	for ok, list := range map[bool][]func(*Config){
		true: {func(*Config) {}, latent(1), penalty(0), penalty(1e9), critic(0), critic(1), batch(0),
			batch(2), batch(1 << 20), average(0), average(0.99), clip(Clipping{Adaptive: true}),
			clip(Clipping{Adaptive: true, Kept: true, Scale: 1e9, Batch: 1 << 20}),
			clip(Clipping{Adaptive: true, Groups: WeightsAndBiases}),
			clip(Clipping{Adaptive: true, Groups: Clustered, K: 1}),
			clip(Clipping{Adaptive: true, Groups: Clustered, K: 4}), public(nil, 0),
			train(func(c *sgd.Config) { c.Bands = 1 }),
			func(c *Config) { c.Clipping.Adaptive, c.Train.ClipNorm, c.WarmSteps = true, 0, 0 }},
		false: {latent(0), latent(-1), latent(1<<20 + 1), penalty(-1), penalty(1e9 + 1), penalty(nan),
			critic(-1), batch(1), batch(-1), batch(1<<20 + 1), average(-.1), average(1), average(nan),
			warm(-1), clip(Clipping{}), clip(Clipping{Groups: WeightsAndBiases}), clip(Clipping{Kept: true}),
			clip(Clipping{Adaptive: true, Groups: 3}), clip(Clipping{Adaptive: true, Groups: -1}),
			clip(Clipping{Adaptive: true, K: 1}), clip(Clipping{Adaptive: true, Groups: Clustered}),
			clip(Clipping{Adaptive: true, Groups: Clustered, K: -1}),
			clip(Clipping{Adaptive: true, Groups: Clustered, K: 5}),
			clip(Clipping{Adaptive: true, Scale: -0.5}), clip(Clipping{Adaptive: true, Scale: 1e9 + 1}),
			clip(Clipping{Adaptive: true, Scale: nan}), clip(Clipping{Adaptive: true, Batch: -1}),
			clip(Clipping{Adaptive: true, Batch: 1<<20 + 1}),
			func(c *Config) { c.Clipping.Adaptive = true },
			func(c *Config) {
				c.Clipping.Adaptive, c.Train.ClipNorm, c.Train.Clip = true, 0, sgd.Normalize{}
			},
			public(nil, 1), public(none, 1), public(other, 1), public(other, 0), warm(0),
			func(c *Config) { c.Clipping.Adaptive, c.Public, c.WarmSteps = true, records.Public{}, 0 },
			train(func(c *sgd.Config) { c.RandomAllocation = true }),
			train(func(c *sgd.Config) { c.Shuffled = true }), public(nil, -1),
			func(c *Config) { c.Generator = models.MLP{Hidden: []int{-1}} },
			train(func(c *sgd.Config) { c.Bands = 2 }), train(func(c *sgd.Config) { c.Steps = 0 }),
			train(func(c *sgd.Config) { c.NoiseMultiplier = -1 }),
			train(func(c *sgd.Config) { c.NoiseMultiplier = inf }),
			train(func(c *sgd.Config) { c.Optimizer = sgd.Optimizer{} }),
			func(c *Config) { c.GeneratorOptimizer = sgd.Adam(-1) },
			func(c *Config) { c.Critic = nil }, func(c *Config) { c.Generator = nil },
			func(c *Config) { c.Critic = models.MLP{Hidden: []int{-1}} },
			func(c *Config) { c.Schema, c.Public, c.WarmSteps = table, records.Public{}, 0 },
			func(c *Config) { c.Schema = records.Schema{} }, func(c *Config) { c.Budget.Epsilon = -1 }},
	} {
		for i, change := range list {
			c := smallConfig(t)
			if change(&c); (c.validate() == nil) != ok {
				t.Errorf("setting %d of %v: %v", i, ok, c.validate())
			}
		}
	}
}

// TestForgedHeaders: the state of a run is taken only if the run can have written it.
func TestForgedHeaders(t *testing.T) {
	c := smallConfig(t).withDefaults()
	c.Clipping.Kept = true
	critic, err := c.newCritic(nil)
	if err != nil {
		t.Fatal(err)
	}
	if critic.Params().Blocks() != 4 {
		t.Fatalf("%d blocks", critic.Params().Blocks())
	}
	r := &run{config: c, critic: critic, opening: 3}
	group := func(norm float64, blocks ...int) sgd.Group {
		return sgd.Group{Blocks: blocks,
			ClipNorm: norm}
	}
	for what, c := range map[string]struct {
		h  stateHeader
		ok bool
	}{
		"begun":      {stateHeader{}, true},
		"done":       {stateHeader{Done: 6, Learned: 1}, true},
		"opening":    {stateHeader{Opening: 3}, true},
		"two groups": {stateHeader{Groups: []sgd.Group{group(1, 3, 0), group(2, 1, 2)}}, true},
		"limits": {stateHeader{Groups: []sgd.Group{group(0x1p-60, 3, 0), group(0x1p60, 1, 2)}},
			true},
		"too many":     {stateHeader{Done: 7}, false},
		"below 0":      {stateHeader{Done: -1}, false},
		"learned":      {stateHeader{Learned: -1}, false},
		"long opening": {stateHeader{Opening: 4}, false},
		"no opening":   {stateHeader{Opening: -1}, false},
		"both":         {stateHeader{Opening: 1, Done: 1}, false},
		"a block less": {stateHeader{Groups: []sgd.Group{group(1, 0, 1, 2)}}, false},
		"twice":        {stateHeader{Groups: []sgd.Group{group(1, 0, 1, 2, 3), group(1, 3)}}, false},
		"beyond":       {stateHeader{Groups: []sgd.Group{group(1, 0, 1, 2, 4)}}, false},
		"below":        {stateHeader{Groups: []sgd.Group{group(1, 0, 1, 2, -1)}}, false},
		"empty":        {stateHeader{Groups: []sgd.Group{group(1, 0, 1, 2, 3), group(1)}}, false},
		"no norm":      {stateHeader{Groups: []sgd.Group{group(0, 0, 1, 2, 3)}}, false},
		"small norm":   {stateHeader{Groups: []sgd.Group{group(0x1p-61, 0, 1, 2, 3)}}, false},
		"large norm":   {stateHeader{Groups: []sgd.Group{group(0x1p61, 0, 1, 2, 3)}}, false},
		"NaN":          {stateHeader{Groups: []sgd.Group{group(math.NaN(), 0, 1, 2, 3)}}, false},
	} {
		if err := r.checkHeader(c.h); (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	var k param.Checker
	checkGroups(&k, "x", nil, 0)
	if k.Err() != nil {
		t.Errorf("no blocks in no groups: %v", k.Err())
	}
}

// TestClippingNorms: floored norms are finite and positive, and in proportion where none is tiny.
// Each block is in one group, whose norm is that of its blocks together.
func TestClippingNorms(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		norms, want []float64
		scale       float64
	}{{[]float64{3, 4}, []float64{6, 8}, 2}, {[]float64{0, 1}, []float64{1e-4, 1}, 1},
		{[]float64{nan, 1, -1, inf}, []float64{1e-4, 1, 1e-4, 1e-4}, 1},
		{[]float64{0, 0}, []float64{1e-9, 1e-9}, 1}, {[]float64{1e30, 1}, []float64{1e9, 1e9}, 1}} {
		got := floored(slices.Clone(c.norms), c.scale)
		for i, want := range c.want {
			if math.Abs(got[i]/want-1) > 1e-6 {
				t.Errorf("floored %v times %v are %v, want %v", c.norms, c.scale, got, c.want)
			}
		}
	}
	critic, err := smallConfig(t).newCritic(nil)
	if err != nil {
		t.Fatal(err)
	}
	norms := []float64{3, 4, 12, 84}
	for _, c := range []struct {
		Clipping
		n int
	}{{Clipping{}, 1}, {Clipping{Groups: WeightsAndBiases}, 2}, {Clipping{Groups: Clustered, K: 1}, 1},
		{Clipping{Groups: Clustered, K: 2}, 2}, {Clipping{Groups: Clustered, K: 3}, 3}} {
		list := c.groups(critic, norms)
		var all []int
		for _, g := range list {
			square := 0.0
			for _, b := range g.Blocks {
				square += norms[b] * norms[b]
			}
			if math.Abs(g.ClipNorm-math.Sqrt(square)) > 1e-9 {
				t.Errorf("%+v: group %v", c, g)
			}
			all = append(all, g.Blocks...)
		}
		if slices.Sort(all); len(list) != c.n || !slices.Equal(all, []int{0, 1, 2, 3}) {
			t.Errorf("%+v: groups %v", c, list)
		}
	}
}
