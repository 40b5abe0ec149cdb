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

// bernoulliWord returns true with probability p < 1, given the first 64 bits, word, of a uniform
// number. It compares the bits of that number with the bits of p until they differ. threshold is
// FirstWord(p).
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

// FirstWord returns the first 64 bits of the binary expansion of p < 1.
func FirstWord(p float64) uint64 { return uint64(math.Ldexp(p, 64)) }
