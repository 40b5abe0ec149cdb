package mechanism

import (
	"math/big"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// This file is the slow, exact half of every sampler here. The fast half works
// on the first 54 or 64 bits of a uniform number in machine arithmetic with an
// error bound. Where the bound leaves a decision open, it comes here: the
// number's further bits are drawn and the decision is made in interval
// arithmetic that narrows until only one answer is left. The fast half thus
// never decides anything that the ideal real-number algorithm would not.

// lazy is a uniform number of [0,1) of which the first 64 bits are known and
// more are drawn when they are needed.
type lazy struct {
	head uint64
	tail []uint64
}

// less compares two independent numbers, drawing further bits on a tie.
func less(a, b *lazy, bits entropy.Bits) bool {
	if a.head != b.head {
		return a.head < b.head
	}
	for i := 0; ; i++ {
		x, y := a.word(i, bits), b.word(i, bits)
		if x != y {
			return x < y
		}
	}
}

func (l *lazy) word(i int, bits entropy.Bits) uint64 {
	for len(l.tail) <= i {
		l.tail = append(l.tail, bits.Uint64())
	}
	return l.tail[i]
}

// digits is a number known to lie in [n, n+1] ÷ 2^count.
type digits struct {
	n     *big.Int
	count uint
	bits  entropy.Bits
}

func newDigits(head uint64, count uint, bits entropy.Bits) *digits {
	return &digits{n: new(big.Int).SetUint64(head), count: count, bits: bits}
}

// digitsOf continues a lazy number.
func digitsOf(l *lazy, bits entropy.Bits) *digits {
	d := newDigits(l.head, 64, bits)
	for _, w := range l.tail {
		d.push(w)
	}
	return d
}

// lazy hands back a number that began as a lazy one.
func (d *digits) lazy() lazy {
	words := int(d.count / 64)
	l := lazy{tail: make([]uint64, words-1)}
	rest := new(big.Int).Set(d.n)
	mask := new(big.Int).SetUint64(1<<64 - 1)
	for i := words - 1; i > 0; i-- {
		l.tail[i-1] = new(big.Int).And(rest, mask).Uint64()
		rest.Rsh(rest, 64)
	}
	l.head = rest.Uint64()
	return l
}

func (d *digits) push(w uint64) {
	d.n.Lsh(d.n, 64).Or(d.n, new(big.Int).SetUint64(w))
	d.count += 64
}

func (d *digits) extend() { d.push(d.bits.Uint64()) }

func (d *digits) bounds() (lo, hi *big.Rat) {
	scale := new(big.Int).Lsh(big.NewInt(1), d.count)
	above := new(big.Int).Add(d.n, big.NewInt(1))
	return new(big.Rat).SetFrac(d.n, scale), new(big.Rat).SetFrac(above, scale)
}

// floorAffine is ⌊slope·x + offset⌋ for a non-negative slope.
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

// ratio turns a finite float into the rational number that it is.
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
