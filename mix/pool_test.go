package mix

import (
	"math"
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

// TestMeansFollowTheMorePrecise: the mean record of a class is the released centre if its mixtures
// are few and noisy, that of the mixtures if they are many, and between the two otherwise.
func TestMeansFollowTheMorePrecise(t *testing.T) {
	c := labelled()
	c.Centers, c.NoiseMultiplier = Centers{NoiseMultiplier: 1, ClipNorm: 1}, 1
	m := &Model{work: newWork(c)}
	mean := func(noise float64, rows int) float64 {
		e := &estimator{Model: m, noise: noise}
		return e.mean(part{rows: rows, held: 5, sum: []float64{10, 0, 0, 0},
			center: []float32{1, 0, 0, 0}})[0]
	}
	few, many := mean(1e6, 1), mean(1e-6, 1000)
	if !(few >= 1 && few < 1.01 && many <= 3 && many > 2.99) {
		t.Errorf("of few mixtures %v, want about 1; of many %v, want about 3", few, many)
	}
	for _, rows := range []int{1, 10, 100} {
		if a, b := mean(1, rows), mean(1, 2*rows); !(a > 1 && b > a && b < 3) {
			t.Errorf("with %d mixtures %v, and with twice as many %v", rows, a, b)
		}
	}
}

// TestCountsOfMixturesVary: the variance of the number of records of a class stays positive, even
// if the noise of the labels exceeds the variance of the noisy ones.
func TestCountsOfMixturesVary(t *testing.T) {
	c := labelled()
	c.NoiseMultiplier, c.LabelShare = 3, 0.5
	w := newWork(c)
	m := &Model{work: w, rows: w.newRows(4, 4)}
	for i := range m.rows.labels {
		m.rows.labels[i] = 0.5
	}
	counts, mean := (&estimator{Model: m}).labels()
	for k := range 2 {
		if v := counts.At(k, k); !(v > 0) || math.Abs(mean[k]-5) > 1e-6 {
			t.Errorf("class %d has %v records of variance %v", k, mean[k], v)
		}
	}
}
