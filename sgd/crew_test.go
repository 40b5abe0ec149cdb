package sgd_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// crewRows is the size of the samples of these tests. Three cores take their own rows.
const crewRows = 301

// divisible are networks that can be divided among cores, with records for them.
func divisible(t *testing.T) map[string]func(be device.Backend) (models.Network, records.Data) {
	t.Helper()
	flat, labels := make([]float32, crewRows*36), make([]int32, crewRows)
	for i := range flat {
		flat[i] = float32(math.Abs(math.Sin(float64(i * i))))
	}
	sets := make([][]uint32, crewRows)
	for i := range sets {
		labels[i] = int32(i % 3)
		for k := range i % 4 {
			sets[i] = append(sets[i], uint32((i*7+k*5)%36))
		}
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
	}
	dense := must(records.FromFlat(records.Interval(36, 0, 1).WithLabels("a", "b", "c"), flat,
		labels...))(t)
	sparse := must(records.FromItems(records.Sets(36, 4), sets))(t)
	network := func(net models.Network, err error) models.Network {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return net
	}
	return map[string]func(be device.Backend) (models.Network, records.Data){
		"VAE": func(be device.Backend) (models.Network, records.Data) {
			return network(models.VAE{Hidden: []int{40}, Latent: 2}.New(be,
				models.Visible{Dim: 36}, 1)), dense
		},
		"VAE of sets": func(be device.Backend) (models.Network, records.Data) {
			return network(models.VAE{Hidden: []int{40}, Latent: 2}.New(be,
				models.Visible{Dim: 36, Sparse: true}, 1)), sparse
		},
		"MLP": func(be device.Backend) (models.Network, records.Data) {
			return network(models.MLP{Hidden: []int{20}}.Classifier(be, 36, 3, 1)), dense
		},
		"MLP of two pieces": func(be device.Backend) (models.Network, records.Data) {
			return network(models.MLP{Hidden: []int{220}}.Classifier(be, 36, 3, 1)), dense
		},
		"recurrent network": func(be device.Backend) (models.Network, records.Data) {
			return network(models.Build(be, 36, 1, func(x models.Value) models.Loss {
				return x.Shape(1, 6, 6).GRU(5).Mean().Dense(3).CrossEntropy()
			})), dense
		},
		"embedding of sets": func(be device.Backend) (models.Network, records.Data) {
			return network(models.Build(be, 36, 1, func(x models.Value) models.Loss {
				h := x.Dense(6).Apply(device.Tanh).Dense(6)
				return h.Like(h).Plus(h).Dense(2).Latent(1).Dense(36).Likelihood(models.Bernoulli, x)
			})), sparse
		},
		"CNN": func(be device.Backend) (models.Network, records.Data) {
			return network(models.CNN{Height: 6, Width: 6, Channels: 1,
				Convolutions: []models.Convolution{{Maps: 4, Size: 3}}}.Classifier(be, 36, 3, 1)), dense
		},
	}
}

// TestCrewChangesNothing checks that cores with their own rows give the same bits as one network,
// for every policy: released sums, parameters and clip norms.
func TestCrewChangesNothing(t *testing.T) {
	for name, make := range divisible(t) {
		for policy, clip := range policies() {
			run := func(workers int) (*recorder, []float32, []string) {
				be := device.CPUWith(workers)
				net, data := make(be)
				cfg := with(clip, 1, 3)
				cfg.MicroBatch, cfg.NominalBatch = 1024, crewRows
				trainer, _ := newTrainer(t, cfg, net, 1e12, sgd.WithBackend(be))
				if got := trainer.Members(crewRows); got != workers {
					t.Fatalf("%s on %d cores: %d cores have their own rows", name, workers, got)
				}
				tap := &recorder{seed: 4}
				var steps []string
				for step, err := range trainer.Steps(tap.context(t.Context()), data) {
					if err != nil {
						t.Fatal(err)
					}
					steps = append(steps, fmt.Sprintf("clip norm %v", step.ClipNorm))
				}
				return tap, net.Params().Flat.Data, steps
			}
			one, params, steps := run(1)
			for workers := 2; workers <= 3; workers++ {
				tap, got, others := run(workers)
				if !slices.Equal(got, params) || !slices.Equal(others, steps) {
					t.Errorf("%s, %s, %d cores: other parameters, or steps %q, want %q", name, policy, workers,
						others, steps)
				}
				if len(tap.sums) != len(one.sums) {
					t.Fatalf("%s, %s, %d cores: %d sums, want %d", name, policy, workers, len(tap.sums),
						len(one.sums))
				}
				for i := range tap.sums {
					if !slices.Equal(tap.sums[i], one.sums[i]) {
						t.Errorf("%s, %s, %d cores: another sum in step %d", name, policy, workers, i)
					}
				}
			}
		}
	}
}

// TestSmallBatchesHaveNoCrew checks that cores share the operations of one network if each would
// get only a few rows.
func TestSmallBatchesHaveNoCrew(t *testing.T) {
	be := device.CPUWith(2)
	net, _ := divisible(t)["MLP"](be)
	trainer, _ := newTrainer(t, with(nil, 1, 1), net, 1e12, sgd.WithBackend(be))
	if a, b := trainer.Members(64), trainer.Members(600); a != 1 || b != 2 {
		t.Errorf("batches of 64 and 600: %d and %d cores with their own rows, want 1 and 2", a, b)
	}
}
