package accountant

import (
	"fmt"
	"math"
	"testing"
)

// TestAttacksOfGaussiansAndAnswers: what is stated about the best attack is at least what is true
// of Gaussian releases and of randomised responses, whose losses have closed forms, and little
// more.
func TestAttacksOfGaussiansAndAnswers(t *testing.T) {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	belief := func(loss float64) float64 { return 1 / (1 + math.Exp(-loss)) }
	check := func(name string, stated, truth, loose float64) {
		t.Helper()
		if !(stated >= truth*(1-1e-9) && stated <= truth+loose) {
			t.Errorf("%s: stated %v, true %v", name, stated, truth)
		}
	}
	for _, delta := range []float64{1e-2, 1e-5, 1e-11} {
		for _, mu := range []float64{0.05, 1, 4} {
			a := must[Attack](t)(AttackBounds(Gaussian{1 / mu}, delta, AddOrRemoveOne))
			name := fmt.Sprintf("effect %v, δ = %v, ", mu, delta)
			// The loss is normal, of mean mu²/2 and standard deviation mu.
			check(name+"belief", a.Posterior, belief(mu*mu/2+mu*quantile(1-delta)), 0.05)
			check(name+"members", a.TruePositiveAt1Percent, normal(quantile(0.01)+mu), 0.02)
			check(name+"accuracy", a.BestAccuracy, normal(mu/2), 1e-6)
			check(name+"effect", a.GaussianEffect, mu, 0.05*mu)
		}
		for _, eps := range []float64{0.1, 1, 3} {
			a := must[Attack](t)(AttackBounds(Pure{eps}, delta, ReplaceOne))
			name := fmt.Sprintf("ε = %v, δ = %v, ", eps, delta)
			yes := belief(eps) // the probability of the true answer
			check(name+"belief", a.Posterior, yes, 0.02)
			check(name+"members", a.TruePositiveAt1Percent, min(0.01*math.Exp(eps), yes), 0.01)
			check(name+"accuracy", a.BestAccuracy, yes, 1e-6)
		}
	}
}
