package models

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

func newTestClassifier(t *testing.T, a MLP, in, classes int) *Classifier {
	t.Helper()
	n := must(a.Classifier(device.CPU(), in, classes, 31))(t)
	perturb(n, rand.New(rand.NewPCG(1, 2)), 0.1)
	return n
}

// softNetwork trains on fixed soft targets; a record's Index selects its row of targets.
type softNetwork struct {
	*Classifier
	targets device.Matrix
}

func (s softNetwork) Gradients(b device.Batch) Gradients {
	t := device.CPU().New(b.Rows, s.Classes())
	for i := range b.Rows {
		copy(t.Row(i), s.targets.Row(int(b.Index[i])))
	}
	return s.GradientsSoft(b, t)
}

func crossEntropy64(p []float64, widths []int, f Activation, x []float32,
	target []float32) float64 {
	in := make([]float64, len(x))
	for j, v := range x {
		in[j] = float64(v)
	}
	out := stack64(p, 0, widths, f, in)
	norm := 0.0
	for _, o := range out {
		norm += math.Exp(o)
	}
	loss := 0.0
	for j, o := range out {
		loss -= float64(target[j]) * (o - math.Log(norm))
	}
	return loss
}

func TestClassifierGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, a := range []MLP{{}, {Hidden: []int{7}, Activation: Tanh}, {Hidden: []int{6, 5}}} {
		n := newTestClassifier(t, a, 9, 4)
		widths := append(append([]int{9}, a.Hidden...), 4)
		b := binaryBatch(rng, 10, 9, 0.4)
		hard, soft := device.CPU().New(10, 4), device.CPU().New(10, 4)
		for i := range b.Rows {
			b.Labels = append(b.Labels, int32(rng.IntN(4)))
			hard.Row(i)[b.Labels[i]] = 1
			for j := range 4 {
				soft.Row(i)[j] = float32(rng.Float64())
			}
			device.CPU().ScaleRows(soft.RowRange(i, i+1), []float32{1 / float32(4*mean(soft.Row(i)))})
		}
		rows := rowsOf(b)
		checkDerivative(t, n, b, func(p []float64, i int) float64 {
			return crossEntropy64(p, widths, a.Activation, rows[i], hard.Row(i))
		})
		s := softNetwork{n, soft}
		checkDerivative(t, s, b, func(p []float64, i int) float64 {
			return crossEntropy64(p, widths, a.Activation, rows[i], soft.Row(i))
		})
		checkFactored(t, s, b, 0)
		checkFactored(t, n, b, 0)
		checkFactored(t, n, sparsify(b), 0)
		checkEmpty(t, n, 9)
		losses := make([]float64, 10)
		n.Gradients(b).(interface{ Losses([]float64) }).Losses(losses)
		p := make([]float64, n.Params().Len())
		for j, x := range n.Params().Flat.Data {
			p[j] = float64(x)
		}
		for i, l := range losses {
			if want := crossEntropy64(p, widths, a.Activation, rows[i], hard.Row(i)); math.Abs(l-want) >
				1e-5*(1+want) {
				t.Errorf("loss %v, want %v", l, want)
			}
		}
		checkTotal(t, n, b)
	}
}

// TestClassifierIgnoresUnknownLabels: a label outside the schema does not make a fit fail.
func TestClassifierIgnoresUnknownLabels(t *testing.T) {
	n := newTestClassifier(t, MLP{Hidden: []int{5}}, 6, 3)
	b := binaryBatch(rand.New(rand.NewPCG(3, 2)), 4, 6, 0.5)
	b.Labels = []int32{-1, 3, 1, 1 << 30}
	norms := make([]float64, 4)
	n.Gradients(b).SquaredNorms(norms)
	if norms[0] != 0 || norms[1] != 0 || norms[2] == 0 || norms[3] != 0 {
		t.Errorf("squared norms %v, want zero except for the third record", norms)
	}
	b.Labels = nil
	n.Gradients(b).SquaredNorms(norms)
	if norms[2] != 0 {
		t.Errorf("squared norms without labels are %v, want zeros", norms)
	}
}

func TestClassifierLearnsXor(t *testing.T) {
	n := must(MLP{Hidden: []int{16}, Activation: Tanh}.Classifier(device.CPU(), 2, 2, 7))(t)
	b := device.Batch{Rows: 4, Dense: device.HostMatrix(4, 2, []float32{0, 0, 0, 1, 1, 0, 1, 1}),
		Labels: []int32{0, 1, 1, 0}}
	w := []float32{-.5, -.5, -.5, -.5}
	for range 500 {
		n.Gradients(b).AddWeightedSum(n.Params(), w)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got := make([]int32, 4)
			n.PredictClass(b, got)
			for i := range got {
				if got[i] != b.Labels[i] {
					t.Errorf("record %d: class %d, want %d", i, got[i], b.Labels[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestClassifierConfig(t *testing.T) {
	_, err := MLP{Hidden: []int{0}, Activation: -1}.Classifier(device.CPU(), 0, -1, 0)
	for _, path := range []string{"models.MLP.Hidden[0]", "models.MLP.Activation",
		"models.MLP.Classifier: in", "models.MLP.Classifier: classes"} {
		if !names(err, path) {
			t.Errorf("%s is not reported: %v", path, err)
		}
	}
}
