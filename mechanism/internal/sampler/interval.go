package sampler

import "math/big"

// The functions in this file decide in interval arithmetic if machine arithmetic cannot decide.

// floorAffine returns ⌊slope·x + offset⌋ for a non-negative slope.
func floorAffine(slope, offset *big.Rat, x *digits) int64 {
	for {
		lo, hi := x.bounds()
		lo.Mul(lo, slope).Add(lo, offset)
		hi.Mul(hi, slope).Add(hi, offset)
		below := floorRat(lo)
		// The number is below the upper end. If that end is a whole number, the cell below it counts.
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

// isBelow reports whether a < b for two different real numbers. narrow returns bounds of both that
// become narrower with every call.
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

// expBounds bounds exp(−x) for all x in [lo, hi], where lo ≥ 0.
func expBounds(lo, hi *big.Rat, precision uint) (a, b *big.Float) {
	_, b = expNeg(lo, precision)
	a, _ = expNeg(hi, precision)
	return a, b
}

// expNeg bounds exp(−x) for x ≥ 0 from both sides, to about precision−64 bits.
//
// The argument is halved k times, until it is at most 2^-10. The Taylor series is summed until a
// term is below the precision, and the result is squared k times. Each operation has a relative
// error of at most 2^-precision, and the rounding of the argument adds x·2^-precision. The k
// squarings multiply the relative error by 2^k. For every x below 2^30 there are fewer than 2^16
// operations and k ≤ 40, so the total error is below 2^(64−precision).
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
