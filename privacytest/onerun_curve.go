package privacytest

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed7ba64551/privgen/accountant"
)

// This file bounds the number of right guesses under a whole trade-off curve. Let every output set
// S have P(S) ≤ up(P′(S)) for neighbours, with up concave, and let g of m canaries be guessed. Let
// x_i be the probability of i right guesses, r_i = Σ_{k≥i} k·x_k/m and h_i = Σ_{k≥i} (g−k)·x_k/m.
// Fix whether the other canaries are planted. For canary j and value v, let S be the outputs for
// which v is guessed for j and at least i−1 other guesses are right. Under planted_j = v these are
// outputs with a right guess for j and at least i right ones, under the other value those with a
// wrong guess for j and at least i−1 right ones. The mean over j, v and the other canaries is, by
// Jensen's inequality,
//
//	r_i ≤ up(h_{i−1}).
//
// So a probability τ of c or more right guesses forces more and more probability on fewer: it is
// least if x_c = τ, and then each x_{i−1} is the least that the inequality allows. If everything
// together exceeds 1, then τ is impossible.
//
// Source: Mahloujifar, Melis and Chaudhuri, "Auditing f-differential privacy in one run", 2025.

// possible reports whether c or more of g guesses about m canaries can be right with probability
// tau. down is the inverse of up.
func possible(m, g, c int, tau float64, down func(r float64) float64) bool {
	all := float64(m)
	r, h := tau*float64(c)/all, tau*float64(g-c)/all
	for i := c - 1; i >= 0; i-- {
		next := down(r)
		if !(next > h) { // then no later one is larger either
			break
		}
		r += float64(i) / float64(g-i) * (next - h)
		h = next
		if !(r+h <= float64(g)/all) {
			return false
		}
	}
	return true
}

// gaussianBound returns the largest μ for which c or more right guesses have a probability below
// alpha under μ-Gaussian differential privacy.
func gaussianBound(m, g, c int, alpha float64) float64 {
	return bisect(0, mostMu, func(mu float64) bool {
		return possible(m, g, c, alpha, func(r float64) float64 {
			return distuv.UnitNormal.CDF(distuv.UnitNormal.Quantile(min(r, 1)) - mu)
		})
	})
}

// independentBound is gaussianBound for independent scores and guesses about all m canaries. A
// guess is then right with probability at most Φ(μ/2), independently of the other guesses. If m is
// odd, the canary in the middle is not guessed. The others are the surest, so they count as m
// guesses.
func independentBound(m, c int, alpha float64) float64 {
	return bisect(0, mostMu, func(mu float64) bool {
		return binomialAtLeast(c, m, distuv.UnitNormal.CDF(mu/2)) >= alpha
	})
}

const mostMu = 50

// curve returns the inverse of up for the curve of an event, by the event's δ at several ε.
func curve(e accountant.Event, r accountant.Relation) (down func(r float64) float64, err error) {
	var growth, deltas []float64
	for eps := 0.0; eps <= mostEpsilon; eps += max(0.05, eps/20) {
		b, err := accountant.Delta(e, eps, r)
		if err != nil {
			return nil, err
		}
		growth, deltas = append(growth, math.Exp(eps)), append(deltas, b.Upper)
	}
	return func(r float64) float64 {
		h := 0.0
		for i, d := range deltas {
			// P(S) ≤ e^ε·P′(S) + δ, and the same for the complements with P and P′ exchanged.
			h = max(h, (r-d)/growth[i], 1-d-growth[i]*(1-r))
		}
		return h
	}, nil
}
