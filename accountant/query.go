package accountant

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// TradeOffPoint bounds tests that distinguish two neighbouring data sets. No test with this
// false-positive rate has a higher true-positive rate, even with full knowledge of all other
// records.
type TradeOffPoint struct {
	FalsePositive, TruePositive float64
}

// profile holds upper bounds of δ(ε) at several values of ε.
type profile struct{ eps, delta []float64 }

// farthest is the largest ε of a profile.
const farthest = 500

// profileOf evaluates δ(ε) from 0 to the ε at δ = 1e-10, or to farthest if that ε is larger.
func profileOf(e Event, r Relation) (profile, error) {
	var p profile
	far, err := Epsilon(e, 1e-10, r)
	if err != nil {
		return p, err
	}
	top := min(far.Upper, farthest)
	const n = 32
	for i := 0; i <= n; i++ {
		x := float64(i) / n
		eps := top * x * x // denser near zero
		b, err := Delta(e, eps, r)
		if err != nil {
			return p, err
		}
		p.eps = append(p.eps, eps)
		p.delta = append(p.delta, b.Upper)
	}
	return p, nil
}

// truePositive returns the smallest of the bounds of a test's true-positive rate. Every (ε, δ) of
// the profile gives two bounds.
func (p profile) truePositive(falsePositive float64) float64 {
	best := 1.0
	for i, eps := range p.eps {
		best = min(best, math.Exp(eps)*falsePositive+p.delta[i],
			math.Exp(-eps)*(p.delta[i]+falsePositive)-math.Expm1(-eps)) // 1 − e^−ε·(1−δ−f)
	}
	return min(1, max(best, falsePositive))
}

// TradeOff returns the trade-off curve at the given false-positive rates, or at a standard list of
// rates if there are none.
//
// Errors: the errors of [Delta].
func TradeOff(e Event, r Relation, falsePositives ...float64) ([]TradeOffPoint, error) {
	for _, f := range falsePositives {
		if err := probability("accountant.TradeOff.falsePositives", f); err != nil {
			return nil, err
		}
	}
	if len(falsePositives) == 0 {
		falsePositives = []float64{0, 1e-5, 1e-4, 1e-3, 0.003, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15,
			0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1}
	}
	p, err := profileOf(e, r)
	if err != nil {
		return nil, err
	}
	var out []TradeOffPoint
	for _, f := range falsePositives {
		out = append(out, TradeOffPoint{f, p.truePositive(f)})
	}
	return out, nil
}

// Attack bounds the success of an attacker who knows the whole algorithm and every record but one.
type Attack struct {
	// TruePositiveAt1Percent is the fraction of members recognised while accusing 1 % of non-members.
	TruePositiveAt1Percent float64
	// BestAccuracy is the highest probability of a correct guess of membership, from a 50 % prior; 0.5
	// is no better than a coin.
	BestAccuracy float64
	// Posterior is the highest belief in membership after seeing the output, from a 50 % prior. The
	// belief is higher with probability at most PosteriorExcept over the output.
	Posterior       float64
	PosteriorExcept float64
	// GaussianEffect is an effect μ such that one Gaussian release of this effect, with noise
	// multiplier 1/μ, tells at least as much: its δ(ε) is not below that of the event at any ε where
	// the event's is above 1e-10. GaussianFit is the effect in the middle of those that agree with the
	// event at one such ε each. Both are +Inf if there is no such release, or if the event's δ(500) is
	// above 1e-10.
	GaussianEffect, GaussianFit float64
}

// AttackBounds returns bounds on membership attacks. delta is the probability excluded
// from Posterior.
//
// Errors: the errors of [Delta].
func AttackBounds(e Event, delta float64, r Relation) (Attack, error) {
	eps, err := Epsilon(e, delta, r)
	if err != nil {
		return Attack{}, err
	}
	p, err := profileOf(e, r)
	if err != nil {
		return Attack{}, err
	}
	gaussians := p
	for f := 1.05; f < 1.4 && delta < 1e-9 && eps.Upper < farthest; f += 0.1 { // beyond the profile
		b, err := Delta(e, f*eps.Upper, r)
		if err != nil {
			return Attack{}, err
		}
		p.eps, p.delta = append(p.eps, f*eps.Upper), append(p.delta, b.Upper)
	}
	// A belief above e^ε′/(1+e^ε′) needs a loss above ε′. For every ε < ε′,
	// P(loss > ε′) ≤ δ(ε)/(1−e^{ε−ε′}).
	above := lossQuantile(p, eps.Upper, delta)
	effect, fit := gaussians.effects()
	return Attack{
		TruePositiveAt1Percent: p.truePositive(0.01),
		BestAccuracy:           (1 + p.delta[0]) / 2,
		Posterior:              1 / (1 + math.Exp(-above)),
		PosteriorExcept:        delta,
		GaussianEffect:         effect,
		GaussianFit:            fit,
	}, nil
}

// effects returns the effect of a Gaussian release whose curve is above the profile's, and the
// middle of the effects whose curves meet it. Between two points the curve is below their chord, as
// δ is convex in e^ε.
func (p profile) effects() (above, middle float64) {
	const parts = 64
	at := func(eps, delta float64) float64 {
		if !(delta < 1) {
			return math.Inf(1)
		}
		hi := 1.0
		for pld.GaussianDelta(hi, eps) < delta && hi < 1e9 {
			hi *= 2
		}
		lo := 0.0
		for range 60 {
			if mid := lo + (hi-lo)/2; pld.GaussianDelta(mid, eps)-pld.GaussianDeltaError(mid, eps) < delta {
				lo = mid
			} else {
				hi = mid
			}
		}
		return hi
	}
	least, last := math.Inf(1), len(p.eps)-1
	if !(p.eps[last] < farthest || p.delta[last] <= 1e-10) { // more of the curve is beyond
		return math.Inf(1), math.Inf(1)
	}
	for i, eps := range p.eps {
		if !(p.delta[i] > 0) {
			break
		}
		mu := at(eps, p.delta[i])
		least, above = min(least, mu), max(above, mu)
		if i+1 < len(p.eps) && p.eps[i+1] > eps {
			whole := math.Expm1(p.eps[i+1] - eps)
			for j := range parts { // the chord at the left end of a part, the release at the right end
				to := eps + (p.eps[i+1]-eps)*float64(j+1)/parts
				share := math.Expm1((p.eps[i+1]-eps)*float64(j)/parts) / whole
				above = max(above, at(to, p.delta[i]+(p.delta[i+1]-p.delta[i])*share))
			}
		}
	}
	return above, min(above, (least+above)/2)
}

// lossQuantile returns a loss that is exceeded with probability at most delta, by Markov's
// inequality on the curve.
func lossQuantile(p profile, eps, delta float64) float64 {
	best := math.Inf(1)
	for i, e := range p.eps {
		if p.delta[i] < delta {
			best = min(best, max(eps, e-math.Log1p(-p.delta[i]/delta)))
		}
	}
	return best
}

// String explains the bounds in words.
func (a Attack) String() string {
	return fmt.Sprintf(
		"best attack: recognises at most %s%% of members while accusing 1%% of non-members; is right "+
			"about membership at most %s%% of the time (a coin: 50%%); "+
			"from a 50%% prior believes at most %s%% (except with probability %s)",
		FormatUpper(100*a.TruePositiveAt1Percent, 3), FormatUpper(100*a.BestAccuracy, 4),
		FormatUpper(100*a.Posterior, 4), FormatUpper(a.PosteriorExcept, 2))
}
