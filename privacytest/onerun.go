package privacytest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed7ba64551/privgen/accountant"
)

// OneRun audits a whole training from a single run. Each canary is planted with probability one
// half, independently of the others. Train trains on the planted canaries (and on any other
// records). It returns a score for every canary. The score is high if the canary seems to have been
// present. The canaries with the Guesses/2 highest scores are then guessed "in", and the canaries
// with the Guesses/2 lowest scores "out".
//
// If a training is (ε, δ)-private under add-or-remove-one, many right guesses have a small
// probability. A bound of this probability is known and gives a lower bound on ε. Source: Steinke,
// Nasr and Jagielski 2023, Theorem 5.2.
type OneRun struct {
	Train      func(planted []bool) (scores []float64, err error)
	Canaries   int
	Guesses    int // all canaries if zero
	Delta      float64
	FalseAlarm float64 // must be well above 2·Canaries·Delta, or the bound is zero
}

// Audit is the result of one run.
type Audit struct {
	Epsilon float64 // lower bound on ε, wrong with probability at most FalseAlarm
	Correct int
	Guesses int
}

// String returns the number of right guesses, the number of guesses and the bound.
func (a Audit) String() string {
	return fmt.Sprintf("%d of %d canaries guessed right: ε ≥ %s", a.Correct, a.Guesses,
		accountant.FormatLower(a.Epsilon, 4))
}

// Check fails the test if the audit contradicts a claimed ε.
func (o OneRun) Check(tb testing.TB, claimed float64) {
	tb.Helper()
	if a := o.Audit(tb); a.Epsilon > claimed {
		tb.Errorf("claimed (ε=%g, δ=%g), but %v", claimed, o.Delta, a)
	}
}

// Audit trains once and returns the bound.
func (o OneRun) Audit(tb testing.TB) Audit {
	tb.Helper()
	if o.Train == nil || o.Canaries < 1 || !(o.FalseAlarm > 0 && o.FalseAlarm < 1) ||
		!(o.Delta >= 0 && o.Delta < 1) {
		tb.Fatalf("privacytest.OneRun: Train must be set, Canaries ≥ 1 (is %d), Delta in [0, 1) (is "+
			"%v) "+
			"and FalseAlarm in (0, 1) (is %v)", o.Canaries, o.Delta, o.FalseAlarm)
	}
	planted := make([]bool, o.Canaries)
	for i := range planted {
		planted[i] = rand.Uint64()&1 == 1
	}
	scores, err := o.Train(planted)
	if err != nil {
		tb.Fatalf("privacytest.OneRun.Train: %v", err)
	}
	if len(scores) != len(planted) {
		tb.Fatalf("privacytest.OneRun.Train returned %d scores for %d canaries: it must return one "+
			"for each", len(scores), len(planted))
	}
	a := guess(scores, planted, o.Guesses)
	a.Epsilon = oneRunBound(o.Canaries, a.Guesses, a.Correct, o.Delta, o.FalseAlarm)
	return a
}

// guess guesses the canaries with the most extreme scores.
func guess(scores []float64, planted []bool, guesses int) Audit {
	m := len(scores)
	if guesses <= 0 || guesses > m {
		guesses = m
	}
	order := make([]int, m)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	a := Audit{}
	for r := range guesses / 2 {
		for _, in := range []bool{false, true} {
			i := order[r]
			if in {
				i = order[m-1-r]
			}
			a.Guesses++
			if planted[i] == in {
				a.Correct++
			}
		}
	}
	return a
}

// oneRunBound returns the largest ε for which so many right guesses have a probability below alpha.
func oneRunBound(canaries, guesses, correct int, delta, alpha float64) float64 {
	return bisect(0, mostEpsilon, func(e float64) bool {
		return oneRunP(canaries, guesses, correct, e, delta) >= alpha
	})
}

// oneRunP bounds the probability of correct or more right guesses under (ε, δ).
func oneRunP(canaries, guesses, correct int, epsilon, delta float64) float64 {
	p := 1 / (1 + math.Exp(-epsilon))
	w := distuv.Binomial{N: float64(guesses), P: p}
	tail := binomialAtLeast(correct, guesses, p)
	worst, sum := 0.0, 0.0
	for i := 1; i <= correct; i++ {
		sum += w.Prob(float64(correct - i))
		worst = max(worst, sum/float64(i))
	}
	return min(tail+2*float64(canaries)*delta*worst, 1)
}
