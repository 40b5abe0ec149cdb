package sampler

import (
	"math"
	"math/big"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// A geometric draws the number of rows that a Poisson sample skips before the next sampled row. The
// number is k or more with probability (1−q)^k. The cost of a sample grows with the number of
// sampled rows, not with the number of all rows.
//
// The draw is k = ⌊ln u ÷ ln(1−q)⌋ for a uniform u, computed in floating point with an error bound.
// If the bound leaves two choices of k, more bits of u are drawn and u is compared with powers of
// 1−q in interval arithmetic. The distribution is therefore exact.
type geometric struct {
	q    float64
	rate float64 // −ln(1−q), with a relative error of at most 2^-52
}

func newGeometric(q float64) geometric { return geometric{q: q, rate: -math.Log1p(-q)} }

// next returns the next gap, or limit if the gap is limit or more.
func (g geometric) next(limit int, src entropy.Bits) int {
	word := src.Uint64()
	// The unknown bits of u change ln u by at most 1/word. The errors of the functions are a few ulps
	// of their results.
	u := float64(word)
	minusLog := -math.Log(u * 0x1p-64)
	k := minusLog / g.rate
	slack := (1/u+0x1p-50+minusLog*0x1p-49)/g.rate + k*0x1p-50
	if k-slack > float64(limit) {
		return limit
	}
	if whole := math.Floor(k - slack); whole == math.Floor(k+slack) && whole >= 0 {
		return min(int(whole), limit)
	}
	return g.exact(limit, newDigits(word, 64, src))
}

// exact returns the largest k ≤ limit with u < (1−q)^k, found by bisection.
func (g geometric) exact(limit int, u *digits) int {
	lo, hi := 0, limit
	for lo < hi {
		mid := hi - (hi-lo)/2 // above lo; hi-lo+1 may overflow
		if g.survives(mid, u) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// survives reports whether u < (1−q)^k.
func (g geometric) survives(k int, u *digits) bool {
	first := true
	return isBelow(func(precision uint) (aLo, aHi, bLo, bHi *big.Float) {
		if !first {
			u.extend()
		}
		first = false
		lo, hi := u.bounds()
		aLo, aHi = floats(lo, hi, precision)
		stay := new(big.Rat).Sub(big.NewRat(1, 1), ratio(g.q))
		return aLo, aHi, power(stay, k, precision, big.ToNegativeInf),
			power(stay, k, precision, big.ToPositiveInf)
	})
}

// power returns x^k for 0 < x < 1. It rounds every step in the direction of mode.
func power(x *big.Rat, k int, precision uint, mode big.RoundingMode) *big.Float {
	square := new(big.Float).SetPrec(precision).SetMode(mode).SetRat(x)
	result := new(big.Float).SetPrec(precision).SetMode(mode).SetInt64(1)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			result.Mul(result, square)
		}
		square.Mul(square, square)
	}
	return result
}
