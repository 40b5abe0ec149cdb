package merf_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// learned returns a generator trained on records of drawTable, and these records.
func learned(t *testing.T) (*synth.Generator, *records.Frame) {
	t.Helper()
	data := drawTable(t, 4000, 2)
	c := small(data.Schema(), accountant.AddOrRemoveOne, rff.RBF{Dim: 600, Bandwidth: 1})
	// The noise has a fixed seed, because the test is about learning.
	e := must(mustPlan(t, c).Embed(privacytest.Seeded(t, context.Background(), 1),
		ledger.New(c.Budget), data))(t)
	m := must(merf.Train(context.Background(), e,
		merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{40}, BatchNorm: true}, Latent: 5,
			Steps: 400, Batch: 240, LR: 0.01, Seed: 1}))(t)
	return m, data
}

// TestGeneratorsLearnWhatWasReleased checks proportions of classes, proportions of levels within a
// class, means of numbers and fractions of missing values. The tolerances are several times the
// error of a typical run.
func TestGeneratorsLearnWhatWasReleased(t *testing.T) {
	m, data := learned(t)
	synthetic := collectAll(t, m, 6000, synth.Seed(4))
	if err := records.Check(synthetic); err != nil {
		t.Error(err)
	}
	for class := range 3 {
		real, made := statistics(data, class), statistics(synthetic, class)
		for name, want := range real {
			if got := made[name]; math.Abs(got-want) > 0.1 {
				t.Errorf("class %d, %s: got %.3f, want %.3f as in the data", class, name, got, want)
			}
		}
	}
}

func statistics(f *records.Frame, class int) map[string]float64 {
	s := map[string]float64{}
	n, numbers := 0.0, 0.0
	for i := range f.Len() {
		if f.Label(i) != class {
			continue
		}
		n++
		s["class colour"] += b2f(f.Value(i, 3) == []string{"red", "green", "blue"}[class])
		s["old"] += b2f(f.Value(i, 4) == "yes")
		s["size"] += float64(f.Level(i, 2)) / 2
		if x := f.Number(i, 0); math.IsNaN(x) {
			s["missing"]++
		} else {
			s["x"] += x / 4
			numbers++
		}
	}
	for _, name := range []string{"class colour", "old", "size", "missing"} {
		s[name] /= n
	}
	s["x"] /= numbers
	s["share"] = n / float64(f.Len())
	return s
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestEveryWayToTrain checks that training gives a model for records of every kind, also
// without a description of the networks.
func TestEveryWayToTrain(t *testing.T) {
	for i, s := range schemas(t) {
		c := small(s, accountant.AddOrRemoveOne, kernels()["rbf"])
		none := mustEmbed(t, mustPlan(t, c), empty(t, s))
		g := quick
		if i == 2 {
			g.Architecture = nil
			g.Steps = 1
		}
		m, err := merf.Train(context.Background(), none, g)
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		class := synth.OfClass(min(s.Classes()-1, 1))
		for _, opts := range [][]synth.DrawOption{{class}, {class, synth.Means()}} {
			drawn := must(m.Sample(context.Background(), 1100, opts...))(t)
			if err := records.Check(drawn); err != nil || drawn.Len() != 1100 {
				t.Errorf("%v: %d records: %v", drawn.Schema(), drawn.Len(), err)
			}
			if want := s.IsBinary() && len(opts) == 2; drawn.Schema().Equal(s) == want {
				t.Errorf("drawn records have schema %v, the training records %v", drawn.Schema(), s)
			}
		}
	}
}

func empty(t *testing.T, s records.Schema) records.Data {
	t.Helper()
	return must(records.Concat(s))(t)
}

// TestConvolutionalGenerator trains a convolutional generator of images and checks that images of
// another size are refused.
func TestConvolutionalGenerator(t *testing.T) {
	s := records.Image(4, 4).WithLabels("a", "b")
	g := quick
	g.Architecture = models.ConvDecoder{Height: 4, Width: 4, Channels: 1, Maps: []int{4}, Size: 3,
		BatchNorm: true}
	c := small(s, accountant.ReplaceOne, kernels()["rbf"])
	e := mustEmbed(t, mustPlan(t, c), empty(t, s))
	if _, err := merf.Train(context.Background(), e, g); err != nil {
		t.Fatal(err)
	}
	g.Architecture = models.ConvDecoder{Height: 8, Width: 8, Channels: 1, Maps: []int{4}, Size: 3}
	var param *param.Error
	if _, err := merf.Train(context.Background(), e, g); !errors.As(err, &param) {
		t.Errorf("images of another size: got %v, want *param.Error", err)
	}
	if c.Generator = g; second(c.Plan()) == nil {
		t.Error("Plan accepts a generator of images of another size")
	}
}

// TestDrawsAreSafeForConcurrentUse checks that concurrent draws with the same seed give the same
// records.
func TestDrawsAreSafeForConcurrentUse(t *testing.T) {
	m := trained(t, quick)
	want := text(t, collectAll(t, m, 2000, synth.Seed(1)))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			drawn, err := m.Sample(context.Background(), 2000, synth.Seed(1))
			if err != nil || text(t, drawn.(*records.Frame)) != want {
				t.Errorf("a concurrent draw gives other records, or error %v", err)
			}
		})
	}
	group.Wait()
}

// TestLabelsFollowTheRelease: classes are drawn by their noisy proportions.
func TestLabelsFollowTheRelease(t *testing.T) {
	third := []float64{1. / 3, 1. / 3, 1. / 3}
	if p := trained(t, quick).Model().(*merf.Model).Proportions(); reflect.DeepEqual(p, third) {
		t.Errorf("proportions %v, want the noisy ones", p)
	}
}

// TestTrainingStops checks that training stops when its context is cancelled.
func TestTrainingStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := synth.OnProgress(func(p synth.Progress) {
		if p.Step == 2 {
			cancel()
		}
		if p.Stage != merf.StageTrain || p.Step > 2 || p.Of != quick.Steps || !(p.Epsilon > 0) {
			t.Errorf("unexpected progress %+v", p)
		}
	})
	if _, err := merf.Train(ctx, embedded(t, 5), quick, stop); !errors.Is(err, context.Canceled) {
		t.Errorf("training with a cancelled context: got %v, want context.Canceled", err)
	}
}

func TestConfigMistakesAreToldTogether(t *testing.T) {
	g := merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{-1}}, Latent: -1, Steps: -1,
		Batch: -1, LR: math.NaN(), Decay: 2, Average: 1, Floor: -1}
	c := merf.Config{Schema: records.Binary(3),
		Budget:     accountant.Budget{Epsilon: -1, Delta: 2, Relation: accountant.ReplaceOne},
		CountShare: 1, NoiseMultiplier: math.Inf(1), Batches: merf.Batches{Probability: 2},
		Kernel: rff.RBF{}, Generator: merf.GeneratorConfig{Decay: 2}}
	for err, paths := range map[error][]string{
		g.Validate(): {"Hidden[0]", "Latent", "Steps", "Batch", "LR", "Decay", "Average", "Floor"},
		second(c.Plan()): {"Epsilon", "Delta", "CountShare", "NoiseMultiplier",
			"merf.Batches.Probability", "merf.Batches.Steps", "Nominal", "rff.RBF.Dim", "Decay"},
	} {
		for _, p := range paths {
			if err == nil || !strings.Contains(err.Error(), p) {
				t.Errorf("%s is not reported: %v", p, err)
			}
		}
	}
	add := small(records.Binary(3).WithLabels("a", "b"), accountant.AddOrRemoveOne, nil)
	add.Features, add.Kernel = 8, kernels()["rbf"]
	if _, err := add.Plan(); err == nil || !strings.Contains(err.Error(), "Features") {
		t.Errorf("Features are not reported: %v", err)
	}
	add.Nominal = -1
	if _, err := add.Plan(); err == nil || !strings.Contains(err.Error(), "Nominal") {
		t.Errorf("Nominal is not reported: %v", err)
	}
}

// TestKernelsBySchema checks that the schema determines the kernel if none is given. The plan must
// state this kernel.
func TestKernelsBySchema(t *testing.T) {
	for s, want := range map[*records.Schema]rff.EmbeddingKernel{
		ptr(table(t)): rff.Pairs{}, ptr(records.Image(3, 3)): rff.Rule(450, 9),
	} {
		p := mustPlan(t, small(*s, accountant.AddOrRemoveOne, nil))
		if got := p.Config.Kernel; !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got unexpected kernel %+v", *s, got)
		}
	}
	c := small(table(t), accountant.AddOrRemoveOne, nil)
	c.Features = 200
	want := rff.Rule(200, c.Schema.Dim())
	if p := mustPlan(t, c); p.Features() != 200 || !reflect.DeepEqual(p.Config.Kernel, want) {
		t.Errorf("got %d features of %+v, want 200 features of rff.Rule", p.Features(), p.Config.Kernel)
	}
}

func ptr[T any](v T) *T { return &v }
