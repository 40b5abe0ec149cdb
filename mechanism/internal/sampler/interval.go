package sampler

import (
	"math/big"
)

// This file is the interval arithmetic that settles what machine arithmetic does not decide.

// floorAffine returns ⌊slope·x + offset⌋ for a non-negative slope.
func floorAffine(slope, offset *big.Rat, x *digits) int64 {
	for {
		lo, hi := x.bounds()
		lo.Mul(lo, slope).Add(lo, offset)
		hi.Mul(hi, slope).Add(hi, offset)
		below := floorRat(lo)
		// The upper end itself is never reached, so a whole number there
		// belongs to the cell beneath it.
		above := floorRat(hi)
		if hi.IsInt() && hi.Cmp(lo) > 0 {
			above.Sub(above, big.NewInt(1))
		}
		if below.Cmp(above) == 0 {
			return below.Int64()
		}
		x.extend()
	}
}

func floorRat(x *big.Rat) *big.Int {
	// Div rounds toward minus infinity for a positive denominator.
	return new(big.Int).Div(x.Num(), x.Denom())
}

// ratio returns a finite float as a rational number.
func ratio(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// isBelow decides a < b for two different real numbers, given bounds that narrow
// with every call.
func isBelow(narrow func(precision uint) (aLo, aHi, bLo, bHi *big.Float)) bool {
	for precision := uint(192); ; precision += 64 {
		aLo, aHi, bLo, bHi := narrow(precision)
		if aHi.Cmp(bLo) <= 0 {
			return true
		}
		if aLo.Cmp(bHi) >= 0 {
			return false
		}
	}
}

// floats rounds a rational interval outward.
func floats(lo, hi *big.Rat, precision uint) (a, b *big.Float) {
	a = new(big.Float).SetPrec(precision).SetMode(big.ToNegativeInf).SetRat(lo)
	b = new(big.Float).SetPrec(precision).SetMode(big.ToPositiveInf).SetRat(hi)
	return a, b
}

// expBounds bounds exp(−x) for all x of [lo, hi], 0 ≤ lo.
func expBounds(lo, hi *big.Rat, precision uint) (a, b *big.Float) {
	_, b = expNeg(lo, precision)
	a, _ = expNeg(hi, precision)
	return a, b
}

// expNeg bounds exp(−x) for x ≥ 0 from both sides, to about precision−64 bits.
//
// The argument is halved until it is at most 2^-10, the Taylor series summed
// until a term drops below the precision, and the result squared back. Each
// operation errs by at most 2^-precision of its result (its argument's rounding
// by x·2^-precision); k squarings multiply the relative error by 2^k; fewer
// than 2^16 operations and k ≤ 40 leave the total under 2^(64−precision) for
// every x below 2^30.
func expNeg(x *big.Rat, precision uint) (lo, hi *big.Float) {
	if x.Sign() == 0 {
		one := big.NewFloat(1).SetPrec(precision)
		return one, one
	}
	t := new(big.Float).SetPrec(precision).SetRat(x)
	halvings := max(t.MantExp(nil)+10, 0)
	t.SetMantExp(t, -halvings).Neg(t)
	sum := big.NewFloat(1).SetPrec(precision)
	term := big.NewFloat(1).SetPrec(precision)
	for n := int64(1); term.MantExp(nil) > -int(precision) && term.Sign() != 0; n++ {
		term.Mul(term, t).Quo(term, new(big.Float).SetInt64(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	slack := new(big.Float).SetPrec(precision).SetMantExp(sum, 64-int(precision))
	lo = new(big.Float).SetMode(big.ToNegativeInf).SetPrec(precision).Sub(sum, slack)
	hi = new(big.Float).SetMode(big.ToPositiveInf).SetPrec(precision).Add(sum, slack)
	return lo, hi
}
