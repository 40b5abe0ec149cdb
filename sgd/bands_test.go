package sgd_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/sgd"
)

func inBands(bands, steps int) sgd.Config {
	cfg := with(nil, 0.2, steps)
	cfg.Bands = bands
	return cfg
}

// TestBandsOnTheLedger: a run takes exactly its steps, and the ledger holds the rounds that they
// begin. The noise is scaled for everything that a record adds in one participation.
func TestBandsOnTheLedger(t *testing.T) {
	for r, factor := range map[accountant.Relation]float64{accountant.AddOrRemoveOne: 1,
		accountant.ReplaceOne: 2} {
		cfg, b := inBands(4, 10), budget(1e4)
		b.Relation = r
		l := ledger.New(b)
		trainer := must(sgd.New(cfg, newCentre(3), l))(t)
		s, taken := &recorder{seed: 1}, 0
		for step, err := range trainer.Steps(s.context(t.Context()), table(t, 30, 3, 0)) {
			if taken++; err != nil || step.Number != taken || trainer.Spent() != taken {
				t.Fatalf("step %d after %d: %v", step.Number, taken, err)
			}
		}
		event := cfg.Event(r).(accountant.BandedSum)
		if e := l.Entries()[0]; taken != 10 || e.Reserved != 3 || e.Spent != 3 ||
			!accountant.EqualEvents(e.Event, event) {
			t.Errorf("%v: %d steps, ledger %v; want 10 steps in 3 rounds", r, taken, e)
		}
		square := 0.0
		for _, c := range event.Band {
			square += c * c
		}
		want := 1.2 * factor * 0.7 * math.Sqrt(square)
		if len(event.Band) != 4 || event.Probability != 0.8 || event.NoiseMultiplier != 1.2*factor {
			t.Errorf("%v: event %+v", r, event)
		}
		for _, rel := range s.releases {
			if got := rel.Std[0]; got < want || got > want*1.0001 {
				t.Errorf("%v: fresh noise of standard deviation %v, want %v", r, got, want)
			}
		}
	}
}

// TestBandsCancel: the sum of the noise of all steps is a fraction of that of independent noise at
// equal privacy. Ratios of the two deviations in 4,000 coordinates vary by 1 %.
func TestBandsCancel(t *testing.T) {
	sums := func(bands int) float64 {
		cfg := must(sgd.Config{ClipNorm: 1, SamplingProbability: 0.01, Steps: 64, Bands: bands,
			Optimizer: sgd.SGD(1), NominalBatch: 1}.Calibrate(budget(8)))(t)
		net := newCentre(4000)
		trainer := must(sgd.New(cfg, net, ledger.New(budget(8))))(t)
		for _, err := range trainer.Steps(t.Context(), table(t, 0, 4000, 0)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		square := 0.0
		for _, x := range net.Params().Flat.Data {
			square += float64(x) * float64(x)
		}
		return math.Sqrt(square)
	}
	if ratio := sums(16) / sums(1); ratio > 0.6 {
		t.Errorf("the noise of 64 steps with 16 bands is %v of independent noise, want at most 0.6", ratio)
	}
}

// TestResumedBandsDrawAfresh: no noise of a loop before it is resumed is drawn again or continued
// after it, and the ledger charges every round that was begun. Two steps of a band correlate; the
// correlation of independent steps exceeds six standard deviations with probability 2e-9.
func TestResumedBandsDrawAfresh(t *testing.T) {
	const dim, bands, steps, end = 4000, 4, 12, 6
	cfg := inBands(bands, steps)
	cfg.Optimizer, cfg.NominalBatch = sgd.SGD(1), 1
	net, l, noise := newCentre(dim), ledger.New(budget(1e4)), [][]float64{}
	for part := range 2 {
		saved, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var opts []sgd.Option
		if l, err = ledger.Unmarshal(saved); part > 0 && err == nil {
			var left *mechanism.Allowance
			run := mechanism.Begin(t.Context(), l)
			left, err = run.Resume("DP-SGD step", cfg.Event(l.Relation()))
			opts = append(opts, sgd.WithAllowance(left))
		}
		trainer, bad := sgd.New(cfg, net, l, opts...)
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		before := slices.Clone(net.Params().Flat.Data)
		for step, err := range trainer.Steps(t.Context(), table(t, 0, dim, 0)) {
			if err != nil {
				t.Fatal(err)
			}
			moved := make([]float64, dim)
			for i, x := range net.Params().Flat.Data {
				moved[i], before[i] = float64(x-before[i]), x
			}
			if noise = append(noise, moved); step.Number == end {
				break
			}
		}
	}
	if e := l.Entries()[0]; len(noise) != end+bands || e.Reserved != 3 || e.Spent != 3 {
		t.Fatalf("%d steps, ledger %v; want 6 steps and the 4 of the third round", len(noise), e)
	}
	for s, x := range noise {
		for u := range s {
			dot, squares, others := 0.0, 0.0, 0.0
			for i, v := range noise[u] {
				dot, squares, others = dot+v*x[i], squares+v*v, others+x[i]*x[i]
			}
			r := math.Abs(dot) / math.Sqrt(squares*others)
			within := (s < end) == (u < end)
			if r > 6/math.Sqrt(dim) && !within || r < 0.1 && s == u+1 && within {
				t.Errorf("the noise of steps %d and %d has the correlation %.3f", u, s, r)
			}
		}
	}
}

// TestResumedBands: a loop that is resumed from a saved ledger takes whole rounds, with new groups
// and without the noise of the first part.
func TestResumedBands(t *testing.T) {
	data, l, cfg := table(t, 30, 3, 1), ledger.New(budget(1e4)), inBands(4, 10)
	first := must(sgd.New(cfg, newCentre(3), l))(t)
	for step, err := range first.Steps(t.Context(), data) {
		if err != nil {
			t.Fatal(err)
		}
		if step.Number == 5 {
			break
		}
	}
	saved := must(json.Marshal(l))(t)
	again := must(ledger.Unmarshal(saved))(t)
	left, err := mechanism.Begin(t.Context(), again).Resume("DP-SGD step", cfg.Event(again.Relation()))
	if err != nil || left.Remaining() != 4 {
		t.Fatal(left, err)
	}
	second := must(sgd.New(cfg, newCentre(3), again, sgd.WithAllowance(left)))(t)
	var numbers []int
	for step, err := range second.Steps(t.Context(), data) {
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, step.Number)
	}
	if !slices.Equal(numbers, []int{9, 10}) {
		t.Errorf("steps %v after a loop that ended in its second round, want 9 and 10", numbers)
	}
}

// TestBandsOfOneTrainer: a trainer does not go on with bands that another trainer began, not even
// with a new round. Its records may have other row numbers, so that a record could be in two steps
// less than a round apart. Their noise is correlated, and the price is that of independent noise.
func TestBandsOfOneTrainer(t *testing.T) {
	cfg, l := inBands(2, 6), ledger.New(budget(1e4))
	a := must(mechanism.Begin(t.Context(), l).Reserve("steps", cfg.Event(l.Relation()), 3))(t)
	trainer := func() (*sgd.Trainer, error) {
		return sgd.New(cfg, newCentre(3), l, sgd.WithAllowance(a))
	}
	first, err := trainer()
	second, bad := trainer()
	if err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	data := table(t, 40, 3, 0)
	take := func(s *sgd.Trainer, steps int) (last error) {
		for _, last = range s.Steps(t.Context(), data) {
			if steps--; steps == 0 {
				break
			}
		}
		return last
	}
	if err := take(first, 2); err != nil {
		t.Fatal(err)
	}
	if err := take(second, 1); len(paths(err)) != 1 || paths(err)[0] != "sgd.WithAllowance" {
		t.Errorf("a round in the bands of another trainer: %v", err)
	}
	if _, err := trainer(); len(paths(err)) != 1 || paths(err)[0] != "sgd.WithAllowance" {
		t.Errorf("a trainer of bands that have begun: %v", err)
	}
	if err := take(first, 4); err != nil || a.Remaining() != 0 {
		t.Errorf("the other rounds: %v, %d steps left", err, a.Remaining())
	}
}

// TestBandsThatCannotBe names what bands do not go with.
func TestBandsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		change func(*sgd.Config)
		want   string
	}{
		{func(c *sgd.Config) { c.Bands = -1 }, "Bands"},
		{func(c *sgd.Config) { c.Bands = 11 }, "Bands"},
		{func(c *sgd.Config) { c.Bands, c.SamplingProbability = 8, 0.13 }, "Bands"},
		{func(c *sgd.Config) { c.Bands, c.Steps, c.SamplingProbability = 257, 1000, 1e-4 }, "Bands"},
		{func(c *sgd.Config) { c.ClipNorm, c.Clip = 0, policies()["dpnorm"] }, "Clip"},
		{func(c *sgd.Config) { c.ClipNorm, c.Clip = 0, policies()["quantile"] }, "Clip"},
		{func(c *sgd.Config) { c.ClipNorm, c.Clip = 0, sgd.Groups{} }, "Clip"},
	} {
		cfg := inBands(4, 10)
		c.change(&cfg)
		if err := cfg.Validate(); err == nil || !slices.Contains(paths(err), "sgd.Config."+c.want) {
			t.Errorf("%+v: got %v, want a mistake in %s", cfg, err, c.want)
		}
	}
	groups := sgd.Groups{List: []sgd.Group{{Blocks: []int{0}, ClipNorm: 1}}}
	for _, clip := range []sgd.Clip{nil, sgd.Normalize{}, groups} {
		cfg := inBands(4, 10)
		if cfg.Clip = clip; clip != nil {
			cfg.ClipNorm = 0
		}
		if err := cfg.Validate(); err != nil {
			t.Errorf("%T: %v", clip, err)
		}
	}
}

// TestCalibrateChoosesBands: the number that Calibrate chooses leaves no more noise in the sum of
// all steps than any other power of two, by its own measure: more bands for larger ε and smaller
// batches, none for large batches at a small ε.
func TestCalibrateChoosesBands(t *testing.T) {
	chosen := func(q, epsilon float64) int {
		cfg := must(sgd.Config{ClipNorm: 1, SamplingProbability: q, Steps: 500, Bands: -1,
			Optimizer: sgd.Momentum(1, 0.9), NominalBatch: 1}.Calibrate(budget(epsilon)))(t)
		if err := cfg.Validate(); err != nil {
			t.Error(err)
		}
		return cfg.Bands
	}
	large, small, none := chosen(0.004, 8), chosen(0.004, 1), chosen(0.2, 0.5)
	if large < 32 || small >= large || small < 2 || none != 1 {
		t.Errorf("%d bands for ε = 8, %d for 1, %d for large batches", large, small, none)
	}
	cfg := inBands(-1, 10)
	cfg.SamplingProbability, cfg.NoiseMultiplier = 2, 0
	if got, err := cfg.Calibrate(budget(8)); err == nil {
		t.Errorf("a sampling probability of 2: %+v", got)
	}
	cfg = inBands(-1, 10)
	if err := cfg.Validate(); err == nil {
		t.Error("bands that nobody chose are valid")
	}
	cfg.NoiseMultiplier, cfg.ClipNorm, cfg.Clip = 0, 0, policies()["quantile"]
	if got, err := cfg.Calibrate(budget(8)); err == nil {
		t.Errorf("a quantile with bands: %+v", got)
	}
}
