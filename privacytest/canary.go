package privacytest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// Canary audits a whole training, from records to release. It repeats the training many times, with
// and without a canary among the records. Score guesses from the release whether the canary was
// present. The audit compares the success rate with the rate that (Epsilon, Delta) permits.
//
// The data should be tiny, the canary should be a worst-case record, and the score should be very
// informative. A good score is, for example, the distance that the parameters moved along the
// canary's gradient, or the similarity of synthetic records to the canary. An audit with a weak
// score shows little, and an audit that passes proves nothing. [Replay] finds faults that an audit
// cannot find.
//
// Under [accountant.AddOrRemoveOne], Fit(false) trains without the canary. Under
// [accountant.ReplaceOne], Fit(false) trains with another record in its place.
//
// Source: Jagielski, Ullman and Oprea, "Auditing Differentially Private Machine Learning", 2020;
// Nasr, Song, Thakurta, Papernot and Carlini, "Adversary Instantiation", 2021. The statistical test
// is the test of [Claim].
type Canary[M any] struct {
	// Fit trains with fresh noise at each call; the context of the training must not come from Seeded.
	Fit            func(planted bool) (released M, err error)
	Score          func(released M) float64 // higher if the canary seems to have been present
	Epsilon, Delta float64
	FalseAlarm     float64 // in (0, 1)
	Trainings      int     // mean number of trainings with the canary, and without it; 0 means 1000

	// Event is the event that the training pays for under Relation. It only sharpens the curve that is
	// drawn next to the results. If it is nil, the curve of (Epsilon, Delta) is drawn.
	Event    accountant.Event
	Relation accountant.Relation
}

// CanaryAudit is the result of an audit.
type CanaryAudit struct {
	Evidence
	Claimed, Delta float64
	Curve          []CanaryPoint
}

// CanaryPoint is one point of the trade-off between the two errors of an adversary. The adversary
// decides "the canary was present" if the score is above a threshold.
type CanaryPoint struct {
	FalsePositive float64 // rate of the decision without the canary
	TruePositive  float64 // counted rate of the decision with the canary
	AtMost        float64 // largest TruePositive that the claim allows
}

// Audit trains and returns the result. The bound on ε is wrong with probability at most
// FalseAlarm.
func (c Canary[M]) Audit(tb testing.TB) CanaryAudit {
	tb.Helper()
	return c.audit(tb, (Claim[bool]).LowerBound)
}

// Check fails the test if the trainings refute the claim.
func (c Canary[M]) Check(tb testing.TB) {
	tb.Helper()
	if a := c.audit(tb, (Claim[bool]).contradiction); a.P <= c.FalseAlarm {
		tb.Errorf(refuted, c.Epsilon, c.Delta, a.P, a)
	}
}

// Refuted reports whether the trainings refute the claim. Use it to prove that an audit can detect
// a false claim.
func (c Canary[M]) Refuted(tb testing.TB) bool {
	tb.Helper()
	return c.audit(tb, (Claim[bool]).contradiction).P <= c.FalseAlarm
}

// audit runs the claim and keeps the scores.
func (c Canary[M]) audit(tb testing.TB, test func(Claim[bool], testing.TB) Evidence) CanaryAudit {
	tb.Helper()
	if c.Fit == nil || c.Score == nil {
		tb.Fatalf("privacytest.Canary: Fit or Score is nil: want both functions")
	}
	var out, in []float64
	claim := Claim[bool]{
		D0: false, D1: true,
		Epsilon: c.Epsilon, Delta: c.Delta, FalseAlarm: c.FalseAlarm, Samples: c.Trainings,
	}
	if c.Trainings == 0 {
		claim.Samples = 1000
	}
	claim.Run = func(planted bool) []float64 {
		released, err := c.Fit(planted)
		if err != nil {
			tb.Fatalf("privacytest.Canary.Fit: %v", err)
		}
		s := c.Score(released)
		if planted {
			in = append(in, s)
		} else {
			out = append(out, s)
		}
		return []float64{s}
	}
	a := CanaryAudit{Evidence: test(claim, tb), Claimed: c.Epsilon, Delta: c.Delta}
	a.Curve = c.curve(tb, out, in)
	return a
}

// falsePositives returns the rates of false positives at which a curve is drawn.
func falsePositives() []float64 { return []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9} }

func (c Canary[M]) curve(tb testing.TB, out, in []float64) []CanaryPoint {
	tb.Helper()
	slices.Sort(out)
	slices.Sort(in)
	points := make([]CanaryPoint, len(falsePositives()))
	for i, f := range falsePositives() {
		points[i] = CanaryPoint{f, truePositive(out, in, f), allowed(c.Epsilon, c.Delta, f)}
	}
	if c.Event == nil {
		return points
	}
	bounds, err := accountant.TradeOff(c.Event, c.Relation, falsePositives()...)
	if err != nil {
		tb.Fatalf("privacytest.Canary.Event: %v", err)
	}
	for i, b := range bounds {
		points[i].AtMost = min(points[i].AtMost, b.TruePositive)
	}
	return points
}

// truePositive returns the fraction of the scores in that lie above a threshold. The threshold is
// chosen such that a fraction f of the scores out lies above it.
func truePositive(out, in []float64, f float64) float64 {
	if len(out) == 0 || len(in) == 0 {
		return f
	}
	threshold := out[len(out)-1-min(int(f*float64(len(out))), len(out)-1)]
	return float64(above(in, threshold)) / float64(len(in))
}

// allowed returns the largest rate of true positives that (ε, δ) allows at the rate f of false
// positives. Source: Kairouz, Oh and Viswanath 2015, Theorem 2.1.
func allowed(epsilon, delta, f float64) float64 {
	return min(math.Exp(epsilon)*f+delta, 1-math.Exp(-epsilon)*(1-delta-f), 1)
}

// String draws the curve: a bar for the counted rate and | for the largest rate that the claim
// allows.
func (a CanaryAudit) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "ε ≥ %s shown, ε ≤ %g claimed at δ = %g\n", accountant.FormatLower(a.Epsilon, 4),
		a.Claimed, a.Delta)
	fmt.Fprintf(&s, "false positives · true positives (bar: counted, |: at most)\n")
	for _, p := range a.Curve {
		line := bar(p.TruePositive, p.AtMost)
		fmt.Fprintf(&s, "%15.2f   %s %.3f of %.3f\n", p.FalsePositive, line, p.TruePositive, p.AtMost)
	}
	return s.String()
}

// bar draws value and limit, both from 0 to 1, on a line of fixed width.
func bar(value, limit float64) string {
	const width = 40
	cells := []byte(strings.Repeat(" ", width+1))
	for i := range int(math.Round(value * width)) {
		cells[i] = '='
	}
	cells[int(math.Round(limit*width))] = '|'
	return string(cells)
}
