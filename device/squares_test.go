//go:build linux

package device

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSquaresOfTwo checks that the norms of two rows computed together have the same bits as the
// norms of the single rows, for every length. So the norm of a row does not depend on the row's
// position in a batch.
func TestSquaresOfTwo(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	for _, k := range available() {
		if k.squaresOfTwo == nil {
			continue
		}
		for n := range 100 {
			g := &guarded{t: t}
			a, b := g.floats(rng, n), g.floats(rng, n)
			for i := range a {
				a[i] *= float32(math.Exp(10 * rng.NormFloat64()))
			}
			x, y := k.squaresOfTwo(a, b)
			if wx, wy := k.dot(a, a), k.dot(b, b); x != wx || y != wy {
				t.Errorf("%s, %d numbers: %v and %v, want %v and %v", k.name, n, x, y, wx, wy)
			}
			g.free()
		}
	}
}

// TestEveryLevelHasTheSameNorms checks that vectors of eight and of sixteen numbers are added up in
// the same order.
func TestEveryLevelHasTheSameNorms(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	levels := available()
	if len(levels) < 3 {
		t.Skip("the machine has at most one level of vector instructions")
	}
	for rows := range 6 {
		m := HostMatrix(rows, 203, normals(rng, rows*203))
		want, got := make([]float64, rows), make([]float64, rows)
		newCPU(1, levels[1]).RowSquaredNorms(want, m)
		newCPU(1, levels[2]).RowSquaredNorms(got, m)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("row %d of %d: %v, want %v", i, rows, got[i], want[i])
			}
		}
	}
}
