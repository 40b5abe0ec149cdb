package rff_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// TestRetrace compares Retrace with Backward for pull + own·φ, where own is −3. Both must give the
// same derivative, because features have a constant norm.
func TestRetrace(t *testing.T) {
	const rows, each, dim, in = 12, 4, 300, 20
	for _, workers := range []int{1, 2} {
		be, rng := device.CPUWith(workers), rand.New(rand.NewPCG(5, 6))
		e, err := rff.RBF{Dim: dim, Bandwidth: 0.7}.Embedding(rff.Layout{In: in}, 1)
		if err != nil {
			t.Fatal(err)
		}
		draw := func(rows, cols int) device.Matrix {
			m := be.New(rows, cols)
			for i := range m.Data {
				m.Data[i] = float32(rng.NormFloat64())
			}
			return m
		}
		x, pulls := draw(rows, in), draw(rows/each, dim)
		features, traced := be.New(rows, dim), be.New(rows, dim)
		e.Transform(be, device.Batch{Rows: rows, Dense: x}, features)
		r := e.(rff.RetracingEmbedding)
		r.Trace(be, x, traced)
		for i, v := range traced.Data {
			if v != features.Data[i] {
				t.Fatalf("feature %d is %v, want %v as by Transform", i, v, features.Data[i])
			}
		}
		delta, want, got := be.New(rows, dim), be.New(rows, in), be.New(rows, in)
		for i := range rows {
			for k, v := range features.Row(i) {
				delta.Row(i)[k] = pulls.Row(i / each)[k] - 3*v
			}
		}
		e.Backward(be, x, delta, want)
		if !r.Retrace(be, traced, pulls, each, got) {
			t.Fatal("Retrace returns false on the CPU, want true")
		}
		for i, v := range want.Data {
			if math.Abs(float64(v-got.Data[i])) > 1e-5 {
				t.Fatalf("derivative %d is %v, want %v as by Backward", i, got.Data[i], v)
			}
		}
	}
}

// TestRetraceOfPhases checks that Retrace returns false for maps with phases. Their features do not
// have a constant norm.
func TestRetraceOfPhases(t *testing.T) {
	be := device.CPUWith(1)
	e, err := rff.RBF{Dim: 10, Bandwidth: 1, Phase: true}.Embedding(rff.Layout{In: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e.(rff.RetracingEmbedding).Retrace(be, be.New(2, 10), be.New(1, 10), 2, be.New(2, 3)) {
		t.Error("Retrace returns true for a map with phases, want false")
	}
}
