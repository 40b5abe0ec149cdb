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
//
// This bound assumes the worst (ε, δ)-private mechanism. If the claim is an Event, its whole curve
// is tested as well, and Audit has the results of the same test for the curves of Gaussian noise.
// Source: Mahloujifar, Melis and Chaudhuri 2025. The bounds grow slowly with the number of
// canaries: of an ideal ε = 8, 1,000 canaries can show 3, and 20,000 can show 4.8.
type OneRun struct {
	Train      func(planted []bool) (scores []float64, err error)
	Canaries   int
	Guesses    int // all canaries if zero
	Delta      float64
	FalseAlarm float64 // of each test; must be well above 2·Canaries·Delta, or Epsilon is zero
	// Event is the claimed event of the whole training under add-or-remove-one; nil for none.
	Event accountant.Event
}

// Audit is the result of one run.
type Audit struct {
	Epsilon float64 // lower bound on ε, wrong with probability at most FalseAlarm
	Correct int
	Guesses int
	// Gaussian is the ε for Delta of the largest Gaussian differential privacy that is refuted. It is
	// a lower bound on ε if the training has the curve of Gaussian noise, such as a training by many
	// noisy steps. It is zero if Delta is.
	Gaussian float64
	// Independent is like Gaussian, for scores of different canaries that are independent. Then it is
	// close to ε. Nothing tests the independence: it holds, for example, for canaries that move
	// different coordinates of released sums.
	Independent float64
	// Refuted reports that so many right guesses have a probability below FalseAlarm under Event.
	Refuted bool
}

// String returns the number of right guesses, the number of guesses and the bound.
func (a Audit) String() string {
	return fmt.Sprintf("%d of %d canaries guessed right: ε ≥ %s, and %s if noise is Gaussian, and %s "+
		"if scores are also independent", a.Correct, a.Guesses, accountant.FormatLower(a.Epsilon, 4),
		accountant.FormatLower(a.Gaussian, 4), accountant.FormatLower(a.Independent, 4))
}

// Check fails the test if the audit contradicts a claimed ε or the Event.
func (o OneRun) Check(tb testing.TB, claimed float64) {
	tb.Helper()
	a := o.Audit(tb)
	if !(a.Epsilon <= claimed) { // NaN too
		tb.Errorf("claimed (ε=%g, δ=%g), but %v", claimed, o.Delta, a)
	}
	if a.Refuted {
		tb.Errorf("claimed %s, but %v", accountant.Describe(o.Event), a)
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
	if err := o.testCurves(&a, guess(scores, planted, 0)); err != nil {
		tb.Fatalf("privacytest.OneRun.Event: %v", err)
	}
	return a
}

// testCurves tests curves by the audit's guesses, and by guesses about all canaries if scores are
// independent.
func (o OneRun) testCurves(a *Audit, all Audit) (err error) {
	a.Gaussian, err = o.epsilon(gaussianBound(o.Canaries, a.Guesses, a.Correct, o.FalseAlarm))
	if err != nil {
		return err
	}
	a.Independent, err = o.epsilon(independentBound(o.Canaries, all.Correct, o.FalseAlarm))
	if err != nil || o.Event == nil {
		return err
	}
	down, err := curve(o.Event, accountant.AddOrRemoveOne)
	a.Refuted = err == nil && !possible(o.Canaries, a.Guesses, a.Correct, o.FalseAlarm, down)
	return err
}

// epsilon returns the ε of μ-Gaussian differential privacy.
func (o OneRun) epsilon(mu float64) (float64, error) {
	if !(mu > 0 && o.Delta > 0) {
		return 0, nil
	}
	b, err := accountant.Epsilon(accountant.Gaussian{NoiseMultiplier: 1 / mu}, o.Delta,
		accountant.AddOrRemoveOne)
	return b.Lower, err
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
