package sampler

import "github.com/seed7ba64551/privgen/internal/entropy"

// NegativeBinomial draws k ≥ 1 with probability proportional to Γ(k+η)/k!·again^k, given that k is
// at most limit. This is the truncated negative binomial distribution with γ = 1 − again. The
// distribution is exact for every -1 < η ≤ 1 for which 1+η is exact in floating point.
//
// These probabilities are proportional to the probabilities of a geometric number times the factors
// (i+η)/(i+1) for 1 ≤ i < k. Each factor is at most 1 and is the probability of a coin. If a coin
// fails, the number is drawn again.
func NegativeBinomial(eta, again float64, limit int, bits entropy.Bits) int {
	for k := 1; ; k++ {
		if !Bernoulli(again, bits) {
			return k
		}
		if k == limit || !weightedBelow(k, eta, bits) {
			k = 0
		}
	}
}

// weightedBelow returns true with probability (i+η)/(i+1).
func weightedBelow(i int, eta float64, bits entropy.Bits) bool {
	sure := i
	if eta < 0 {
		sure, eta = i-1, 1+eta
	}
	switch at := int(UniformBelow(uint64(i+1), bits)); {
	case at < sure:
		return true
	case at == sure:
		return Bernoulli(eta, bits)
	}
	return false
}

// Poisson draws exactly from the Poisson distribution of a whole mean, as a sum of draws with
// mean 1.
func Poisson(mean int, bits entropy.Bits) int {
	sum := 0
	for range mean {
		sum += poissonOne(bits)
	}
	return sum
}

// poissonOne draws k with probability proportional to 1/k!. It draws geometric numbers of ratio 1/2
// and keeps k with probability 2^k/(2·k!), which is at most 1.
func poissonOne(bits entropy.Bits) int {
	for {
		k := 0
		for Bernoulli(0.5, bits) {
			k++
		}
		keep := k > 0 || Bernoulli(0.5, bits)
		for j := 3; j <= k && keep; j++ {
			keep = UniformBelow(uint64(j), bits) < 2
		}
		if keep {
			return k
		}
	}
}
