package sgd_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
)

// silent returns a recorder under which every release is the sum without noise.
func silent() *recorder {
	s := &recorder{seed: 3}
	s.force = func(r *entropy.Release) {
		for i, out := range r.Outputs {
			if len(out) == len(r.Inputs[i]) {
				copy(out, r.Inputs[i])
			}
		}
	}
	return s
}

// TestQuantileFollowsItsFormula: without noise, the clip norm of the next step follows from the
// norms above and below the clip norm, with a factor of at most e.
func TestQuantileFollowsItsFormula(t *testing.T) {
	norms := []float32{0.01, 0.03, 0.2, 0.3, 0.9, 1.5, 3, 4}
	for _, q := range []sgd.Quantile{{Quantile: 0.25}, {Quantile: 0.5}, {Quantile: 0.875}} {
		for _, byNorm := range []bool{false, true} {
			for _, rate := range []float64{0.25, 100} {
				q.Initial, q.Rate, q.NoiseMultiplier, q.ByNorm = 0.5, rate, 1, byNorm
				cfg := with(q, 1, 4)
				cfg.Optimizer = sgd.SGD(1e-9) // the parameters stay where they are
				trainer, _ := newTrainer(t, cfg, newCentre(1), 1e6)
				want, list := q.Initial, norms
				for step, err := range trainer.Steps(silent().context(t.Context()), fromFlat(t, 1, list)) {
					if err != nil {
						t.Fatal(err)
					}
					if math.Abs(step.ClipNorm/want-1) > 1e-4 {
						t.Errorf("%+v: step %d clips to %v, want %v", q, step.Number, step.ClipNorm, want)
					}
					sum := 0.0
					for _, n := range norms {
						share := 1.0
						if byNorm {
							share = min(float64(n)/q.Initial, 1)
						}
						if float64(n) <= want {
							sum += share * (1 - q.Quantile)
						} else {
							sum -= share * q.Quantile
						}
					}
					want *= math.Exp(-min(max(rate*sum/cfg.NominalBatch, -1), 1))
				}
			}
		}
	}
}

// TestEveryNumberIsChecked: a number of a rule, a policy or an average may be at its limit and not
// beyond it.
func TestEveryNumberIsChecked(t *testing.T) {
	adam := func(b1, b2, eps float64) func(*sgd.Config) {
		return func(c *sgd.Config) { c.Optimizer = sgd.AdamWith(0.1, b1, b2, eps) }
	}
	clip := func(p sgd.Clip) func(*sgd.Config) {
		return func(c *sgd.Config) { c.ClipNorm, c.Clip = 0, p }
	}
	quantile := func(q, rate, z float64) func(*sgd.Config) {
		return clip(sgd.Quantile{Quantile: q, Initial: 1, Rate: rate, NoiseMultiplier: z})
	}
	bins := func(least, most float64, n int, z float64) func(*sgd.Config) {
		return clip(sgd.DPNorm{MinNorm: least, MaxNorm: most, Bins: n, NoiseMultiplier: z})
	}
	group := func(norm float64, blocks ...int) func(*sgd.Config) {
		return clip(sgd.Groups{List: []sgd.Group{{Blocks: blocks, ClipNorm: norm}}})
	}
	norm := func(x float64) func(*sgd.Config) { return func(c *sgd.Config) { c.ClipNorm = x } }
	bands := func(n int, q float64) func(*sgd.Config) {
		return func(c *sgd.Config) { c.Bands, c.SamplingProbability = n, q }
	}
	nan, inf := math.NaN(), math.Inf(1)
	for ok, list := range map[bool][]func(*sgd.Config){
		true: {adam(0, 0, 1e-30), adam(.9, .99, math.MaxFloat32), quantile(.5, 1, 0x1p-19),
			bins(0, 1, 1<<20, 1), bins(0x1p-60, 1, 2, 1), bins(0, 1, 2, mechanism.MinArgmaxMultiplier),
			bins(0, 1, 1, 1<<24), clip(sgd.Normalize{Stability: 0x1p-60}),
			clip(sgd.Normalize{Stability: 0x1p60}), norm(0x1p-60), norm(0x1p60), group(1, 0),
			group(0x1p60, 0), bands(20, 1./20), bands(40, 1./40), bands(1, 1),
			func(c *sgd.Config) { c.MicroBatch = 1 << 24 },
			func(c *sgd.Config) { c.NoiseMultiplier = 1 << 24 },
			func(c *sgd.Config) { c.Optimizer = sgd.SGD(math.MaxFloat32) },
			func(c *sgd.Config) { c.SamplingProbability = 1 }},
		false: {adam(-.1, .9, 1), adam(nan, .9, 1), adam(.9, 1, 1), adam(.9, -.1, 1), adam(.9, nan, 1),
			adam(.9, .9, 0), adam(.9, .9, inf), adam(.9, .9, nan), quantile(.5, 0, 1),
			quantile(.5, -1, 1), quantile(.5, inf, 1), quantile(.5, nan, 1), quantile(1, 1, 1),
			quantile(.5, 1, 0x1p-20), quantile(.5, 1, 1<<25), bins(0, 1, 1<<20+1, 1), bins(0, 1, 0, 1),
			bins(0x1p-61, 1, 2, 1), bins(1, 1, 2, 1), bins(.5, 1, 1, 1), bins(0, 0x1p-60, 2, 1),
			bins(0, 1, 2, mechanism.MinArgmaxMultiplier/2), norm(0x1p-61), norm(0x1p61), group(1),
			group(0, 0), group(inf, 0), bands(21, 1./20), bands(41, 1./100), bands(-1, .01),
			bands(257, 1./300), func(c *sgd.Config) { c.MicroBatch = 1<<24 + 1 },
			func(c *sgd.Config) { c.NoiseMultiplier = 1<<24 + 1 },
			func(c *sgd.Config) { c.NominalBatch = inf },
			func(c *sgd.Config) { c.Optimizer = sgd.SGD(inf) },
			func(c *sgd.Config) { c.Optimizer = sgd.Own(0, plain{}) },
			func(c *sgd.Config) { c.Optimizer = sgd.Own(inf, plain{}) },
			func(c *sgd.Config) { c.RandomAllocation, c.SamplingProbability = true, 0x1p-21 }},
	} {
		for i, change := range list {
			cfg := valid()
			if change(&cfg); (cfg.Validate() == nil) != ok {
				t.Errorf("number %d of %v: %v", i, ok, cfg.Validate())
			}
		}
	}
	for ok, list := range map[bool][]sgd.Option{
		true: {sgd.WithMean(1), sgd.WithMean(40), sgd.WithAverage(0), sgd.WithAverage(0.999)},
		false: {sgd.WithMean(-1), sgd.WithMean(41), sgd.WithAverage(1), sgd.WithAverage(-.1),
			sgd.WithAverage(nan)},
	} {
		for i, opt := range list {
			if _, err := sgd.New(valid(), newCentre(2), ledger.New(budget(1e6)), opt); (err == nil) != ok {
				t.Errorf("option %d of %v: %v", i, ok, err)
			}
		}
	}
}

// TestRefusedReleasesEndTraining: if a release of a step is refused, the loop ends with the error,
// whichever release it is, and wherever the noise is made.
func TestRefusedReleasesEndTraining(t *testing.T) {
	refused, sums := errors.New("the data failed"), 0
	apart := devicetest.SeparateMemory(device.CPU()).(device.FixedSummer)
	for place, be := range map[string]device.Backend{"host": device.CPU(), "device": noisy{apart,
		&sums}} {
		for name, clip := range policies() {
			cfg := with(clip, 1, 2)
			most := 2
			if name == "fixed" || name == "normalize" {
				most = 1
			}
			for at := 1; at <= most; at++ {
				l := ledger.New(budget(1e6))
				run := mechanism.Begin(silent().context(t.Context()), l)
				a := must(run.Reserve("steps", cfg.Event(l.Relation()), cfg.Steps))(t)
				asked := 0
				a.RefuseWhen(func() error {
					if asked++; asked >= at {
						return refused
					}
					return nil
				})
				trainer := must(sgd.New(cfg, newLinear(t, be), l, sgd.WithBackend(be), sgd.WithAllowance(a)))(t)
				var last error
				steps := 0
				for _, err := range trainer.Steps(t.Context(), hostile(t, 3, 9, -1)) {
					last, steps = err, steps+1
				}
				if !errors.Is(last, refused) || steps != 1 {
					t.Errorf("%s, %s, release %d: %d steps, and the last gives %v", place, name, at, steps,
						last)
				}
			}
		}
	}
	if sums == 0 {
		t.Error("no sum gets its noise on the device")
	}
}

// restless is a network that states other groups in every step.
type restless struct {
	*blocky
	list [][]sgd.Group
}

func (n *restless) ClipGroups() []sgd.Group {
	now := n.list[0]
	n.list = n.list[1:]
	return now
}

// TestGroupsThatCannotBe: groups that leave a block out, or name one twice or one that does not
// exist, end the training before anything is released; a list of them is refused by New.
func TestGroupsThatCannotBe(t *testing.T) {
	for name, list := range map[string][]sgd.Group{
		"a block is missing": {{Blocks: []int{0}, ClipNorm: 1}},
		"a block twice":      {{Blocks: []int{0, 1}, ClipNorm: 1}, {Blocks: []int{1}, ClipNorm: 1}},
		"no such block":      {{Blocks: []int{0, 1, 2}, ClipNorm: 1}},
		"below 0":            {{Blocks: []int{0, 1, -1}, ClipNorm: 1}},
		"an empty one":       {{Blocks: []int{0, 1}, ClipNorm: 1}, {ClipNorm: 1}},
		"no norm":            {{Blocks: []int{0, 1}}},
	} {
		_, err := sgd.New(with(sgd.Groups{List: list}, 1, 2), newBlocky(2, 3), ledger.New(budget(1e6)))
		if err == nil {
			t.Errorf("%s: New accepts it", name)
		}
		trainer, _ := newTrainer(t, with(sgd.Groups{}, 1, 2),
			&restless{newBlocky(2, 3), [][]sgd.Group{list, list}}, 1e6)
		s := silent()
		for _, err = range trainer.Steps(s.context(t.Context()), table(t, 4, 5, 1)) {
			if err == nil {
				t.Errorf("%s: a step is taken", name)
			}
		}
		if len(s.releases) > 0 {
			t.Errorf("%s: %d releases", name, len(s.releases))
		}
	}
}

// blocksAndParts is a network of blocks and segments that do not end together.
type blocksAndParts struct{ *blocky }

func (blocksAndParts) Segments() []sgd.Segment {
	return []sgd.Segment{{Params: 4, NominalBatch: 2}, {Params: 1, NominalBatch: 8},
		{Params: 4, NominalBatch: 4}}
}

// TestGroupsOfSegments: each parameter moves by its part of the clipped gradient, divided by the
// nominal batch of its segment.
func TestGroupsOfSegments(t *testing.T) {
	net := blocksAndParts{newBlocky(2, 3, 4)}
	cfg := with(grouped(1, 2, 4), 1, 1)
	cfg.Optimizer, cfg.NominalBatch = sgd.SGD(1), 0
	trainer, _ := newTrainer(t, cfg, net, 1e6)
	for _, err := range trainer.Steps(silent().context(t.Context()),
		fromFlat(t, 9, slices.Repeat([]float32{90}, 9))) {
		if err != nil {
			t.Fatal(err)
		}
	}
	two, three := 1/math.Sqrt2, 2/math.Sqrt(3)
	for i, want := range []float64{two / 2, two / 2, three / 2, three / 2, three / 8, 2. / 4, 2. / 4,
		2. / 4, 2. / 4} {
		if got := float64(net.params.Flat.Data[i]); math.Abs(got/want-1) > 0.01 {
			t.Errorf("parameter %d moves by %v, want %v", i, got, want)
		}
	}
}

// TestGuardsEndTraining: if a use cannot be taken, the loop ends with the guard's error.
func TestGuardsEndTraining(t *testing.T) {
	l, full := ledger.New(budget(1e6)), errors.New("disk full")
	cfg := with(nil, 1, 3)
	a := must(mechanism.Begin(t.Context(), l).Reserve("steps", cfg.Event(l.Relation()), cfg.Steps))(t)
	a.Guard(func(spend func() error) error {
		if a.Remaining() < 3 {
			return full
		}
		return spend()
	})
	trainer, err := sgd.New(cfg, newCentre(3), l, sgd.WithAllowance(a))
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, err = range trainer.Steps(t.Context(), table(t, 9, 3, 1)) {
		steps++
	}
	if steps != 2 || !errors.Is(err, full) {
		t.Errorf("%d steps, and the last gives %v", steps, err)
	}
}

// TestGroupsOfEachStep: a step clips, and moves, each block by the norm of its own group in this
// step. There is one record with long gradients and no noise.
func TestGroupsOfEachStep(t *testing.T) {
	one := func(norms ...float64) []sgd.Group { return grouped(norms...).List }
	list := [][]sgd.Group{one(0.125, 0.25, 0.5), one(0.5, 0.125, 0.25), {{Blocks: []int{2, 0},
		ClipNorm: 0.25}, {Blocks: []int{1}, ClipNorm: 0.5}}, one(0.25, 0.25, 0.5)}
	net := &restless{newBlocky(2, 3, 4), list}
	cfg := with(sgd.Groups{}, 1, len(list))
	cfg.Optimizer, cfg.NominalBatch = sgd.SGD(1), 1
	trainer, _ := newTrainer(t, cfg, net, 1e6)
	flat := net.params.Flat.Data
	before := slices.Clone(flat)
	for step, err := range trainer.Steps(silent().context(t.Context()),
		fromFlat(t, 9, slices.Repeat([]float32{90}, 9))) {
		if err != nil {
			t.Fatal(err)
		}
		whole := 0.0
		for _, group := range list[step.Number-1] {
			moved := 0.0
			for _, b := range group.Blocks {
				lo, hi := net.params.Range(b)
				for i := lo; i < hi; i++ {
					moved += float64(flat[i]-before[i]) * float64(flat[i]-before[i])
				}
			}
			if c := group.ClipNorm; math.Abs(math.Sqrt(moved)/c-1) > 0.01 {
				t.Errorf("step %d: a group of clip norm %v moves by %v", step.Number, c, math.Sqrt(moved))
			}
			whole += group.ClipNorm * group.ClipNorm
		}
		if math.Abs(step.ClipNorm-math.Sqrt(whole)) > 1e-12 {
			t.Errorf("step %d states the clip norm %v, want %v", step.Number, step.ClipNorm,
				math.Sqrt(whole))
		}
		copy(before, flat)
	}
}

// boastful reports norms of its own for the blocks of each record.
type boastful struct {
	*blocky
	says float64
}

func (n boastful) Gradients(b device.Batch) models.Gradients {
	n.blocky.Gradients(b)
	return n
}

func (n boastful) BlockSquaredNorms(dst [][]float64) {
	n.blocky.BlockSquaredNorms(dst)
	dst[0][0] = n.says
}

// TestReportedNormsOfBlocks: of a block's reported and its measured norm, the larger one counts,
// and
// a record whose norm is not finite is left out.
func TestReportedNormsOfBlocks(t *testing.T) {
	for says, want := range map[float64]float64{math.NaN(): 0, math.Inf(1): 0, 0: 0.5, 1e-9: 0.5,
		400 * 400 * 2: 0.125} {
		cfg := with(grouped(0.5, 1), 1, 1)
		cfg.Optimizer, cfg.NominalBatch = sgd.SGD(1), 1
		net := boastful{newBlocky(2, 3), says}
		trainer, _ := newTrainer(t, cfg, net, 1e6)
		for _, err := range trainer.Steps(silent().context(t.Context()),
			fromFlat(t, 5, slices.Repeat([]float32{100}, 5))) {
			if err != nil {
				t.Fatal(err)
			}
		}
		p := net.params.Flat.Data
		if got := math.Hypot(float64(p[0]), float64(p[1])); math.Abs(got-want) > 0.01*want {
			t.Errorf("reported square %v: the block moves by %v, want %v", says, got, want)
		}
	}
}

// proud reports a norm of its own for each record.
type proud struct {
	*centre
	says float64
}

func (n proud) Gradients(b device.Batch) models.Gradients {
	n.centre.Gradients(b)
	return n
}

func (n proud) SquaredNorms(dst []float64) {
	n.centre.SquaredNorms(dst)
	for i := range dst {
		dst[i] = n.says
	}
}

// TestReportedNorms is TestReportedNormsOfBlocks for a network that is clipped as a whole.
func TestReportedNorms(t *testing.T) {
	for says, want := range map[float64]float64{math.NaN(): 0, math.Inf(1): 0, 0: 0.7, 1e-9: 0.7,
		400 * 400 * 2: 0.175} {
		cfg := with(nil, 1, 1)
		cfg.Optimizer, cfg.NominalBatch = sgd.SGD(1), 1
		net := proud{newCentre(2), says}
		trainer, _ := newTrainer(t, cfg, net, 1e6)
		for _, err := range trainer.Steps(silent().context(t.Context()),
			fromFlat(t, 2, []float32{100, 100})) {
			if err != nil {
				t.Fatal(err)
			}
		}
		p := net.params.Flat.Data
		if got := math.Hypot(float64(p[0]), float64(p[1])); math.Abs(got-want) > 0.01*want {
			t.Errorf("reported square %v: the parameters move by %v, want %v", says, got, want)
		}
	}
}

// finishing is a network that adds a part to each step's sum once.
type finishing struct {
	manyTerms
	started, finished *int
}

func (n finishing) Gradients(b device.Batch) models.Gradients {
	n.centre.Gradients(b)
	return n
}
func (n finishing) StartFixedSum() { *n.started++ }
func (n finishing) FinishFixedSum(dst device.Fixed) {
	*n.finished++
	dst.Units[0] += 1000
}

// TestPartsOfASumOnce: the part that a network adds once is in the sum of each step, unless the
// step has no record, however many micro-batches it has.
func TestPartsOfASumOnce(t *testing.T) {
	for _, q := range []float64{0.1, 1} {
		cfg := with(nil, q, 20)
		started, finished := 0, 0
		net := finishing{manyTerms{newCentre(3), 1}, &started, &finished}
		trainer, _ := newTrainer(t, cfg, net, 1e6)
		s := silent()
		for _, err := range trainer.Steps(s.context(t.Context()), table(t, 12, 3, 1)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		steps := 0
		for i, sum := range s.sums {
			if (sum[0] > 0) != (s.samples[i] > 0) {
				t.Errorf("step %d: the sum is %v of %d records", i, sum, s.samples[i])
			}
			if s.samples[i] > 0 {
				steps++
			}
		}
		if started != steps || finished != steps || steps == 20 != (q == 1) {
			t.Errorf("a rate of %v: started %d, finished %d of %d steps", q, started, finished, steps)
		}
	}
}

// changing is a network whose gradients of several records have another form than planned.
type changing struct{ manyTerms }

func (n changing) Gradients(b device.Batch) models.Gradients {
	n.centre.Gradients(b)
	if b.Rows > 1 {
		n.terms = 7
	}
	return n.manyTerms
}

// TestGradientsOfAnotherForm: gradients of another form than the sum was planned by end the
// training, and nothing is released.
func TestGradientsOfAnotherForm(t *testing.T) {
	trainer, _ := newTrainer(t, with(nil, 1, 3), changing{manyTerms{newCentre(3), 1}}, 1e6)
	s := silent()
	for _, err := range trainer.Steps(s.context(t.Context()), table(t, 12, 3, 1)) {
		if err == nil {
			t.Error("a step is taken")
		}
	}
	if len(s.releases) > 0 {
		t.Errorf("%d releases", len(s.releases))
	}
}

// TestOpenSchedulesEndWithTheRun: a Cosine without Steps ends at the run's last step.
func TestOpenSchedulesEndWithTheRun(t *testing.T) {
	var got [2][]float32
	for i, steps := range []int{0, 6} {
		cfg := with(nil, 1, 6)
		cfg.Optimizer = sgd.SGD(0.1).Scheduled(sgd.Schedule{Decay: sgd.Cosine, Steps: steps})
		got[i] = trained(t, cfg)
	}
	cfg := with(nil, 1, 6)
	cfg.Optimizer = sgd.SGD(0.1)
	if !slices.Equal(got[0], got[1]) || slices.Equal(got[0], trained(t, cfg)) {
		t.Errorf("an open schedule gives %v, one of the run's steps %v", got[0], got[1])
	}
}

// TestDescentIsTheTrainersRule: a Descent moves parameters as its formula says.
func TestDescentIsTheTrainersRule(t *testing.T) {
	grads := [][]float32{{1, -2, 0.5}, {0.25, 1, -1}, {-3, 0.5, 2}}
	const scale, lr = 0.5, 0.1
	for name, o := range map[string]sgd.Optimizer{"sgd": sgd.SGD(lr), "momentum": sgd.Momentum(lr,
		0.75),
		"adam": sgd.AdamWith(lr, 0.75, 0.5, 0.25), "own": sgd.Own(lr, plain{})} {
		o = o.Scheduled(sgd.Schedule{Warmup: 2})
		d, got := o.Descent(3), make([]float32, 3)
		want, m, v := make([]float64, 3), make([]float64, 3), make([]float64, 3)
		for step, grad := range grads {
			d.Step(got, grad, scale)
			rate, n := lr*min(float64(step+1)/2, 1), float64(step+1)
			for i, x := range grad {
				g := scale * float64(x)
				switch name {
				case "momentum":
					m[i] = 0.75*m[i] + g
					want[i] -= rate * m[i]
				case "adam":
					m[i], v[i] = 0.75*m[i]+0.25*g, 0.5*v[i]+0.5*g*g
					mean, square := m[i]/(1-math.Pow(0.75, n)), v[i]/(1-math.Pow(0.5, n))
					want[i] -= rate * mean / (math.Sqrt(square) + 0.25)
				default:
					want[i] -= rate * g
				}
				if math.Abs(float64(got[i])-want[i]) > 1e-6 {
					t.Errorf("%s, step %d: parameter %d is %v, want %v", name, step+1, i, got[i], want[i])
				}
			}
		}
	}
}

// manyTerms is a network with sums in fixed point that round every element many times.
type manyTerms struct {
	*centre
	terms int
}

func (n manyTerms) Gradients(b device.Batch) models.Gradients {
	n.centre.Gradients(b)
	return n
}
func (n manyTerms) FixedForm() models.FixedForm {
	return models.FixedForm{Terms: n.terms,
		Reach: 1}
}

func (n manyTerms) AddFixedSum(device.Fixed, []float32) {}

// TestRoundingThatUsesUpTheNorm: New refuses a network whose rounding would take a quarter of the
// clip norm.
func TestRoundingThatUsesUpTheNorm(t *testing.T) {
	for terms, ok := range map[int]bool{1: true, 1 << 10: true, 1 << 20: false} {
		_, err := sgd.New(with(nil, 0.5, 4), manyTerms{newCentre(100), terms}, ledger.New(budget(1e4)))
		if (err == nil) != ok {
			t.Errorf("%d terms: %v", terms, err)
		}
	}
}

// TestStatesOfQuantiles: a state holds the clip norm, within its limits.
func TestStatesOfQuantiles(t *testing.T) {
	cfg := with(policies()["quantile"], 1, 6)
	run := func() *sgd.Trainer {
		trainer, _ := newTrainer(t, cfg, newCentre(3), 1e4, sgd.WithAverage(0.5))
		return trainer
	}
	trainer, norms := run(), []float64{}
	var state []byte
	for step, err := range trainer.Steps(silent().context(t.Context()), table(t, 9, 3, 1)) {
		if err != nil {
			t.Fatal(err)
		}
		if norms = append(norms, step.ClipNorm); step.Number == 2 {
			state = trainer.AppendState(nil)
		}
	}
	again := run()
	if err := again.SetState(state); err != nil {
		t.Fatal(err)
	}
	for step, err := range again.Steps(silent().context(t.Context()), table(t, 9, 3, 1)) {
		if err != nil || step.ClipNorm != norms[2] {
			t.Errorf("after a state: clip norm %v, %v, want %v", step.ClipNorm, err, norms[2])
		}
		break
	}
	for x, ok := range map[float64]bool{0x1p-60: true, 0x1p60: true, 0x1p-61: false, 0x1p61: false,
		0: false, -1: false, math.NaN(): false} {
		binary.LittleEndian.PutUint64(state[len(state)-8:], math.Float64bits(x))
		if err := run().SetState(state); (err == nil) != ok {
			t.Errorf("a state with the clip norm %v: %v", x, err)
		}
	}
}

// TestEffectsOfEveryRelease: the effects of a step's releases are those that its event covers,
// under
// both relations.
func TestEffectsOfEveryRelease(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for name, clip := range policies() {
			cfg := with(clip, 0.5, 1)
			s := observe(t, cfg, r, newCentre(3), table(t, 9, 3, 1))
			sum := 0.0
			for _, e := range s.effects {
				sum += e * e
			}
			covered := 0.0
			switch e := cfg.Event(r).(type) {
			case accountant.PoissonSampled:
				covered = e.Event.(accountant.Gaussian).NoiseMultiplier
			case accountant.SampledSum: // relative to a row, and rows of two records may be opposite
				covered = e.NoiseMultiplier / 2
			}
			if math.Abs(math.Sqrt(sum)*covered-1) > 1e-5 {
				t.Errorf("%v, %s: the effects %v are not those of a multiplier of %v", r, name, s.effects,
					covered)
			}
		}
	}
}
