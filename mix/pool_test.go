package mix

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestClassesWithoutRowsAreLeftOut: the covariance that classes share is that of the classes with
// rows, whatever the others have; without any it is the noise.
func TestClassesWithoutRowsAreLeftOut(t *testing.T) {
	const noise, average = 0.5, 3.0
	one, two := mat.NewSymDense(2, []float64{3, 1, 1, 2}), mat.NewSymDense(2, []float64{4, -1, -1, 6})
	junk := mat.NewSymDense(2, []float64{9, 8, 8, 9})
	want := pool([]*mat.SymDense{one, two}, []int{5, 7}, []float64{2, 4}, noise, average)
	got := pool([]*mat.SymDense{junk, one, junk, two}, []int{0, 5, 0, 7}, []float64{1, 2, 1, 4}, noise,
		average)
	if !mat.EqualApprox(got, want, 1e-12) {
		t.Errorf("got %v, want %v", mat.Formatted(got), mat.Formatted(want))
	}
	none := pool([]*mat.SymDense{junk}, []int{0}, []float64{1}, noise, average)
	if !mat.EqualApprox(none, mat.NewSymDense(2, []float64{noise, 0, 0, noise}), 1e-12) {
		t.Errorf("without rows: %v", mat.Formatted(none))
	}
}
