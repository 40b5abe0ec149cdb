package sampler

import (
	"math"
	"math/big"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// exponential is an ideal standard exponential number, whole + part. Further bits of part are drawn
// when they are needed.
type exponential struct {
	whole int64
	part  lazy
}

// newExponential draws by von Neumann's comparison method (1951): the length of the descending run
// that starts at x is odd with probability exp(−x). The method only compares uniform numbers, so
// the distribution is exact.
func newExponential(bits entropy.Bits) exponential {
	for whole := int64(0); ; whole++ {
		first := lazy{head: bits.Uint64()}
		if oddRun(&first, bits) {
			return exponential{whole: whole, part: first}
		}
	}
}

func oddRun(first *lazy, bits entropy.Bits) bool {
	next := lazy{head: bits.Uint64()}
	if !less(&next, first, bits) {
		return true
	}
	for length := 2; ; length++ {
		last := next
		next = lazy{head: bits.Uint64()}
		if !less(&next, &last, bits) {
			return length%2 == 1
		}
	}
}

// float returns the number with a relative error of at most 2^-52 or an absolute error of at most
// 2^-63, whichever is larger.
func (e *exponential) float() float64 {
	return float64(e.whole) + float64(e.part.head)*0x1p-64
}

// floorAffine returns exactly ⌊slope·e + offset⌋ for non-negative slope and offset. exact returns
// both as exact numbers. The floats slope and offset have relative errors of at most 2^-51.
func (e *exponential) floorAffine(slope, offset float64, exact func() (slope, offset *big.Rat),
	bits entropy.Bits) int64 {
	z := slope*e.float() + offset
	slack := z*0x1p-48 + slope*0x1p-62
	if k := math.Floor(z - slack); k == math.Floor(z+slack) && k < 1<<52 {
		return int64(k)
	}
	a, b := exact()
	return e.floorAffineExact(a, b, bits)
}

func (e *exponential) floorAffineExact(slope, offset *big.Rat, bits entropy.Bits) int64 {
	shift := new(big.Rat).SetInt64(e.whole)
	shift.Mul(shift, slope).Add(shift, offset)
	return floorAffine(slope, shift, digitsOf(&e.part, bits))
}

// bernoulliExp returns true with probability exp(−x) for x ≥ 0. exact returns x; near is x with a
// relative error of at most 2^-46.
func bernoulliExp(near float64, exact func() *big.Rat, bits entropy.Bits) bool {
	head := bits.Uint64()
	if near > 40 {
		// exp(−40) is below 2^-57: the first word alone nearly always decides.
		if head > 1<<8 {
			return false
		}
	} else {
		v, p := float64(head)*0x1p-64, math.Exp(-near)
		// slack covers an error of near of 2^-46 of at most 40, and the errors of exp and of the
		// conversion.
		slack := p*0x1p-40 + 0x1p-62
		if v < p-slack {
			return true
		}
		if v > p+slack {
			return false
		}
	}
	return belowExp(newDigits(head, 64, bits), exact())
}

func belowExp(v *digits, x *big.Rat) bool {
	first := true
	return isBelow(func(precision uint) (aLo, aHi, bLo, bHi *big.Float) {
		if !first {
			v.extend()
		}
		first = false
		lo, hi := v.bounds()
		aLo, aHi = floats(lo, hi, precision)
		bLo, bHi = expNeg(x, precision)
		return aLo, aHi, bLo, bHi
	})
}
