package privacytest

import (
	"math"
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
