package sgd_test

import (
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// builtNetworks are networks of several kinds of layers, on records of 12 coordinates.
func builtNetworks(t *testing.T) map[string]func() *models.Classifier {
	t.Helper()
	list := map[string]func() *models.Classifier{}
	for name, compute := range map[string]func(x models.Value) models.Loss{
		"convolutional": func(x models.Value) models.Loss {
			h := x.Shape(3, 4, 1).Conv(models.Convolution{Maps: 3, Size: 2}).Apply(device.ReLU)
			return h.Shape(1, 1, 18).Dense(4).Likelihood(models.GaussianUnit, x.Columns(0, 4))
		},
		"recurrent": func(x models.Value) models.Loss {
			h := x.Shape(1, 4, 3).LSTM(3)
			return h.Mean().Dense(12).Likelihood(models.GaussianUnit, x)
		},
		"embedding": func(x models.Value) models.Loss {
			return x.Embed(4, 3).Mean().Dense(12).Likelihood(models.GaussianUnit, x)
		},
	} {
		list[name] = func() *models.Classifier {
			net, err := models.Build(device.CPU(), 12, 1, compute)
			if err != nil {
				t.Fatal(err)
			}
			return net
		}
	}
	return list
}

// TestBuiltNetworksTrain: for every policy, groups and persons among them, the size of
// micro-batches does not change the bits of a built network's parameters. So sums are exact, and a
// gradient does not depend on its batch.
func TestBuiltNetworksTrain(t *testing.T) {
	data := table(t, 40, 12, 1)
	for name, net := range builtNetworks(t) {
		clips := policies()
		byBlock := sgd.Groups{}
		for i := range net().Params().Blocks() {
			byBlock.List = append(byBlock.List, sgd.Group{Blocks: []int{i}, ClipNorm: .2})
		}
		clips["groups"] = byBlock
		for policy, clip := range clips {
			run := func(size int, data records.Data, opts ...sgd.Option) []float32 {
				cfg, n := with(clip, .7, 2), net()
				cfg.MicroBatch = size
				trainer, _ := newTrainer(t, cfg, n, 1e12, opts...)
				s := &recorder{seed: 3}
				for _, err := range trainer.Steps(s.context(t.Context()), data) {
					if err != nil {
						t.Fatal(err)
					}
				}
				return slices.Clone(n.Params().Flat.Data)
			}
			whole := run(64, data)
			if !slices.Equal(whole, run(5, data)) {
				t.Errorf("%s, %s: micro-batches change the parameters", name, policy)
			}
			if slices.Equal(whole, net().Params().Flat.Data) {
				t.Errorf("%s, %s: nothing is trained", name, policy)
			}
			byPerson := run(64, data, sgd.WithPersons())
			for i, v := range byPerson {
				if d := v - whole[i]; !(d*d < 1e-3) {
					t.Errorf("%s, %s: records summed one by one give parameter %d as %v, want about %v", name,
						policy, i, v, whole[i])
					break
				}
			}
		}
	}
}
