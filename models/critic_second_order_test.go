package models

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// curvedCases are critics whose penalty has second derivatives.
func curvedCases() map[string]criticCase {
	cases := criticCases()
	for name, c := range cases {
		if n, err := c.arch.Critic(device.CPU(), c.dim, c.classes, 1); err != nil ||
			n.(*critic).pair.ofPair != 4 {
			delete(cases, name)
		}
	}
	return cases
}

// TestCriticParts: a critic has a fourth part if and only if it has second derivatives.
func TestCriticParts(t *testing.T) {
	curved := curvedCases()
	for name, c := range criticCases() {
		var f Activation
		switch a := c.arch.(type) {
		case MLP:
			f = a.Activation
		case CNN:
			f = a.Activation
		}
		_, has := curved[name]
		if want := f != ReLU && f != LeakyReLU; has != want {
			t.Errorf("%s: the critic has second derivatives: %v, want the opposite", name, has)
		}
	}
}

// contribution returns the block norms and the gradient of record i, computed within batch b.
func contribution(n paired, b device.Batch, i int) (norms []float64, gradient []float32) {
	g := n.Gradients(b).(BlockGradients)
	each := make([][]float64, n.Params().Blocks())
	for k := range each {
		each[k] = make([]float64, b.Rows)
	}
	g.BlockSquaredNorms(each)
	for k := range each {
		norms = append(norms, each[k][i])
	}
	weights := make([]float32, b.Rows)
	weights[i] = 1
	sum := device.NewParams(device.CPU(), n.Params().Shapes...)
	g.AddWeightedSum(sum, weights)
	return norms, sum.Flat.Data
}

// TestCriticOthersDoNotMatter: a record's norms and gradient have the same bits for all other
// records of a batch.
func TestCriticOthersDoNotMatter(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	fill := func(row []float32, v float32) {
		for j := range row {
			row[j] = v
		}
	}
	for name, c := range curvedCases() {
		n := newPaired(t, c)
		const rows, at = 9, 4
		b := criticBatch(rand.New(rand.NewPCG(6, 4)), rows, c.dim, c.classes)
		norms, gradient := contribution(n, b, at)
		for k, spoil := range []func(row []float32){
			func(row []float32) { fill(row, 0) },
			func(row []float32) { fill(row, 0.5) },
			func(row []float32) { fill(row, 1e30) },
			func(row []float32) { row[0] = -1e20 },
			func(row []float32) { row[1] = nan },
			func(row []float32) { row[0], row[1] = inf, -inf },
		} {
			for i := range rows {
				if i != at {
					spoil(b.Dense.Row(i))
				}
			}
			got, row := contribution(n, b, at)
			for j := range got {
				if got[j] != norms[j] {
					t.Fatalf("%s, change %d: block %d has norm %v, want %v", name, k, j, got[j], norms[j])
				}
			}
			for j := range row {
				if row[j] != gradient[j] {
					t.Fatalf("%s, change %d: coordinate %d is %v, want %v", name, k, j, row[j], gradient[j])
				}
			}
		}
	}
}

// TestCriticWithoutLabel: records with invalid labels have no gradient, even in critics with second
// derivatives.
func TestCriticWithoutLabel(t *testing.T) {
	for name, c := range curvedCases() {
		if c.classes == 0 {
			continue
		}
		n := newPaired(t, c)
		b := criticBatch(rand.New(rand.NewPCG(6, 8)), 3, c.dim, c.classes)
		b.Labels[0], b.Labels[1] = -1, int32(c.classes)
		for i := range 2 {
			norms, gradient := contribution(n, b, i)
			for _, v := range norms {
				if v > 1e-30 {
					t.Errorf("%s: a record without a valid label has norms %v, want zeros", name, norms)
				}
			}
			if squaredNorm(gradient) != 0 {
				t.Errorf("%s: a record without a valid label has a gradient", name)
			}
		}
	}
}
