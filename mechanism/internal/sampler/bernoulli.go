package sampler

import (
	"math"
	"math/big"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// Bernoulli returns true with probability exactly p.
func Bernoulli(p float64, src entropy.Bits) bool {
	if p >= 1 {
		return true
	}
	return bernoulliWord(FirstWord(p), p, src.Uint64(), src)
}

// binaryWord returns the i-th 64-bit word of the binary expansion of p < 1.
func binaryWord(p float64, i int) uint64 {
	x := ratio(p)
	n := new(big.Int).Lsh(x.Num(), uint(64*(i+1)))
	n.Quo(n, x.Denom())
	return n.Uint64() // the lowest word
}

// bernoulliWord compares the bits of a uniform number, whose first 64 bits are word, with those
// of p < 1 until they differ. threshold is FirstWord(p).
func bernoulliWord(threshold uint64, p float64, word uint64, src entropy.Bits) bool {
	if word != threshold {
		return word < threshold
	}
	for i := 1; i <= 20; i++ {
		u, w := src.Uint64(), binaryWord(p, i)
		if u != w {
			return u < w
		}
	}
	return false // p has no bits beyond 2^-1074
}

// FirstWord returns binaryWord(p, 0) for p below one.
func FirstWord(p float64) uint64 { return uint64(math.Ldexp(p, 64)) }
