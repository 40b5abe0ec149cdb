package models

import (
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// vectorCritic is a critic for vectors and tables.
var vectorCritic = MLP{Hidden: []int{128, 64}, Activation: LeakyReLU}

// BenchmarkCriticStep compares steps of critics with and without the computation of norms for
// clipping. Neither step includes noise or an optimiser.
func BenchmarkCriticStep(b *testing.B) {
	smooth := vectorCritic
	smooth.Activation = Softplus
	for name, c := range map[string]criticCase{
		"vector":          {vectorCritic, 100, 0},
		"vector/softplus": {smooth, 100, 0},
		"small":           {Critic28(16), 784, 0},
		"paper":           {Critic28(64), 784, 0},
	} {
		n := newPaired(b, c)
		rows := 64
		batch := criticBatch(rand.New(rand.NewPCG(1, 1)), rows, c.dim, 0)
		fakes := device.CPU().New(rows, c.dim)
		mix, weights, norms := make([]float32, rows), make([]float32, rows), make([]float64, rows)
		for i := range mix {
			mix[i], weights[i] = rand.Float32(), 1
		}
		sum := device.NewParams(device.CPU(), n.Params().Shapes...)
		for _, private := range []bool{false, true} {
			kind := name + "/plain"
			if private {
				kind = name + "/clipped"
			}
			b.Run(kind, func(b *testing.B) {
				for b.Loop() {
					g := n.PairGradients(batch, fakes, mix, 10)
					if private {
						g.SquaredNorms(norms)
					}
					g.AddWeightedSum(sum, weights)
				}
			})
		}
	}
}
