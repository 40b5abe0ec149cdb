package mechanism

import (
	"context"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

func grantOf(t testing.TB, e accountant.Event) *Grant {
	t.Helper()
	return must(Begin(context.Background(), ledger.New(testBudget())).Spend("test", e))(t)
}

func sampled(q float64) accountant.Event {
	return accountant.PoissonSampled{Probability: q, Event: accountant.Gaussian{NoiseMultiplier: 1}}
}

// sixSigma compares a count with its binomial distribution. It fails by chance with probability
// 6e-10: the limit is 6.2 standard deviations. docs/testing.md counts its calls.
func sixSigma(t *testing.T, what string, count, n int, p float64) {
	t.Helper()
	mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	if z := (float64(count) - mean) / sd; math.Abs(z) > 6.2 {
		t.Errorf("%s: got %d of %d at probability %v, which deviates by %.1f sigma", what, count, n, p, z)
	}
}

// TestPoissonSampleRate compares the rates of samples with the probability, on both paths through
// the rows. An error of one per cent would be detected. Each of the eight comparisons fails by
// chance with probability 6e-10: the limit is 6.2 standard deviations.
func TestPoissonSampleRate(t *testing.T) {
	for _, q := range []float64{0.5, 0.2, 0.1, 0.01} {
		n := int(1.7e6 * (1 - q) / q) // one per cent of the rate is 13 standard deviations
		rows, keys := grantOf(t, sampled(q)).PoissonSample(n, nil, nil)
		sixSigma(t, "sample", len(rows), n, q)
		if len(keys) != len(rows) {
			t.Fatalf("got %d keys for %d rows, want one for each", len(keys), len(rows))
		}
		even := 0
		for i, r := range rows {
			if r < 0 || int(r) >= n || i > 0 && r <= rows[i-1] {
				t.Fatalf("row %d is out of order or out of range", i)
			}
			if r%2 == 0 {
				even++
			}
		}
		sixSigma(t, "even rows", even, len(rows), 0.5)
		for _, wrong := range []float64{0.99, 1.01} {
			off := math.Abs(wrong-1) * q * float64(n) / math.Sqrt(float64(n)*q*(1-q))
			if off < 12.4 {
				t.Errorf("a rate of %v × %v is %.1f standard deviations away, want at least 12.4",
					wrong, q, off)
			}
		}
	}
}

// TestPoissonNeighboursAreIndependent: a fraction q of the sampled rows is followed by a sampled
// row. The comparison fails by chance with probability 6e-10.
func TestPoissonNeighboursAreIndependent(t *testing.T) {
	const n, q = 400000, 0.1
	rows, _ := grantOf(t, sampled(q)).PoissonSample(n, nil, nil)
	pairs := 0
	for i := 1; i < len(rows); i++ {
		if rows[i] == rows[i-1]+1 {
			pairs++
		}
	}
	sixSigma(t, "adjacent pairs", pairs, len(rows), q)
}

func TestPoissonEdges(t *testing.T) {
	if rows, _ := grantOf(t, sampled(1)).PoissonSample(7, nil, nil); len(rows) != 7 {
		t.Errorf("q=1: got %d of 7 rows, want all", len(rows))
	}
	if rows, _ := grantOf(t, sampled(0.5)).PoissonSample(0, nil, nil); len(rows) != 0 {
		t.Errorf("got %d sampled rows of none", len(rows))
	}
	rows, _ := grantOf(t, sampled(0.01)).PoissonSample(1000, []int32{-1}, nil)
	if rows[0] != -1 {
		t.Error("the caller's slice was overwritten, not appended to")
	}
}

func TestKeysDependOnRowOnly(t *testing.T) {
	source := must(entropy.New())(t)
	a := &Allowance{&allowanceState{run: &Run{&runState{source: source}}}}
	all := a.rowKeys(3, []int32{0, 1, 2, 3, 4}, nil)
	some := a.rowKeys(3, []int32{1, 4}, nil)
	if some[0] != all[1] || some[1] != all[4] {
		t.Error("a key changed with the other rows")
	}
	if next := a.rowKeys(4, []int32{1}, nil); next[0] == all[1] {
		t.Error("two steps share a key")
	}
}

func TestSubset(t *testing.T) {
	counts := make([]int, 6)
	run := Begin(context.Background(),
		ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 1e-5,
			Relation: accountant.ReplaceOne}))
	e := accountant.SampledWithoutReplacement{Population: 6, Sample: 2,
		Event: accountant.Gaussian{NoiseMultiplier: 1}}
	const n = 3000
	a := &Allowance{&allowanceState{run: run, terms: termsOf(e), id: 1}}
	for range n {
		rows, _ := a.grant().SampleWithoutReplacement(nil, nil)
		if len(rows) != 2 || rows[0] >= rows[1] {
			t.Fatalf("got %d rows, want two increasing rows", len(rows))
		}
		for _, r := range rows {
			counts[r]++
		}
	}
	for _, c := range counts {
		sixSigma(t, "row", c, n, 1.0/3)
	}
}

func BenchmarkPoissonSample(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
		q    float64
	}{{"60k@.0017", 60000, 0.0017}, {"60k@.01", 60000, 0.01}, {"4.4M@2.2e-5", 4400000, 2.2e-5}} {
		b.Run(c.name, func(b *testing.B) {
			run := Begin(context.Background(), ledger.New(testBudget()))
			a := &Allowance{&allowanceState{run: run, terms: termsOf(sampled(c.q)), id: 1}}
			var rows []int32
			var keys []uint64
			b.ReportAllocs()
			for b.Loop() {
				rows, keys = a.grant().PoissonSample(c.n, rows[:0], keys[:0])
			}
		})
	}
}
