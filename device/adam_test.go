package device

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAdamOfSum compares a step for a sum in float64 with a step for the scaled and rounded sum.
// Both must have the same bits, at every level and for every length.
func TestAdamOfSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	rates := AdamStep{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: 3}.rates()
	for _, k := range available() {
		for n := range 70 {
			g, narrow := make([]float64, n), make([]float32, n)
			const scale = 1.0 / 601
			for i := range g {
				g[i] = rng.NormFloat64() * math.Exp(8*rng.NormFloat64())
				narrow[i] = float32(scale * g[i])
			}
			p, m, v := normals(rng, n), normals(rng, n), make([]float32, n)
			q, mq, vq := clone(p), clone(m), clone(v)
			k.adamOfSum(p, g, m, v, &rates, scale)
			k.adam(q, narrow, mq, vq, &rates, 1)
			sameBits(t, k.name+": parameters", p, q)
			sameBits(t, k.name+": means", m, mq)
			sameBits(t, k.name+": squares", v, vq)
		}
	}
}

// TestAdamScales checks that scaling the gradient inside the step gives the same bits as scaling it
// before.
func TestAdamScales(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	rates := AdamStep{LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: 3}.rates()
	for _, k := range available() {
		for n := range 40 {
			const scale = float32(1.0 / 601)
			g, p, m, v := normals(rng, n), normals(rng, n), normals(rng, n), make([]float32, n)
			scaled, q, mq, vq := clone(g), clone(p), clone(m), clone(v)
			for i := range scaled {
				scaled[i] *= scale
			}
			k.adam(p, g, m, v, &rates, scale)
			k.adam(q, scaled, mq, vq, &rates, 1)
			sameBits(t, k.name, p, q)
		}
	}
}

func TestAdamRefusesLengths(t *testing.T) {
	a := NewAdam(AdamStep{LR: 1, T: 1, Eps: 1})
	three := make([]float32, 3)
	for name, call := range map[string]func(){
		"gradient": func() { a.Move(three, three[:2], three, three, 1) },
		"sum":      func() { a.MoveSum(three, make([]float64, 4), three, three, 1) },
		"moments":  func() { a.Move(three, three, three[:1], three, 1) },
		"step":     func() { NewAdam(AdamStep{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

func normals(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func clone(x []float32) []float32 { return append([]float32(nil), x...) }

func sameBits(t *testing.T, what string, a, b []float32) {
	t.Helper()
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			t.Fatalf("%s: %d of %d is %v, want %v", what, i, len(a), a[i], b[i])
		}
	}
}
