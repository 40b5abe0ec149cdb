package sgd_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func newTrainer(t *testing.T, cfg sgd.Config, net models.Network, epsilon float64,
	opts ...sgd.Option) (*sgd.Trainer, *ledger.Ledger) {
	t.Helper()
	l := ledger.New(budget(epsilon))
	trainer := must(sgd.New(cfg, net, l, opts...))(t)
	return trainer, l
}

// TestCustomNetworkConverges: a user-defined network finds the mean of its records despite the
// noise, under every policy. The noise is seeded, since the test is about learning.
func TestCustomNetworkConverges(t *testing.T) {
	data := table(t, 2000, 5, 1)
	for name, clip := range policies() {
		optimizers := []sgd.Optimizer{sgd.Adam(0.03)}
		if clip == nil {
			optimizers = append(optimizers, sgd.SGD(0.3), sgd.Momentum(0.05, 0.9))
		}
		for _, o := range optimizers {
			net := newCentre(5)
			cfg := sgd.Config{Clip: clip, SamplingProbability: 0.1, Steps: 300, NoiseMultiplier: 1,
				Optimizer: o, NominalBatch: 200}
			if clip == nil {
				cfg.ClipNorm = 1
			}
			trainer, _ := newTrainer(t, cfg, net, 1e3)
			for _, err := range trainer.Steps(privacytest.Seeded(t, t.Context(), 1), data) {
				if err != nil {
					t.Fatal(err)
				}
			}
			for j, p := range net.params.Flat.Data {
				if math.Abs(float64(p)-1) > 0.2 {
					t.Errorf("%s, %v: coordinate %d is %v, want 1", name, o, j, p)
				}
			}
		}
	}
}

func TestClassifierConverges(t *testing.T) {
	flat, labels := make([]float32, 0, 4000), make([]int32, 0, 2000)
	for i := range 2000 {
		a := float64(i) * 2.399963
		class := int32(i % 2)
		flat = append(flat, float32(math.Cos(a))*0.2+float32(class),
			float32(math.Sin(a))*0.2+float32(class))
		labels = append(labels, class)
	}
	data := must(records.FromFlat(records.Interval(2, -2, 2).WithLabels("low", "high"),
		flat, labels...))(t)
	net := must(models.MLP{}.Classifier(device.CPU(), 2, 2, 1))(t)
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 200, NoiseMultiplier: 1,
		Optimizer: sgd.Adam(0.05)}
	trainer, _ := newTrainer(t, cfg, net, 1e3)
	for _, err := range trainer.Steps(privacytest.Seeded(t, t.Context(), 1), data) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var b device.Batch
	data.Range(0, data.Len(), &b)
	got := make([]int32, data.Len())
	net.PredictClass(b, got)
	right := 0
	for i := range got {
		if got[i] == labels[i] {
			right++
		}
	}
	if right < 1950 {
		t.Errorf("%d of 2000 records are classified correctly, want at least 1950", right)
	}
}

func TestBreakAndResume(t *testing.T) {
	data := table(t, 50, 2, 0)
	trainer, l := newTrainer(t, with(nil, 0.5, 10), newCentre(2), 1e4)
	for step, err := range trainer.Steps(t.Context(), data) {
		if err != nil {
			t.Fatal(err)
		}
		if step.Number == 4 {
			break
		}
	}
	if e := l.Entries()[0]; e.Reserved != 10 || e.Spent != 4 {
		t.Fatalf("after a break: %+v", e)
	}
	published := l.Epsilon().Upper
	var numbers []int
	last := 0.0
	for step, err := range trainer.Steps(t.Context(), data) {
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, step.Number)
		if step.Of != 10 || step.Epsilon < last || step.Epsilon > published*(1+1e-9) ||
			step.ClipNorm != 0.7 {
			t.Errorf("step %+v after a step with ε %v; the published ε is %v", step, last, published)
		}
		last = step.Epsilon
	}
	if fmt.Sprint(numbers) != "[5 6 7 8 9 10]" {
		t.Errorf("steps %v after the break, want 5 to 10", numbers)
	}
	if l.Epsilon().Upper != published {
		t.Error("the published ε changed after the reservation")
	}
	for _, err := range trainer.Steps(t.Context(), data) {
		if !errors.Is(err, ledger.ErrReservationExhausted) {
			t.Errorf("an eleventh step: %v", err)
		}
	}
	if e := l.Entries(); len(e) != 1 || e[0].Spent != 10 {
		t.Errorf("ledger %v, want one entry with 10 steps spent", e)
	}
}

func TestCancelRefundsNothing(t *testing.T) {
	data := table(t, 50, 2, 0)
	net := newCentre(2)
	trainer, ledger := newTrainer(t, with(nil, 0.5, 10), net, 1e4)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	steps, failures := 0, 0
	var at []float32
	for _, err := range trainer.Steps(ctx, data) {
		if err != nil {
			failures++
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			continue
		}
		if steps++; steps == 3 {
			cancel()
			at = append(at, net.params.Flat.Data...)
		}
	}
	if steps != 3 || failures != 1 {
		t.Errorf("%d steps and %d errors, want 3 and 1", steps, failures)
	}
	if e := ledger.Entries()[0]; e.Reserved != 10 || e.Spent != 3 {
		t.Errorf("ledger %+v, want 3 of 10 steps spent", e)
	}
	for i, p := range net.params.Flat.Data {
		if p != at[i] {
			t.Error("parameters moved after the last release")
		}
	}
	for _, err := range trainer.Steps(t.Context(), data) {
		if err != nil {
			t.Error(err)
		}
		steps++
	}
	if steps != 10 {
		t.Errorf("%d steps in all, want 10", steps)
	}
}

// cancelling cancels in the middle of a step.
type cancelling struct {
	*centre
	cancel context.CancelFunc
	calls  int
}

func (c *cancelling) Gradients(b device.Batch) models.Gradients {
	if c.calls++; c.calls == 2 {
		c.cancel()
	}
	return c.centre.Gradients(b)
}

func TestCancelWithinAStep(t *testing.T) {
	for name, clip := range policies() {
		ctx, cancel := context.WithCancel(t.Context())
		net := &cancelling{centre: newCentre(2), cancel: cancel}
		trainer, ledger := newTrainer(t, with(clip, 1, 4), net, 1e4)
		data := table(t, 50, 2, 3)
		for _, err := range trainer.Steps(ctx, data) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if e := ledger.Entries()[0]; e.Spent != 1 || net.params.Flat.Data[0] != 0 {
			t.Errorf("%s: ledger %+v and parameters %v after a cancelled step", name, e, net.params.Flat.Data)
		}
		for _, err := range trainer.Steps(t.Context(), data) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestNothingHappensBeforeTheReservation(t *testing.T) {
	net := newCentre(2)
	cfg := with(nil, 0.5, 1000)
	trainer, ledger := newTrainer(t, cfg, net, 0.01)
	for _, err := range trainer.Steps(t.Context(), table(t, 50, 2, 0)) {
		if !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("over budget: %v", err)
		}
	}
	if len(ledger.Entries()) != 0 || net.peak != 0 || net.begun != 0 {
		t.Error("a refused run read records or wrote to the ledger")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	trainer, ledger = newTrainer(t, with(nil, 0.5, 3), net, 1e4)
	for _, err := range trainer.Steps(ctx, table(t, 50, 2, 0)) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	for _, err := range trainer.Steps(t.Context(), table(t, 50, 3, 0)) {
		var p *param.Error
		if !errors.As(err, &p) {
			t.Errorf("records of another dimension: %v", err)
		}
	}
	for _, err := range trainer.Steps(t.Context(), nil) {
		if err == nil {
			t.Error("no records at all are accepted")
		}
	}
	if len(ledger.Entries()) != 0 {
		t.Error("a failed start spent something")
	}
}

func TestOneLoopAtATime(t *testing.T) {
	data := table(t, 50, 2, 0)
	trainer, _ := newTrainer(t, with(nil, 0.5, 30), newCentre(2), 1e4)
	refused, copied := 0, *trainer // a copy has the same memory for the records of a step
	for range trainer.Steps(t.Context(), data) {
		for _, inner := range []*sgd.Trainer{trainer, &copied} {
			for _, err := range inner.Steps(t.Context(), data) {
				if refused++; !errors.Is(err, sgd.ErrBusy) {
					t.Errorf("a loop inside a loop: %v", err)
				}
			}
		}
		break
	}
	if refused != 2 {
		t.Errorf("two loops inside a loop have %d steps, want an error each", refused)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]bool{}
	for range 4 {
		wg.Go(func() {
			for step, err := range trainer.Steps(t.Context(), data) {
				if errors.Is(err, sgd.ErrBusy) || errors.Is(err, ledger.ErrReservationExhausted) {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if seen[step.Number] {
					t.Errorf("step %d was taken twice", step.Number)
				}
				seen[step.Number] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// TestConcurrentTrainersShareALedger: several trainers on one ledger, each with its own network,
// run concurrently.
func TestConcurrentTrainersShareALedger(t *testing.T) {
	l := ledger.New(budget(1e4))
	data := table(t, 200, 40, 0)
	var wg sync.WaitGroup
	for range 3 {
		trainer := must(sgd.New(with(policies()["dpnorm"], 0.3, 5), newCentre(40), l,
			sgd.WithAverage(0.9)))(t)
		wg.Go(func() {
			for _, err := range trainer.Steps(t.Context(), data) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	spent := 0
	for _, e := range l.Entries() {
		spent += e.Spent
	}
	if spent != 15 {
		t.Errorf("%d events on the ledger, want 15", spent)
	}
}

// segmented is a centre whose parameters consist of segments with different divisors.
type segmented struct {
	*centre
	list []sgd.Segment
}

func (s segmented) Segments() []sgd.Segment { return s.list }

func TestSegmentsDivideByTheirOwnNumbers(t *testing.T) {
	const dim = 20000 // several chunks, the boundary inside one
	flat := make([]float32, dim)
	for i := range flat {
		flat[i] = 1
	}
	cfg := sgd.Config{ClipNorm: 200, SamplingProbability: 1, Steps: 1, NoiseMultiplier: 1e-9,
		Optimizer: sgd.SGD(1)}
	net := segmented{newCentre(dim),
		[]sgd.Segment{{Params: 9000, NominalBatch: 2}, {Params: 11000, NominalBatch: 5}}}
	s := &recorder{}
	b := accountant.Budget{Epsilon: 1e30, Delta: 1e-5}
	trainer := must(sgd.New(cfg, net, ledger.New(b)))(t)
	for _, err := range trainer.Steps(s.context(t.Context()), fromFlat(t, dim, flat)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range net.params.Flat.Data {
		want := 0.5
		if i >= 9000 {
			want = 0.2
		}
		if math.Abs(float64(p)-want) > 1e-2 {
			t.Fatalf("parameter %d is %v, want %v", i, p, want)
		}
	}
	for _, list := range [][]sgd.Segment{nil, {{Params: 3, NominalBatch: 1}},
		{{Params: dim, NominalBatch: 0}}, {{Params: dim, NominalBatch: math.NaN()}},
		{{Params: -1, NominalBatch: 1}, {Params: dim + 1, NominalBatch: 1}}} {
		if _, err := sgd.New(cfg, segmented{newCentre(dim), list}, ledger.New(b)); err == nil {
			t.Errorf("segments %v are accepted", list)
		}
	}
}

func TestAverage(t *testing.T) {
	net := newCentre(3)
	trainer, _ := newTrainer(t, with(nil, 0.5, 60), net, 1e4, sgd.WithAverage(0.95))
	want := make([]float64, 3)
	for step, err := range trainer.Steps(t.Context(), table(t, 50, 3, 1)) {
		if err != nil {
			t.Fatal(err)
		}
		n := float64(step.Number)
		d := min(0.95, (1+n)/(10+n))
		for j := range want {
			want[j] = d*want[j] + (1-d)*float64(net.params.Flat.Data[j])
		}
	}
	trainer.UseAverage()
	for j := range want {
		if math.Abs(float64(net.params.Flat.Data[j])-want[j]) > 1e-5 {
			t.Errorf("coordinate %d: %v, want the average %v", j, net.params.Flat.Data[j], want[j])
		}
	}
}

func TestReplaceOneIsChargedOrRefused(t *testing.T) {
	for _, q := range []float64{1, 0.2} {
		l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5,
			Relation: accountant.ReplaceOne})
		trainer := must(sgd.New(with(nil, q, 3), newCentre(2), l))(t)
		steps := 0
		for _, err := range trainer.Steps(t.Context(), table(t, 30, 2, 0)) {
			if err != nil && !errors.Is(err, accountant.ErrUnsupported) {
				t.Errorf("q=%v: %v", q, err)
			}
			if err == nil {
				steps++
			}
		}
		if charged := l.Epsilon().Upper > 0; steps > 0 && !charged {
			t.Errorf("q=%v: %d steps were taken, and ε is 0", q, steps)
		}
	}
}
