package rff_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// TestRetrace compares Retrace with Backward for pull + own·φ, where own is −3. Both must give the
// same derivative, because features have a constant norm. The features of all stretches together
// must be the features of Transform.
func TestRetrace(t *testing.T) {
	const rows, each, in = 12, 4, 20
	for _, dim := range []int{300, 2700} {
		for _, workers := range []int{1, 2} {
			be, rng := device.CPUWith(workers), rand.New(rand.NewPCG(5, 6))
			e := must(rff.RBF{Dim: dim, Bandwidth: 0.7}.Embedding(rff.Layout{In: in}, 1))(t)
			draw := func(rows, cols int) device.Matrix {
				m := be.New(rows, cols)
				for i := range m.Data {
					m.Data[i] = float32(rng.NormFloat64())
				}
				return m
			}
			x, pulls := draw(rows, in), draw(rows/each, dim)
			features := be.New(rows, dim)
			e.Transform(be, device.Batch{Rows: rows, Dense: x}, features)
			delta, want, got := be.New(rows, dim), be.New(rows, in), draw(rows, in)
			for i := range rows {
				for k, v := range features.Row(i) {
					delta.Row(i)[k] = pulls.Row(i / each)[k] - 3*v
				}
			}
			e.Backward(be, x, delta, want)
			r := e.(rff.RetracingEmbedding)
			stretches, total := r.Stretches(be), 0
			for i, b := range stretches {
				total += b.Dim()
				traced, pull := be.New(rows, b.Dim()), be.New(rows/each, b.Dim())
				for k := range pull.Rows {
					copy(pull.Row(k), b.Select(nil, pulls.Row(k)))
				}
				r.Trace(be, b, x, traced)
				for k := range rows {
					if !slices.Equal(traced.Row(k), b.Select(nil, features.Row(k))) {
						t.Fatalf("stretch %d of %d features: row %d differs from Transform", i, dim, k)
					}
				}
				r.Retrace(be, b, traced, pull, each, float32(min(i, 1)), got)
			}
			if total != dim || (dim > 2000) != (len(stretches) > 1) {
				t.Fatalf("%d stretches have %d features together, want %d", len(stretches), total, dim)
			}
			for i, v := range want.Data {
				if math.Abs(float64(v-got.Data[i])) > 1e-5 {
					t.Fatalf("derivative %d is %v, want %v as by Backward", i, got.Data[i], v)
				}
			}
		}
	}
}

// TestRetraceOfPhases checks that maps with phases have no stretches. Their features do not have a
// constant norm.
func TestRetraceOfPhases(t *testing.T) {
	e := must(rff.RBF{Dim: 10, Bandwidth: 1, Phase: true}.Embedding(rff.Layout{In: 3}, 1))(t)
	if b := e.(rff.RetracingEmbedding).Stretches(device.CPUWith(1)); b != nil {
		t.Errorf("a map with phases has the stretches %v, want none", b)
	}
}
