package main

import "math"

// epsilonOfTheorem1 returns the ε that Theorem 1 of the paper states for T mixtures of degree ℓ of
// n records. The argument squared is the theorem's Δ², the squared effect of replacing a record in
// an undivided sum. For noise σ on means the paper uses d_X/σ_X² + d_Y/σ_Y². The bound holds under
// replace-one for sampling without replacement. It is loose, because it uses the range of every
// coordinate as the distance between two records and composes by Rényi divergence.
//
// Source: Lee et al. 2019, Theorem 1, after Wang, Balle and Kasiviswanathan 2019, Theorem 9.
func epsilonOfTheorem1(records, degree, mixtures int, squared, delta float64) float64 {
	t := theorem1{rate: float64(degree) / float64(records), mu: math.Sqrt(squared) / float64(degree),
		even: map[int]float64{}}
	best, since := math.Inf(1), 0
	for order := 2; order <= theoremOrders && since < 12; order++ {
		e := float64(mixtures)*t.rdp(order) + math.Log(1/delta)/float64(order-1)
		if since++; e < best {
			best, since = e, 0
		}
	}
	return best
}

// theoremOrders is the largest order of the search. The first term of ε(α) grows without bound.
const theoremOrders = 512

// theorem1 computes the bound of Theorem 1. It stores the logarithms of B(k) for even k.
type theorem1 struct {
	rate, mu float64 // ℓ/n and Δ/ℓ
	even     map[int]float64
}

// rdp returns ε'_α, the bound on the Rényi divergence of order α for one mixture.
func (t theorem1) rdp(order int) float64 {
	x, choose := t.mu*t.mu, math.Log(float64(order*(order-1))/2)
	log := 2*math.Log(t.rate) + choose + min(math.Log(4*math.Expm1(x)), math.Log(2)+x)
	for j := 3; j <= order; j++ {
		choose += math.Log(float64(order-j+1) / float64(j))
		log = logAdd(log, math.Log(4)+float64(j)*math.Log(t.rate)+choose+
			(t.logB(j/2*2)+t.logB((j+1)/2*2))/2)
	}
	return logAdd(0, log) / float64(order-1)
}

// logB returns log B(k) for an even k. B(k) is the k-th central moment of the likelihood ratio of
// N(μ,1) and N(0,1). It is computed as an integral of a non-negative function.
func (t theorem1) logB(k int) float64 {
	if v, ok := t.even[k]; ok {
		return v
	}
	step, sum := min(0.1, 0.5/t.mu), math.Inf(-1)
	for x := -13.0; x <= float64(k)*t.mu+13; x += step {
		log := t.mu*x - t.mu*t.mu/2 // logarithm of the ratio
		if log < 36 {
			log = math.Log(math.Abs(math.Expm1(log)))
		}
		sum = logAdd(sum, float64(k)*log-x*x/2)
	}
	t.even[k] = sum + math.Log(step) - math.Log(2*math.Pi)/2
	return t.even[k]
}

// logAdd returns log(eᵃ + eᵇ).
func logAdd(a, b float64) float64 {
	if a, b = max(a, b), min(a, b); math.IsInf(a, 0) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
