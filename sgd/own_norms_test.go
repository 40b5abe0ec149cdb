package sgd_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// modest is a network that reports a norm of zero for every gradient.
type modest struct{ *centre }

func (m modest) Gradients(b device.Batch) models.Gradients {
	return modestGradients{m.centre.Gradients(b)}
}

type modestGradients struct{ models.Gradients }

func (modestGradients) SquaredNorms(dst []float64) { clear(dst) }

// modestBlocks reports a norm of zero for every block of a critic's gradients.
type modestBlocks struct{ linear }

func (m modestBlocks) Gradients(b device.Batch) models.Gradients {
	return modestBlockGradients{m.linear.Gradients(b).(models.BlockGradients)}
}

type modestBlockGradients struct{ models.BlockGradients }

func (modestBlockGradients) SquaredNorms(dst []float64) { clear(dst) }
func (modestBlockGradients) BlockSquaredNorms(dst [][]float64) {
	for _, block := range dst {
		clear(block)
	}
}

// TestRowsAreClippedByTheirOwnNorms: the gradient of each row of a user-defined network is clipped
// by its measured norm, even if the network reports a smaller norm.
func TestRowsAreClippedByTheirOwnNorms(t *testing.T) {
	data := hostile(t, 0, 0, -1) // three records of norm 1e6
	groups := sgd.Groups{List: []sgd.Group{{Blocks: []int{0}, ClipNorm: .6},
		{Blocks: []int{1}, ClipNorm: .3}}}
	for name, c := range map[string]struct {
		net  models.Network
		clip sgd.Clip
	}{
		"whole":  {modest{newCentre(2)}, nil},
		"groups": {modestBlocks{newLinear(t, undeclared{device.CPU()})}, groups},
	} {
		cfg := with(c.clip, 1, 1)
		cfg.MicroBatch = 0
		for _, r := range observe(t, cfg, accountant.AddOrRemoveOne, c.net, data).releases {
			if r.Mechanism != "Gaussian gradient" {
				continue
			}
			most := 3 * r.Std[0] / cfg.NoiseMultiplier
			if n := norm(r.Inputs[0]); n > most {
				t.Errorf("%s: the sum of three records has norm %v, want at most %v", name, n, most)
			} else if n == 0 {
				t.Errorf("%s: no record is in the sum: the test has no power", name)
			}
		}
	}
}

// TestCarriedSumsAreOfOneStep: before the sum of a step could overflow, it is carried over to
// float64 numbers. These numbers are not part of the next step's sum.
func TestCarriedSumsAreOfOneStep(t *testing.T) {
	const n = 70000
	flat := make([]float32, 2*n)
	for i := range n {
		flat[2*i] = -1e6
	}
	data := must(records.FromFlat(records.Interval(2, -1e6, 1e6), flat))(t)
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 1, Steps: 3, NoiseMultiplier: 1,
		NominalBatch: 1, Optimizer: sgd.SGD(1e-12)}
	sums := observe(t, cfg, accountant.AddOrRemoveOne, newLinear(t, device.CPU()), data).sums
	if len(sums) != 3 || sums[0][0] == 0 {
		t.Fatalf("got %d sums %v, want 3, the first not zero", len(sums), sums)
	}
	for step, sum := range sums {
		for k, x := range sums[0] {
			if sum[k] != x {
				t.Errorf("coordinate %d of the sum is %[3]v in step %[2]d and %[4]v in the first step", k, step+1,
					sum[k], x)
			}
		}
	}
}
