package draft

import (
	"math/rand/v2"
	"testing"
)

// TestSpanHoldsEveryBinThatPasses checks three properties. The span overlaps with every run that
// reaches its threshold. It includes every single bin that reaches its threshold. It is empty if no
// run reaches its threshold.
func TestSpanHoldsEveryBinThatPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for range 20_000 {
		counts := make([]float64, 1+rng.IntN(20))
		for i := range counts {
			counts[i] = rng.NormFloat64()
			if rng.IntN(6) == 0 {
				counts[i] += 3 * rng.Float64()
			}
		}
		const threshold = 2.5
		first, last := span(counts, threshold)
		passes := false
		runs(len(counts), func(lo, hi int) {
			sum := 0.0
			for _, c := range counts[lo:hi] {
				sum += c
			}
			if sum*sum >= threshold*threshold*float64(hi-lo) && sum > 0 {
				passes = true
				if hi-1 < first || lo > last {
					t.Fatalf("[%d, %d] misses the run [%d, %d) of %v", first, last, lo, hi, counts)
				}
				if hi-lo == 1 && (lo < first || lo > last) {
					t.Fatalf("[%d, %d] leaves out bin %d of %v", first, last, lo, counts)
				}
			}
		})
		if passes != (first <= last) || passes && (first < 0 || last >= len(counts)) {
			t.Fatalf("got span [%d, %d] of %v", first, last, counts)
		}
	}
}

func TestTestsAreCounted(t *testing.T) {
	h := histogram{number: true, edges: make([]float64, 7), cells: 7} // six bins, and missing values
	if got := h.tests(); got != 6+5+3+1 {
		t.Errorf("got %d tests, want 15", got)
	}
}
