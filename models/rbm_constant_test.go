package models

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestNormsAfterAnExampleThatIsNotFinite: an example that is not finite is cleared in the machine's
// scratch memory, but the constant unit next to it is not. Otherwise the norms of later examples in
// the same row would leave out the visible biases, and these examples would be clipped too little.
func TestNormsAfterAnExampleThatIsNotFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	g := must(RBM{Hidden: 4, Chains: 3, VisibleBias: -3}.New(device.CPU(), Visible{Dim: 9}, 1))(t)
	bad := binaryBatch(rng, 3, 9, 0.5)
	bad.Dense.Row(1)[2] = float32(math.NaN())
	grads := g.Gradients(bad)
	norms := make([]float64, 3)
	grads.SquaredNorms(norms)
	if !math.IsNaN(norms[1]) {
		t.Fatalf("a record with NaN has the squared norm %v, want NaN", norms[1])
	}
	grads.AddWeightedSum(device.NewParams(device.CPU(), g.Params().Shapes...), []float32{1, 0, 1})
	checkFactored(t, g, binaryBatch(rng, 3, 9, 0.5), 1e-3)
}
