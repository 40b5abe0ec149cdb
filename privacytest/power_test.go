package privacytest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRunsNeeded measures how many draws from each data set refute the broken mechanisms in nine of
// ten tries, at a false-alarm probability of 1e-8.
func TestRunsNeeded(t *testing.T) {
	if !*audit {
		t.Skip("runs only with -audit")
	}
	product, count := 0.0, 0
	for _, c := range claims {
		n := runsNeeded(t,
			Claim[int]{Run: c.wrong, D0: 3, D1: 4, Epsilon: c.epsilon, Delta: c.delta, FalseAlarm: 1e-8})
		t.Logf("%6d  %s", n, c.name)
		product += math.Log(float64(n))
		count++
	}
	t.Logf("%6.0f  geometric mean", math.Exp(product/float64(count)))
}

func runsNeeded(t *testing.T, c Claim[int]) int {
	const tries, enough, most = 20, 18, 200000
	for n := 30.0; n < most; n *= 1.15 {
		c.Samples = int(n)
		found := 0
		for i := 0; i < tries && found+tries-i >= enough; i++ {
			if c.Refuted(t) {
				found++
			}
		}
		if found >= enough {
			return c.Samples
		}
	}
	return most
}

// TestClaimsHoldInBothDirections checks that a result which only one data set gives refutes a
// claim, whichever data set it is, without and with a small δ. One in ten of 4,000 draws gives it.
func TestClaimsHoldInBothDirections(t *testing.T) {
	for _, delta := range []float64{0, 1e-5} {
		for _, first := range []bool{true, false} {
			c := Claim[bool]{D0: first, D1: !first, Epsilon: 0.1, Delta: delta, FalseAlarm: 1e-8,
				Samples: 4000, Run: func(rare bool) []float64 {
					if rare && rand.Float64() < 0.1 {
						return one(1)
					}
					return one(0)
				}}
			if !c.Refuted(t) {
				t.Errorf("δ = %v, rare results of the first data set %t: the claim holds", delta, first)
			}
		}
	}
}

// TestPowerOfClaims measures the power that the documentation of Claim states. If nine of ten tests
// find each fault, fewer than 15 of 20 do so with probability 1 %.
func TestPowerOfClaims(t *testing.T) {
	if !*audit {
		t.Skip("runs only with -audit")
	}
	laplace := func(b float64) func(n int) []float64 {
		return func(n int) []float64 { return one(float64(n) + gridLaplace(b)) }
	}
	normal := func(std float64) func(n int) []float64 {
		return func(n int) []float64 { return one(float64(n) + gridNormal(std)) }
	}
	clamped := func(std float64) func(n int) []float64 {
		return func(n int) []float64 {
			return one(float64(n) + min(max(gridNormal(std), -3*std), 3*std))
		}
	}
	const half, single, twice, large = 7.0318, 3.7306, 1.9939, 0.9965 // at δ = 1e-5
	for _, c := range []struct {
		name           string
		epsilon, delta float64
		samples        int
		wrong          func(n int) []float64
	}{
		{"Laplace", 0.5, 0, 0, laplace(0.82 / 0.5)}, {"Laplace", 1, 0, 0, laplace(0.88)},
		{"Laplace", 2, 0, 0, laplace(0.9 / 2)}, {"Laplace", 4.4, 0, 0, laplace(0.88 / 4.4)},
		{"Laplace", 4.4, 0, 500_000, laplace(0.97 / 4.4)},
		{"Gaussian", 0.5, 1e-5, 0, normal(0.36 * half)},
		{"Gaussian", 4.4, 1e-5, 0, normal(0.46 * large)},
		{"Gaussian at ε = 0", 0, gaussianDelta(0, half), 0, normal(0.56 * half)},
		{"Gaussian at ε = 0", 0, gaussianDelta(0, large), 0, normal(0.86 * large)},
		{"clamped", 0.5, 1e-5, 0, clamped(half)}, {"clamped", 1, 1e-5, 0, clamped(single)},
		{"clamped", 2, 1e-5, 0, clamped(twice)}, {"clamped", 4.4, 1e-5, 600_000, clamped(large)},
	} {
		found := 0
		for range 20 {
			found += number(Claim[int]{Run: c.wrong, D0: 3, D1: 4, Epsilon: c.epsilon, Delta: c.delta,
				FalseAlarm: 1e-8, Samples: c.samples}.Refuted(t))
		}
		t.Logf("%s, ε = %v: found by %d of 20 tests", c.name, c.epsilon, found)
		if found < 15 {
			t.Errorf("%s, ε = %v: found by %d of 20 tests, want nine of ten", c.name, c.epsilon, found)
		}
	}
}

// TestRareValuesAreTried: if 40 of 13,000 values of one data set are larger than all values of the
// other, as they are for noise clamped at three standard deviations, some event has nearly all of
// them and no value of the other data set.
func TestRareValuesAreTried(t *testing.T) {
	const n, rare = 13000, 40
	var x, y sample
	for i := range n {
		x.sorted, y.sorted = append(x.sorted, float64(i+rare)), append(y.sorted, float64(i))
	}
	most := 0
	for _, e := range candidates(outputs(), x.sorted, y.sorted) {
		if y.count(e) == 0 {
			most = max(most, x.count(e))
		}
	}
	if most < rare*9/10 {
		t.Errorf("the best event has %d of %d rare values, want at least nine of ten", most, rare)
	}
}
