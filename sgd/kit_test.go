package sgd_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestSchedules compares factors with known values.
func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s    sgd.Schedule
		step int
		want float64
	}{
		{sgd.Schedule{}, 1000, 1},
		{sgd.Schedule{Warmup: 10}, 5, 0.5}, {sgd.Schedule{Warmup: 10}, 10, 1},
		{sgd.Schedule{Warmup: 10}, 11, 1},
		{sgd.Schedule{Decay: sgd.Cosine, Steps: 100}, 50, 0.5},
		{sgd.Schedule{Decay: sgd.Cosine, Steps: 100}, 100, 0},
		{sgd.Schedule{Decay: sgd.Cosine, Steps: 100, Final: 0.2}, 100, 0.2},
		{sgd.Schedule{Decay: sgd.Cosine, Steps: 100, Final: 0.2}, 50, 0.6},
		{sgd.Schedule{Decay: sgd.Cosine, Steps: 110, Warmup: 10}, 60, 0.5},
		{sgd.Schedule{Decay: sgd.Cosine, Steps: 100}, 900, 0},
	} {
		if got := c.s.Factor(c.step); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v at step %d: %g, want %g", c.s, c.step, got, c.want)
		}
	}
	bad := []sgd.Schedule{{Decay: 9}, {Warmup: -1}, {Steps: 5, Warmup: 5}, {Final: 2}}
	for _, s := range bad {
		cfg := with(nil, 1, 1)
		cfg.Optimizer = sgd.Adam(0.1).Scheduled(s)
		if cfg.Validate() == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
	if sgd.SGD(1).Scheduled(sgd.Schedule{Decay: sgd.Cosine}).Validate() == nil {
		t.Error("a Cosine without Steps is accepted")
	}
	want := sgd.Momentum(0.1, 0.9).Scheduled(sgd.Schedule{Decay: sgd.Cosine, Warmup: 3, Final: 0.1})
	text, err := json.Marshal(want)
	var back sgd.Optimizer
	if err != nil || json.Unmarshal(text, &back) != nil || back != want {
		t.Errorf("%s, error %v: read back as %v", text, err, back)
	}
}

// lion is a user-defined rule with state: the sign of a moving average.
type lion struct{}

func (lion) Name() string          { return "lion" }
func (lion) Start(n int) sgd.Mover { return &signs{m: make([]float32, n)} }

type signs struct {
	m    []float32
	step int
	rate float64
}

func (s *signs) Move(step int, rate float64, params, grad []float32) {
	s.step, s.rate = step, rate
	for i, g := range grad {
		s.m[i] = 0.9*s.m[i] + 0.1*g
		params[i] -= float32(math.Copysign(rate, float64(s.m[i])))
	}
}

func (s *signs) AppendState(dst []byte) []byte {
	for _, x := range s.m {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

func (s *signs) SetState(state []byte) error {
	for i := range s.m {
		s.m[i] = math.Float32frombits(binary.LittleEndian.Uint32(state[4*i:]))
	}
	return nil
}

// plain is gradient descent written by a user.
type plain struct{}

func (plain) Name() string          { return "plain" }
func (plain) Start(n int) sgd.Mover { return plain{} }
func (plain) Move(_ int, rate float64, params, grad []float32) {
	for i, g := range grad {
		params[i] -= float32(rate) * g
	}
}

// trained returns the parameters after a few steps, with the same noise for every call.
func trained(t *testing.T, cfg sgd.Config, opts ...sgd.Option) []float32 {
	t.Helper()
	net := newBlocky(2, 3)
	trainer := must(sgd.New(cfg, net, ledger.New(budget(1e4)), opts...))(t)
	s := &recorder{seed: 7}
	for _, err := range trainer.Steps(s.context(t.Context()), table(t, 30, 5, 1)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	trainer.UseAverage()
	return net.params.Flat.Data
}

// TestUsersOptimisers: a user-defined rule gives the same parameters as the package's rule, with
// every clipping policy, every schedule and every average.
func TestUsersOptimisers(t *testing.T) {
	for _, clip := range []sgd.Clip{nil, grouped(1, 2)} {
		for _, s := range []sgd.Schedule{{}, {Decay: sgd.Cosine, Warmup: 3}} {
			for _, opts := range [][]sgd.Option{nil, {sgd.WithAverage(0.9)}, {sgd.WithMean(4)}} {
				cfg := with(clip, 0.5, 12)
				cfg.Optimizer = sgd.SGD(0.1).Scheduled(s)
				want := trained(t, cfg, opts...)
				cfg.Optimizer = sgd.Own(0.1, plain{}).Scheduled(s)
				got := trained(t, cfg, opts...)
				for i := range want {
					if math.Abs(float64(got[i]-want[i])) > 1e-5 {
						t.Fatalf("%v %+v: the user's rule gives %v, the package's %v", clip, s, got, want)
					}
				}
			}
		}
	}
	cfg := with(nil, 0.5, 12)
	cfg.Optimizer = sgd.Own(0.1, plain{})
	flat := trained(t, cfg)
	cfg.Optimizer = cfg.Optimizer.Scheduled(sgd.Schedule{Decay: sgd.Cosine})
	if slices.Equal(flat, trained(t, cfg)) {
		t.Error("a schedule changes nothing")
	}
	if slices.Equal(flat, trained(t, with(nil, 0.5, 12), sgd.WithMean(2))) {
		t.Error("a mean changes nothing")
	}
	if _, err := json.Marshal(cfg); err == nil {
		t.Error("a user-defined rule was written as JSON")
	}
	cfg.Optimizer = sgd.Own(-1, plain{})
	if cfg.Validate() == nil {
		t.Error("a negative learning rate is accepted")
	}
}

// TestUsersStateLasts: the state of a user-defined rule is saved and restored.
func TestUsersStateLasts(t *testing.T) {
	d, e := sgd.Own(0.1, lion{}).Descent(3), sgd.Own(0.1, lion{}).Descent(3)
	p, q := make([]float32, 3), make([]float32, 3)
	for i := range 5 {
		d.Step(p, []float32{1, -2, float32(i) - 2.2}, 1)
	}
	if err := e.SetState(d.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	copy(q, p)
	d.Step(p, []float32{-0.1, 0.1, 0}, 1)
	e.Step(q, []float32{-0.1, 0.1, 0}, 1)
	if !slices.Equal(p, q) || string(d.AppendState(nil)) != string(e.AppendState(nil)) {
		t.Errorf("parameters %v after the state was restored, want %v", q, p)
	}
}

// TestMeanOfParameters: if all gradients are equal, the mean of the parameters from a given step on
// is known.
func TestMeanOfParameters(t *testing.T) {
	cfg := with(nil, 1, 6)
	cfg.Optimizer, cfg.NominalBatch = sgd.SGD(1), 1
	net := newCentre(1)
	trainer := must(sgd.New(cfg, net, ledger.New(budget(1e4)), sgd.WithMean(3)))(t)
	s := &recorder{seed: 7, force: func(r *entropy.Release) { r.Outputs[0][0] = -1 }}
	for _, err := range trainer.Steps(s.context(t.Context()), table(t, 4, 1, 0)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	trainer.UseAverage()
	if got := float64(net.params.Flat.Data[0]); math.Abs(got-4.5) > 1e-5 { // (3+4+5+6)/4
		t.Errorf("the mean of steps 3 to 6 is %g, want 4.5", got)
	}
	if _, err := sgd.New(cfg, net, ledger.New(budget(1)), sgd.WithMean(3),
		sgd.WithAverage(0.5)); err == nil {
		t.Error("WithMean and WithAverage together are accepted")
	}
}

// TestClipNormOfUnbalancedClasses: of twenty records, nineteen have gradients of norm 0.001 and one
// has norm 1. The median over all records falls to 0.001. The median weighted by norm stays near 1.
// Noise is small compared to a batch of 400.
func TestClipNormOfUnbalancedClasses(t *testing.T) {
	flat := make([]float32, 400)
	for i := range flat {
		if flat[i] = 0.001; i%20 == 0 {
			flat[i] = 1
		}
	}
	data := fromFlat(t, 1, flat)
	last := func(q sgd.Quantile) (norm float64) {
		cfg := with(q, 1, 400)
		cfg.NominalBatch, cfg.Optimizer = 400, sgd.SGD(1e-9) // parameters stay where they are
		trainer := must(sgd.New(cfg, newCentre(1), ledger.New(budget(1e6))))(t)
		for step, err := range trainer.Steps(t.Context(), data) {
			if err != nil {
				t.Fatal(err)
			}
			norm = step.ClipNorm
		}
		return norm
	}
	q := sgd.Quantile{Quantile: 0.5, Initial: 1, Rate: 0.3, NoiseMultiplier: 2}
	all := last(q)
	q.ByNorm = true
	if by := last(q); all > 0.01 || by < 0.3 || by > 3 {
		t.Errorf("the clip norm ends at %g, want at most 0.01; by norm at %g, want 0.3 to 3", all, by)
	}
	if w := (sgd.Config{Clip: q}).Warnings(); len(w) > 0 {
		t.Errorf("by norm: warnings %q, want none", w)
	}
	q.ByNorm = false
	if w := (sgd.Config{Clip: q}).Warnings(); len(w) != 1 || !strings.Contains(w[0], "ByNorm") {
		t.Errorf("a median: warnings %q, want one that names ByNorm", w)
	}
}

// TestPerLayerClipOfClassifiers: the library's classifiers can be clipped layer by layer. With
// almost no noise, a step moves a layer by at most its group's clip norm.
func TestPerLayerClipOfClassifiers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	flat, labels := make([]float32, 64*16), make([]int32, 64)
	for i := range flat {
		flat[i] = 20 * rng.Float32()
	}
	for i := range labels {
		labels[i] = rng.Int32N(3)
	}
	data := must(records.FromFlat(records.Interval(16, 0, 20).WithLabels("a", "b", "c"), flat,
		labels...))(t)
	cnn := models.CNN{Height: 4, Width: 4, Channels: 1,
		Convolutions: []models.Convolution{{Maps: 3, Size: 2}}, Hidden: []int{5}}
	for name, arch := range map[string]interface {
		Classifier(be device.Backend, in, classes int, seed uint64) (*models.Classifier, error)
	}{"mlp": models.MLP{Hidden: []int{6, 5}}, "cnn": cnn} {
		net := must(arch.Classifier(device.CPU(), 16, 3, 1))(t)
		cfg := sgd.Config{SamplingProbability: 1, Steps: 1, NoiseMultiplier: 1e-6,
			Optimizer: sgd.SGD(1), NominalBatch: 1,
			Clip: sgd.Groups{List: []sgd.Group{{Blocks: []int{0, 1}, ClipNorm: 0.25},
				{Blocks: []int{2, 3}, ClipNorm: 0.5}, {Blocks: []int{4, 5}, ClipNorm: 2}}}}
		trainer := must(sgd.New(cfg, net, ledger.New(budget(1e14))))(t)
		before := slices.Clone(net.Params().Flat.Data)
		for _, err := range trainer.Steps(t.Context(), data.Slice(0, 1)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		p := net.Params()
		for j, group := range cfg.Clip.(sgd.Groups).List {
			lo, _ := p.Range(group.Blocks[0])
			_, hi := p.Range(group.Blocks[1])
			moved := 0.0
			for i := lo; i < hi; i++ {
				d := float64(p.Flat.Data[i] - before[i])
				moved += d * d
			}
			if c := group.ClipNorm; math.Sqrt(moved) > c*1.001 || math.Sqrt(moved) < 0.5*c && j < 2 {
				t.Errorf("%s: layer %d moves by %g with a clip norm of %g", name, j, math.Sqrt(moved), c)
			}
		}
	}
}
