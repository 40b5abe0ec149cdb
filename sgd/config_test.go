package sgd_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/sgd"
)

func valid() sgd.Config {
	return sgd.Config{ClipNorm: 1, SamplingProbability: 0.05, Steps: 40, NoiseMultiplier: 1,
		Optimizer: sgd.SGD(0.1), NominalBatch: 10}
}

func paths(err error) []string {
	var p *param.Error
	var list []string
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			list = append(list, paths(e)...)
		}
		return list
	}
	if errors.As(err, &p) {
		list = append(list, p.Path)
	}
	return list
}

func TestValidateNamesEveryMistake(t *testing.T) {
	if err := valid().Validate(); err != nil {
		t.Fatal(err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		change func(*sgd.Config)
		want   string
	}{
		{func(c *sgd.Config) { c.ClipNorm = 0 }, "ClipNorm"},
		{func(c *sgd.Config) { c.ClipNorm = nan }, "ClipNorm"},
		{func(c *sgd.Config) { c.ClipNorm = inf }, "ClipNorm"},
		{func(c *sgd.Config) { c.Clip = sgd.Normalize{} }, "ClipNorm"},
		{func(c *sgd.Config) { c.SamplingProbability = 0 }, "SamplingProbability"},
		{func(c *sgd.Config) { c.SamplingProbability = 1.1 }, "SamplingProbability"},
		{func(c *sgd.Config) { c.SamplingProbability = nan }, "SamplingProbability"},
		{func(c *sgd.Config) { c.Steps = 0 }, "Steps"},
		{func(c *sgd.Config) { c.RandomAllocation, c.Steps = true, 41 }, "Steps"},
		{func(c *sgd.Config) { c.RandomAllocation, c.SamplingProbability = true, 0.3 },
			"SamplingProbability"},
		{func(c *sgd.Config) { c.RandomAllocation, c.SamplingProbability = true, 1e-9 },
			"SamplingProbability"},
		{func(c *sgd.Config) { c.RandomAllocation, c.Shuffled = true, true }, "Shuffled"},
		{func(c *sgd.Config) { c.Shuffled, c.Steps = true, 41 }, "Steps"},
		{func(c *sgd.Config) { c.NoiseMultiplier = 0 }, "NoiseMultiplier"},
		{func(c *sgd.Config) { c.NoiseMultiplier = nan }, "NoiseMultiplier"},
		{func(c *sgd.Config) { c.NoiseMultiplier = inf }, "NoiseMultiplier"},
		{func(c *sgd.Config) { c.Optimizer = sgd.Optimizer{} }, "Optimizer"},
		{func(c *sgd.Config) { c.Optimizer = sgd.Adam(0) }, "Optimizer.LR"},
		{func(c *sgd.Config) { c.Optimizer = sgd.Momentum(1, 1) }, "Optimizer.Beta1"},
		// 1 and 0 in float32, which would divide 0 by 0
		{func(c *sgd.Config) { c.Optimizer = sgd.AdamWith(1, 1-1e-8, 0.9, 1) }, "Optimizer.Beta1"},
		{func(c *sgd.Config) { c.Optimizer = sgd.AdamWith(1, 0.9, 1-1e-8, 1) }, "Optimizer.Beta2"},
		{func(c *sgd.Config) { c.Optimizer = sgd.AdamWith(1, 0.9, 0.9, 1e-46) }, "Optimizer.Eps"},
		{func(c *sgd.Config) { c.NominalBatch = -1 }, "NominalBatch"},
		{func(c *sgd.Config) { c.NominalBatch = nan }, "NominalBatch"},
		{func(c *sgd.Config) { c.MicroBatch = -1 }, "MicroBatch"},
		{func(c *sgd.Config) { c.ClipNorm, c.Clip = 0, sgd.Normalize{Stability: -1} }, "Clip.Stability"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.Clip = 0, sgd.Normalize{Stability: 0x1p-61}
		}, "Clip.Stability"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.Clip = 0, sgd.Normalize{Stability: 0x1p61}
		}, "Clip.Stability"},
		{func(c *sgd.Config) { c.ClipNorm, c.Clip = 0, sgd.Normalize{Stability: nan} }, "Clip.Stability"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.Clip = 0, sgd.DPNorm{Bins: 1, MaxNorm: 1}
		}, "Clip.NoiseMultiplier"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.Clip = 0, sgd.DPNorm{Bins: 1, NoiseMultiplier: 1}
		}, "Clip.MaxNorm"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.Clip = 0, sgd.DPNorm{MaxNorm: 1, NoiseMultiplier: 1}
		}, "Clip.Bins"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.Clip = 0, sgd.DPNorm{MaxNorm: 1, Bins: 1 << 30, NoiseMultiplier: 1}
		}, "Clip.Bins"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.Clip = 0, sgd.DPNorm{MaxNorm: 1, MinNorm: 2, Bins: 5, NoiseMultiplier: 1}
		}, "Clip.MinNorm"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.Clip = 0, sgd.Quantile{Initial: 1, Rate: 1, NoiseMultiplier: 1}
		}, "Clip.Quantile"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.Clip = 0, sgd.Quantile{Quantile: .5, Rate: 1, NoiseMultiplier: 1}
		}, "Clip.Initial"},
		{func(c *sgd.Config) {
			c.ClipNorm, c.NominalBatch, c.Clip = 0, 0,
				sgd.Quantile{Quantile: .5, Initial: 1, Rate: 1, NoiseMultiplier: 1}
		}, "NominalBatch"},
	} {
		cfg := valid()
		c.change(&cfg)
		if got := paths(cfg.Validate()); !reflect.DeepEqual(got, []string{"sgd.Config." + c.want}) {
			t.Errorf("want one mistake in %s, got %v", c.want, got)
		}
		if _, err := sgd.New(cfg, newCentre(3), ledger.New(budget(1))); err == nil {
			t.Errorf("New accepts a mistake in %s", c.want)
		}
	}
	if got := paths(sgd.Config{}.Validate()); len(got) != 5 {
		t.Errorf("the zero configuration has mistakes in %v, want 5", got)
	}
}

func TestNewRefuses(t *testing.T) {
	l := ledger.New(budget(1))
	undivided := valid()
	undivided.NominalBatch = 0
	if _, err := sgd.New(undivided, newCentre(3), l); !reflect.DeepEqual(paths(err),
		[]string{"sgd.Config.NominalBatch"}) {
		t.Errorf("SGD without NominalBatch: %v", err)
	}
	undivided.Optimizer = sgd.Adam(0.1)
	if _, err := sgd.New(undivided, newCentre(3), l); err != nil {
		t.Errorf("Adam without NominalBatch: %v", err)
	}
	if _, err := sgd.New(valid(), nil, nil, sgd.WithAverage(1)); len(paths(err)) != 3 {
		t.Errorf("no network, no ledger and a bad option: %v, want 3 mistakes", err)
	}
	if _, err := sgd.New(valid(), newCentre(0), l); err == nil {
		t.Error("a network without parameters is accepted")
	}
}

// TestEvent: the event of a step is one sampled Gaussian, with all releases of the batch in one
// multiplier.
func TestEvent(t *testing.T) {
	cfg := valid()
	want := accountant.PoissonSampled{Probability: 0.05,
		Event: accountant.Gaussian{NoiseMultiplier: 1}}
	if got := cfg.Event(accountant.AddOrRemoveOne); got != accountant.Event(want) {
		t.Errorf("fixed clip: %v", got)
	}
	cfg.ClipNorm, cfg.Clip = 0, sgd.DPNorm{MaxNorm: 10, Bins: 10, NoiseMultiplier: 2}
	got := cfg.Event(
		accountant.AddOrRemoveOne).(accountant.PoissonSampled).Event.(accountant.Gaussian).NoiseMultiplier
	if want := 1 / math.Sqrt(1+0.25); math.Abs(got-want) > 1e-12 {
		t.Errorf("DPNorm: joint multiplier %v, want %v", got, want)
	}
}

// TestJointEventIsNotTwoSeparateOnes: adding up the moments of two releases as if their samples
// were independent gives too small a cost. With q = 0.01 and both multipliers 0.5, the first moment
// of the pair is log(1 + q²(e^(1/σ²) − 1)) = 0.26082 for the joint σ. Hölder's inequality applied
// to the separate moments, as in theorem 3 of Acs et al. 2019, gives 0.16439.
func TestJointEventIsNotTwoSeparateOnes(t *testing.T) {
	cfg := valid()
	cfg.SamplingProbability, cfg.NoiseMultiplier = 0.01, 0.5
	cfg.ClipNorm, cfg.Clip = 0, sgd.DPNorm{MaxNorm: 10, Bins: 10, NoiseMultiplier: 0.5}
	sigma := cfg.Event(
		accountant.AddOrRemoveOne).(accountant.PoissonSampled).Event.(accountant.Gaussian).NoiseMultiplier
	moment := math.Log1p(1e-4 * math.Expm1(1/(sigma*sigma)))
	if math.Abs(moment-0.26082) > 1e-4 {
		t.Errorf("joint moment %v, want 0.26082", moment)
	}
}

func TestCalibrate(t *testing.T) {
	for _, clip := range []sgd.Clip{nil, sgd.DPNorm{MaxNorm: 10, Bins: 10, NoiseMultiplier: 4},
		sgd.Quantile{Quantile: 0.5, Initial: 1, Rate: 0.2, NoiseMultiplier: 5}} {
		cfg := valid()
		cfg.NoiseMultiplier = 0
		if clip != nil {
			cfg.ClipNorm, cfg.Clip = 0, clip
		}
		b := budget(1.5)
		out := must(cfg.Calibrate(b))(t)
		if err := out.Validate(); err != nil {
			t.Fatal(err)
		}
		got, err := accountant.Epsilon(accountant.Repeated{Event: out.Event(b.Relation),
			Count: out.Steps}, b.Delta, b.Relation)
		if err != nil || got.Upper > b.Epsilon || got.Upper < b.Epsilon*0.97 {
			t.Errorf("%v: calibrated to ε = %v, but the run costs %v, %v", clip, b.Epsilon, got, err)
		}
	}
	cfg := valid()
	if _, err := cfg.Calibrate(budget(1)); !reflect.DeepEqual(paths(err),
		[]string{"sgd.Config.NoiseMultiplier"}) {
		t.Errorf("a configuration with noise: %v", err)
	}
	cfg.NoiseMultiplier, cfg.ClipNorm, cfg.Clip = 0, 0,
		sgd.DPNorm{MaxNorm: 10, Bins: 10, NoiseMultiplier: 0.3}
	if _, err := cfg.Calibrate(budget(0.1)); err == nil {
		t.Error("a policy that alone exceeds the budget was calibrated")
	}
	if _, err := (sgd.Config{}).Calibrate(accountant.Budget{}); err == nil {
		t.Error("an empty configuration was calibrated")
	}
}

func TestConfigJSON(t *testing.T) {
	for _, clip := range []sgd.Clip{nil, sgd.DPNorm{MaxNorm: 10, Bins: 100, NoiseMultiplier: 4},
		sgd.DPNorm{MaxNorm: 5, MinNorm: 1, Bins: 3, NoiseMultiplier: 2},
		sgd.Quantile{Quantile: 0.5, Initial: 1, Rate: 0.2, NoiseMultiplier: 5}, sgd.Normalize{},
		sgd.Normalize{Stability: 1}} {
		for _, o := range []sgd.Optimizer{sgd.SGD(1), sgd.Momentum(0.1, 0.9), sgd.Adam(1e-3)} {
			cfg := valid()
			cfg.Clip, cfg.Optimizer, cfg.MicroBatch = clip, o, 7
			text := must(json.Marshal(cfg))(t)
			var back sgd.Config
			if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(cfg, back) {
				t.Errorf("%s was read back as %+v, %v", text, back, err)
			}
		}
	}
	var c sgd.Config
	for _, bad := range []string{`{"clip":{"kind":"guess"}}`,
		`{"clip":{"kind":"dpnorm","max_norm":"x"}}`, `{"optimizer":{"rule":"x"}}`, `[]`} {
		if json.Unmarshal([]byte(bad), &c) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	if s := sgd.Adam(1e-3).String(); !strings.Contains(s, "adam") {
		t.Error(s)
	}
}

// TestCalibratedRunFitsItsLedger: a calibrated run fits a ledger with the budget.
func TestCalibratedRunFitsItsLedger(t *testing.T) {
	for _, c := range []struct {
		q     float64
		steps int
	}{{0.01, 1500}, {1, 10}, {0.3, 1}} {
		b := budget(4)
		cfg := must(sgd.Config{ClipNorm: 1, SamplingProbability: c.q, Steps: c.steps,
			Optimizer: sgd.Adam(1)}.Calibrate(b))(t)
		if _, err := ledger.New(b).Reserve("run", cfg.Event(b.Relation), c.steps); err != nil {
			t.Errorf("q=%v, %d steps: %v", c.q, c.steps, err)
		}
	}
}

// TestEventUnderReplaceOne: a step is a sampled sum of clipped rows, and costs no more than the
// event that knows only the sensitivities. Rows of a histogram have norm 1 at a sensitivity of √2.
func TestEventUnderReplaceOne(t *testing.T) {
	cfg := valid()
	cfg.SamplingProbability, cfg.NoiseMultiplier, cfg.Steps = 0.01, 0.8, 5000
	price := func(e accountant.Event) float64 {
		b := must(accountant.Epsilon(accountant.Repeated{Event: e, Count: cfg.Steps}, 1e-6,
			accountant.ReplaceOne))(t)
		return b.Upper
	}
	norms := sgd.DPNorm{MaxNorm: 10, Bins: 10, NoiseMultiplier: 2}
	quantile := sgd.Quantile{Quantile: 0.75, Initial: 1, Rate: 0.2, NoiseMultiplier: 5}
	for _, c := range []struct {
		clip sgd.Clip
		want float64
	}{{nil, 1.6}, {sgd.Normalize{}, 1.6},
		{norms, accountant.EffectiveMultiplier(1.6, 2*math.Sqrt2)},
		{quantile, accountant.EffectiveMultiplier(1.6, 5/0.75)}} {
		if cfg.Clip = c.clip; c.clip != nil {
			cfg.ClipNorm = 0
		}
		e, ok := cfg.Event(accountant.ReplaceOne).(accountant.SampledSum)
		if !ok || math.Abs(e.NoiseMultiplier-c.want) > 1e-12 || e.Probability != 0.01 {
			t.Errorf("%T: got %v, want a sampled sum of multiplier %v", c.clip, e, c.want)
		}
		if got, general := price(e), price(cfg.Event(accountant.AddOrRemoveOne)); got > 0.6*general {
			t.Errorf("%T: ε = %v, want much less than %v", c.clip, got, general)
		}
	}
	// With nearly every record in each batch, the smaller sensitivity of the histogram counts.
	cfg.Clip, cfg.SamplingProbability, cfg.Steps = sgd.DPNorm{MaxNorm: 10, Bins: 10,
		NoiseMultiplier: 0.5}, 0.99, 3
	if e := cfg.Event(accountant.ReplaceOne); !accountant.EqualEvents(e,
		cfg.Event(accountant.AddOrRemoveOne)) {
		t.Errorf("at q = 0.99: got %v, want the cheaper event", e)
	}
}
