package sgd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// smoothed is a classifier that is trained on smoothed labels. It embeds a classifier, and so has
// the Replica method of a classifier that is not.
type smoothed struct{ *models.Classifier }

func (s smoothed) Gradients(b device.Batch) models.Gradients {
	targets := device.HostMatrix(b.Rows, s.Classes(), make([]float32, b.Rows*s.Classes()))
	for i := range b.Rows {
		for k := range targets.Row(i) {
			targets.Row(i)[k] = 0.3
		}
		targets.Row(i)[b.Labels[i]] += 0.1
	}
	return s.GradientsSoft(b, targets)
}

// coarse is a backend that keeps its promises, with other products.
type coarse struct{ device.FixedSummer }

func (c coarse) Gemm(transA, transB bool, alpha float32, a, b device.Matrix, beta float32,
	dst device.Matrix) {
	c.FixedSummer.Gemm(transA, transB, alpha, a, b, beta, dst)
	for i := range dst.Rows {
		for k, v := range dst.Row(i) {
			dst.Row(i)[k] = math.Float32frombits(math.Float32bits(v) &^ 0x7fffff)
		}
	}
}

// TestRecordThatMakesACrew checks that a record moves the sum by at most the clip norm if, because
// of it, the sample is large enough for a crew: with networks that differ from their replicas, on
// another backend, and after a call of Bind.
func TestRecordThatMakesACrew(t *testing.T) {
	be := device.CPUWith(2)
	mlp := func(be device.Backend) (*models.Classifier, *records.Table) {
		net, data := divisible(t)["MLP"](be)
		return net.(*models.Classifier), data.(*records.Table)
	}
	for name, c := range map[string]struct {
		net  func() models.Network
		step func(net models.Network)
	}{
		"embedded": {net: func() models.Network { net, _ := mlp(be); return smoothed{net} }},
		"another backend": {net: func() models.Network {
			net, _ := mlp(coarse{be.(device.FixedSummer)})
			return net
		}},
		"bound": {net: func() models.Network { net, _ := mlp(be); return net },
			step: func(net models.Network) {
				net.(models.Binder).Bind(device.NewParams(be, net.Params().Shapes...))
			}},
	} {
		var sums [2][][]float64
		for i := range sums {
			_, data := mlp(be)
			cfg := with(nil, 1, 3)
			cfg.MicroBatch, cfg.NominalBatch = 1024, crewRows
			net := c.net()
			trainer, _ := newTrainer(t, cfg, net, 1e12, sgd.WithBackend(be))
			tap := &recorder{seed: 4, force: func(r *entropy.Release) {
				for i := range r.Outputs[0] {
					r.Outputs[0][i] = 100
				}
			}}
			rows := 2*sgd.LeastRows - 1 + i
			for _, err := range trainer.Steps(tap.context(t.Context()), data.Slice(0, rows)) {
				if err != nil {
					t.Fatal(err)
				}
				if c.step != nil {
					c.step(net)
				}
			}
			sums[i] = tap.sums
		}
		for step := range sums[0] {
			if d := distance(sums[0][step], sums[1][step]); d > 0.7 {
				t.Errorf("%s: one record moves the sum of step %d by %g, want at most 0.7", name, step, d)
			}
		}
	}
}

// fragile is a network whose first replica once panics after the second one has added its rows.
type fragile struct {
	models.Replicable
	number int
	state  *fragileState
}

type fragileState struct {
	made  int
	added chan struct{} // nil if nothing panics
	by    int           // number of the replica that panics
}

func (f *fragile) Replica(be device.Backend) models.Network {
	f.state.made++
	return &fragile{f.Replicable.Replica(be).(models.Replicable), f.state.made, f.state}
}

func (f *fragile) Gradients(b device.Batch) models.Gradients {
	return fragileGradients{f.Replicable.Gradients(b).(models.FixedGradients), f}
}

type fragileGradients struct {
	models.FixedGradients
	*fragile
}

func (g fragileGradients) AddFixedSum(dst device.Fixed, weights []float32) {
	added := g.state.added
	if added != nil && g.number == g.state.by {
		<-added
		g.state.added = nil
		panic("fragile")
	}
	g.FixedGradients.AddFixedSum(dst, weights)
	if added != nil {
		close(added)
	}
}

// TestPanicInACrew checks that nothing of a step that panicked is in the sum of the next step,
// whichever core's piece panicked.
func TestPanicInACrew(t *testing.T) {
	be := device.Divide(device.CPUWith(4), 2)[0] // two cores that no other test uses
	run := func(by int) (sums [][]float64, reason any) {
		net, data := divisible(t)["MLP"](be)
		f := &fragile{Replicable: net.(models.Replicable), state: &fragileState{}}
		cfg := with(nil, 1, 2)
		cfg.MicroBatch, cfg.NominalBatch = 1024, crewRows
		trainer, _ := newTrainer(t, cfg, f, 1e12, sgd.WithBackend(be))
		tap := &recorder{seed: 4}
		steps := func() {
			defer func() {
				if r := recover(); r != nil {
					reason = r
				}
			}()
			for _, err := range trainer.Steps(tap.context(t.Context()), data) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if by > 0 {
			f.state.by, f.state.added = by, make(chan struct{})
			steps()
		}
		steps()
		return tap.sums, reason
	}
	want, _ := run(0)
	for by := 1; by <= 2; by++ {
		got, reason := run(by)
		if reason != "fragile" || len(got) != 1 || !slices.Equal(got[0], want[0]) {
			t.Errorf("replica %d: panic %v and %d sums, or another sum than without a panic", by, reason,
				len(got))
		}
	}
}

// stateful is a network whose state its replicas would not share.
type stateful struct{ *fragile }

func (s stateful) Replica(be device.Backend) models.Network {
	return stateful{s.fragile.Replica(be).(*fragile)}
}
func (stateful) AppendState(dst []byte) []byte { return dst }
func (stateful) SetState([]byte) error         { return nil }

// TestStateHasNoCrew checks that one network computes all gradients if it has state.
func TestStateHasNoCrew(t *testing.T) {
	be := device.CPUWith(2)
	net, _ := divisible(t)["MLP"](be)
	f := &fragile{Replicable: net.(models.Replicable), state: &fragileState{}}
	for want, net := range map[int]models.Network{1: stateful{f}, 2: f} {
		trainer, _ := newTrainer(t, with(nil, 1, 1), net, 1e12, sgd.WithBackend(be))
		if got := trainer.Members(600); got != want {
			t.Errorf("%T: %d cores with their own rows, want %d", net, got, want)
		}
	}
}
