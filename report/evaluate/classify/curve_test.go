package classify_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// TestROCCurve compares the point of the curve at every threshold with a count. The area under the
// curve must be the area that Rank returns, also with ties.
func TestROCCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		n := 5 + rng.IntN(100)
		scores, positive := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i], positive[i] = float64(rng.IntN(8)), rng.IntN(2) == 0
		}
		positive[0], positive[1] = true, false
		curve, err := classify.ROCCurve(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		area := 0.0
		for i, p := range curve {
			if i > 0 {
				q := curve[i-1]
				area += (p.FalsePositive - q.FalsePositive) * (p.TruePositive + q.TruePositive) / 2
			}
		}
		rank, err := classify.Rank(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(area-rank.ROC) > 1e-12 {
			t.Errorf("the curve has area %v, want %v", area, rank.ROC)
		}
		seen := map[classify.ROCPoint]bool{}
		for _, p := range curve {
			seen[p] = true
		}
		for threshold := -1.0; threshold < 9; threshold++ {
			var in, out, class, others float64
			for i, s := range scores {
				if positive[i] {
					class++
					if s >= threshold {
						in++
					}
				} else {
					others++
					if s >= threshold {
						out++
					}
				}
			}
			if !seen[classify.ROCPoint{FalsePositive: out / others, TruePositive: in / class}] {
				t.Errorf("no point at threshold %v", threshold)
			}
		}
	}
	for name, bad := range map[string]struct {
		scores   []float64
		positive []bool
	}{"lengths": {[]float64{1}, nil}, "NaN": {[]float64{1, math.NaN()}, []bool{true, false}},
		"one kind": {[]float64{1, 2}, []bool{true, true}}} {
		if _, err := classify.ROCCurve(bad.scores, bad.positive); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
