package mechanism_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
)

// choices counts how often each of four candidates is chosen in n draws.
func choices(t *testing.T, event accountant.Event, utilities []int64, n int) (counts [4]float64) {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 1e6, Delta: 1e-5})
	allowance := must(mechanism.Begin(context.Background(), l).Reserve("choice", event, n))(t)
	for range n {
		grant := must(allowance.Next())(t)
		i := must(grant.Exponential(utilities))(t)
		counts[i]++
	}
	return counts
}

// TestExponentialMechanismChooses: each frequency is within 6.2 standard deviations of its
// expectation. Each comparison fails by chance with probability 6e-10.
func TestExponentialMechanismChooses(t *testing.T) {
	const n, epsilon = 40000, 0.8
	utilities := []int64{3, -math.MaxInt64, 5, 4}
	counts := choices(t, accountant.ExponentialMechanism{Epsilon: epsilon}, utilities, n)
	deviation := func(scale float64) float64 {
		var p [4]float64
		total, worst := 0.0, 0.0
		for i, u := range utilities {
			p[i] = math.Exp(epsilon * scale * float64(u-5) / 2)
			total += p[i]
		}
		for i := range p {
			mean := n * p[i] / total
			worst = max(worst, math.Abs(counts[i]-mean)/math.Sqrt(mean*(1-p[i]/total)+1))
		}
		return worst
	}
	if d := deviation(1); d > 6.2 {
		t.Errorf("the frequencies %v deviate by %.1f standard deviations", counts, d)
	}
	for _, wrong := range []float64{0.7, 1.3} {
		if d := deviation(wrong); d < 8 {
			t.Errorf("ε times %v deviates by only %.1f standard deviations, want at least 8", wrong, d)
		}
	}
}

func TestExponentialMechanismRefuses(t *testing.T) {
	l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5})
	run := mechanism.Begin(context.Background(), l)
	gaussian, _ := run.Spend("other", accountant.Gaussian{NoiseMultiplier: 1})
	if _, err := gaussian.Exponential([]int64{1}); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("under a Gaussian: got %v, want ErrNotCovered", err)
	}
	grant, _ := run.Spend("choice", accountant.ExponentialMechanism{Epsilon: 1})
	if _, err := grant.Exponential(nil); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("of nothing: got %v, want ErrNotCovered", err)
	}
	if _, err := grant.Exponential([]int64{1, 2}); err != nil {
		t.Error(err)
	}
	if _, err := grant.Exponential([]int64{1, 2}); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("twice: got %v, want ErrNotCovered", err)
	}
}

// TestFarthest: with the same randomness, Farthest makes the same choice as Exponential for the
// distances, on any grid. It refuses invalid sums.
func TestFarthest(t *testing.T) {
	event := accountant.ExponentialMechanism{Epsilon: 0.3}
	answers := []int64{3, 4, -2, 12, 0}
	distances := []int64{3, 1, 2, 3, 1 << 40}
	choose := func(seed uint64, f func(*mechanism.Grant) (int, error)) int {
		l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5})
		grant := must(mechanism.Begin(privacytest.Seeded(t, context.Background(), seed), l).Spend(
			"choice", event))(t)
		return must(f(grant))(t)
	}
	seen := map[int]bool{}
	for _, grid := range []float64{1, 0x1p-3, 0x1p-20} {
		list, some := mechanism.NewFixedSum(5, grid), mechanism.NewFixedSum(4, grid)
		for i, v := range []int64{6, 3, 0, 9} {
			list.AddInt(i, v)
			some.AddInt(i, v)
		}
		for range 1 << 20 {
			list.AddInt(4, 1<<20)
		}
		for seed := range uint64(60) {
			want := choose(seed, func(g *mechanism.Grant) (int, error) {
				return g.Exponential(distances[:4])
			})
			got := choose(seed, func(g *mechanism.Grant) (int, error) {
				return g.Farthest(some, answers[:4])
			})
			if got != want {
				t.Fatalf("grid %v, seed %d: got %d, want %d", grid, seed, got, want)
			}
			seen[got] = true
			if far := choose(seed, func(g *mechanism.Grant) (int, error) {
				return g.Farthest(list, answers)
			}); far != 4 {
				t.Errorf("grid %v: got index %d, want 4 with its count of 2^40", grid, far)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %v are chosen, want all four indices", seen)
	}
	for name, sum := range map[string]*mechanism.FixedSum{"none": nil, "zero": new(mechanism.FixedSum),
		"too few": mechanism.NewFixedSum(2, 1), "a coarse grid": mechanism.NewFixedSum(4, 2),
		"a grid on which counts wrap around": mechanism.NewFixedSum(4, 0x1p-43),
		"no grid":                            mechanism.NewFixedSum(4, 0.3)} {
		l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5})
		grant := must(mechanism.Begin(context.Background(), l).Spend("choice", event))(t)
		if _, err := grant.Farthest(sum, answers[:4]); !errors.Is(err, mechanism.ErrNotCovered) {
			t.Errorf("%s: got %v, want ErrNotCovered", name, err)
		}
	}
}

// TestFarthestAtTheEnds: distances do not wrap around for the smallest and largest answers.
func TestFarthestAtTheEnds(t *testing.T) {
	for _, answer := range []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64} {
		for count := range int64(2) {
			sum := mechanism.NewFixedSum(2, 1)
			sum.AddInt(0, count)
			l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5})
			grant := must(mechanism.Begin(t.Context(), l).Spend("choice",
				accountant.ExponentialMechanism{Epsilon: 1}))(t)
			// The other index is chosen with probability exp(-2^60).
			if i, err := grant.Farthest(sum, []int64{answer, 0}); i != 0 || err != nil {
				t.Errorf("count %d, answer %d: got index %d, %v, want 0", count, answer, i, err)
			}
		}
	}
}

// TestPermuteAndFlipChooses: each frequency is within 6.2 standard deviations of the sum over all
// orders of the candidates. Each comparison fails by chance with probability 6e-10. The frequencies
// of the exponential mechanism are far away.
func TestPermuteAndFlipChooses(t *testing.T) {
	const n, epsilon = 40000, 0.8
	utilities := []int64{3, -math.MaxInt64, 5, 4}
	event := accountant.ExponentialMechanism{Epsilon: epsilon, Permute: true}
	counts := choices(t, event, utilities, n)
	var accept, p, other [4]float64
	total := 0.0
	for i, u := range utilities {
		accept[i] = math.Exp(epsilon * (float64(u) - 5) / 2)
		total += accept[i]
	}
	var walk func(left []int, weight float64)
	walk = func(left []int, weight float64) { // of the candidates that were not drawn
		for at, i := range left {
			w := weight / float64(len(left))
			p[i] += w * accept[i]
			rest := append(append([]int(nil), left[:at]...), left[at+1:]...)
			walk(rest, w*(1-accept[i]))
		}
	}
	walk([]int{0, 1, 2, 3}, 1)
	far := 0.0
	for i := range p {
		other[i] = accept[i] / total
		sd := math.Sqrt(n*p[i]*(1-p[i]) + 1)
		if d := math.Abs(counts[i]-n*p[i]) / sd; d > 6.2 {
			t.Errorf("candidate %d is chosen %v times, want %.0f, %.1f deviations", i, counts[i], n*p[i], d)
		}
		far = max(far, math.Abs(counts[i]-n*other[i])/sd)
	}
	if far < 8 {
		t.Errorf("the exponential mechanism is only %.1f deviations away", far)
	}
}
