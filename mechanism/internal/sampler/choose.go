package sampler

import (
	"math"
	"math/big"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// ChooseExponential chooses an index with probability exactly proportional to exp(ε·u/2), where u
// is the index's utility. It draws a uniform index and accepts it with probability exp(ε(u−max)/2).
// Otherwise it draws another index.
func ChooseExponential(utilities []int64, epsilon float64, bits entropy.Bits) int {
	most := int64(math.MinInt64)
	for _, u := range utilities {
		most = max(most, u)
	}
	for {
		i := int(UniformBelow(uint64(len(utilities)), bits))
		behind := uint64(most) - uint64(utilities[i]) // never overflows: most is the larger
		near := epsilon / 2 * float64(behind)
		if bernoulliExp(near, func() *big.Rat { return half(epsilon, behind) }, bits) {
			return i
		}
	}
}

// half returns ε·n/2.
func half(epsilon float64, n uint64) *big.Rat {
	x := new(big.Rat).SetInt(new(big.Int).SetUint64(n))
	return x.Mul(x, ratio(epsilon)).Quo(x, big.NewRat(2, 1))
}
