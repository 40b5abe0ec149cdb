package sampler

import (
	"math"
	"math/big"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// abscissa is a uniform position across one layer. Further bits are drawn when they are needed.
type abscissa struct {
	layer uint64
	x     *digits
}

func newAbscissa(layer, position uint64, src entropy.Bits) *abscissa {
	return &abscissa{layer: layer, x: newDigits(position, positionBits, src)}
}

// width returns the layer's width: the common area ÷ the layer's height.
func (p *abscissa) width() *big.Rat {
	return new(big.Rat).Quo(layerArea(), fixed62(layerHeight[p.layer]))
}

// layerArea returns the area of the bottom layer: h·r of the rectangle plus h/r of the tail.
func layerArea() *big.Rat {
	r := tailRat()
	reach := new(big.Rat).Inv(r)
	reach.Add(reach, r)
	return reach.Mul(reach, fixed62(layerHeight[0]))
}

const tailFloat = tailStart * 0x1p-40

func tailRat() *big.Rat { return new(big.Rat).SetFrac64(tailStart, 1<<40) }

func fixed62(v uint64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(v), big.NewInt(1<<62))
}

// inTail reports whether a position in the bottom layer lies beyond tailStart.
func (p *abscissa) inTail() bool {
	// x·(r + 1/r) < r exactly when x < r²/(r² + 1).
	square := new(big.Rat).Mul(tailRat(), tailRat())
	edge := new(big.Rat).Quo(square, new(big.Rat).Add(square, big.NewRat(1, 1)))
	for {
		lo, hi := p.x.bounds()
		if hi.Cmp(edge) <= 0 {
			return false
		}
		if lo.Cmp(edge) >= 0 {
			return true
		}
		p.x.extend()
	}
}

// curveSlack bounds the float64 errors of both sides of the comparisons with the curve. Every
// number in them is at most 14.
const curveSlack = 0x1p-40

// underCurve reports whether a height within the layer lies under exp(−x²/2), and whether float64
// arithmetic can decide that.
func underCurve(layer, position, height uint64) (under, decided bool) {
	if layer >= chordFrom {
		if under, decided = underByChord(layer, position, height); decided {
			return under, true
		}
	}
	return underByExponential(layer, position, height)
}

// underByExponential implements underCurve by evaluating the curve.
func underByExponential(layer, position, height uint64) (under, decided bool) {
	x := float64(position) * 0x1p-54 * float64(layerWidth[layer]) * 0x1p-60
	y := float64(layerFloor[layer])*0x1p-62 +
		float64(height)*0x1p-64*float64(layerHeight[layer])*0x1p-62
	curve := math.Exp(-x * x / 2)
	return y < curve, math.Abs(y-curve) > curveSlack
}

// Consider the curve of a layer as a function of t = x²/2. Consider also the straight line between
// two corners of the layer: the top corner, where layerInner ends, and the bottom right corner.
// From layer chordFrom up, the curve deviates from this line by at most chordBelow of the layer's
// height downward and chordAbove upward. The function exp(−t) is convex. So it lies below its own
// chord, by at most (Δt)²/8 times its largest second derivative.
//
// TestChordsHoldTheCurve computes both deviations, with a margin of 2^-40 for the errors of
// underByChord. The float64 errors are below 2^-50, because every number is at most 2. The errors
// from the unknown bits of position and height are at most 2^-53. All are fractions of a span of
// 2^-8 or more.
const (
	chordFrom  = 9
	chordBelow = 1.0 / 64
	chordAbove = 0x1p-20
)

// underByChord compares a height within the layer with the chord. The chord decides 98 % of the
// cases and is cheaper than an exponential.
func underByChord(layer, position, height uint64) (under, decided bool) {
	p, inner := float64(position)*0x1p-54, float64(layerInner[layer])*0x1p-54
	// t is scaled to 1 at the layer's right edge.
	span, left := (1-inner)*(1+inner), (1-p)*(1+p)
	tall := float64(height) * 0x1p-64 * span
	if tall < left-chordBelow*span {
		return true, true
	}
	return false, tall > left+chordAbove*span
}

// underCurveExact reports whether the height lies under the curve.
func (p *abscissa) underCurveExact(height *digits) bool {
	width, floor, tall := p.width(), fixed62(layerFloor[p.layer]), fixed62(layerHeight[p.layer])
	first := true
	return isBelow(func(precision uint) (aLo, aHi, bLo, bHi *big.Float) {
		if !first {
			p.x.extend()
			height.extend()
		}
		first = false
		lo, hi := height.bounds()
		lo.Mul(lo, tall).Add(lo, floor)
		hi.Mul(hi, tall).Add(hi, floor)
		aLo, aHi = floats(lo, hi, precision)
		bLo, bHi = expBounds(halfSquare(p.x, width, precision))
		return aLo, aHi, bLo, bHi
	})
}

// halfSquare bounds (width·x)²/2.
func halfSquare(x *digits, width *big.Rat, precision uint) (lo, hi *big.Rat, p uint) {
	lo, hi = x.bounds()
	for _, v := range []*big.Rat{lo, hi} {
		v.Mul(v, width).Mul(v, v).Mul(v, big.NewRat(1, 2))
	}
	return lo, hi, precision
}

// underTail draws the height of a position in the tail, as a fraction of the exponential envelope.
// It reports whether the height lies under the curve.
func underTail(e *exponential, src entropy.Bits) bool {
	height := src.Uint64()
	x := e.float() / tailFloat
	v, p := float64(height)*0x1p-64, math.Exp(-x*x/2)
	if v < p-curveSlack {
		return true
	}
	if v > p+curveSlack {
		return false
	}
	return underTailExact(e, newDigits(height, 64, src))
}

// underTailExact reports whether v·h < exp(−(e/r)²/2 − r²/2).
func underTailExact(e *exponential, v *digits) bool {
	tall, r := fixed62(layerHeight[0]), tailRat()
	start := new(big.Rat).Mul(r, r)
	start.Mul(start, big.NewRat(1, 2))
	part := digitsOf(&e.part, v.bits)
	first := true
	narrow := func(precision uint) (aLo, aHi, bLo, bHi *big.Float) {
		if !first {
			v.extend()
			part.extend()
		}
		first = false
		lo, hi := v.bounds()
		aLo, aHi = floats(lo.Mul(lo, tall), hi.Mul(hi, tall), precision)
		lo, hi = part.bounds()
		for _, x := range []*big.Rat{lo, hi} {
			x.Add(x, new(big.Rat).SetInt64(e.whole)).Quo(x, r)
			x.Mul(x, x).Mul(x, big.NewRat(1, 2)).Add(x, start)
		}
		bLo, bHi = expBounds(lo, hi, precision)
		return aLo, aHi, bLo, bHi
	}
	under := isBelow(narrow)
	e.part = part.lazy()
	return under
}
