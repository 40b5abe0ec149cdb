package sampler

import (
	"math"
	"math/big"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// ChooseExponential chooses an index with probability exactly proportional to exp(ε·u/2), where u
// is the index's utility. It draws a uniform index and accepts it with probability exp(ε(u−max)/2).
// Otherwise it draws another index, if permute is set one that was not drawn yet (permute-and-flip,
// McKenna and Sheldon 2020).
func ChooseExponential(utilities []int64, epsilon float64, permute bool, bits entropy.Bits) int {
	most := int64(math.MinInt64)
	for _, u := range utilities {
		most = max(most, u)
	}
	var rest []int
	for i := 0; permute && i < len(utilities); i++ {
		rest = append(rest, i)
	}
	for {
		i := 0
		if permute {
			last := len(rest) - 1
			at := int(UniformBelow(uint64(len(rest)), bits))
			i, rest[at] = rest[at], rest[last]
			rest = rest[:last]
		} else {
			i = int(UniformBelow(uint64(len(utilities)), bits))
		}
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
