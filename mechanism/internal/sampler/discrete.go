package sampler

import (
	"math"
	"math/big"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// DiscreteLaplace draws an integer with mass proportional to exp(−a·|x|). The whole part of an
// exponential number ÷ a is geometric; it gets a random sign, and a negative zero is rejected.
func DiscreteLaplace(a float64, bits entropy.Bits) int64 {
	for {
		e := newExponential(bits)
		k := e.floorAffine(1/a, 0, func() (slope, offset *big.Rat) {
			return new(big.Rat).Inv(ratio(a)), new(big.Rat)
		}, bits)
		negative := bits.Uint64()&1 == 1
		if k == 0 && negative {
			continue
		}
		if negative {
			return -k
		}
		return k
	}
}

// DiscreteGaussian draws an integer with mass proportional to exp(−x²/(2σ²)). It
// draws x from the discrete Laplace of scale t = ⌊σ⌋+1 and keeps it with probability
// exp(−(|x| − σ²/t)²/(2σ²)).
// Source: Canonne, Kamath and Steinke 2020, Algorithm 3.
func DiscreteGaussian(sigma float64, bits entropy.Bits) int64 {
	t := math.Floor(sigma) + 1
	for {
		x := discreteLaplaceOver(t, bits)
		near := math.Abs(float64(x)) - sigma*sigma/t
		exact := func() *big.Rat {
			square := new(big.Rat).Mul(ratio(sigma), ratio(sigma))
			y := new(big.Rat).Quo(square, ratio(t))
			y.Sub(ratio(math.Abs(float64(x))), y)
			y.Mul(y, y).Quo(y, square)
			return y.Mul(y, big.NewRat(1, 2))
		}
		if bernoulliExp(near*near/(2*sigma*sigma), exact, bits) {
			return x
		}
	}
}

// discreteLaplaceOver draws an integer with mass proportional to exp(−|x|/t).
func discreteLaplaceOver(t float64, bits entropy.Bits) int64 {
	for {
		e := newExponential(bits)
		k := e.floorAffine(t, 0, func() (slope, offset *big.Rat) { return ratio(t), new(big.Rat) }, bits)
		if bits.Uint64()&1 == 0 {
			return k
		}
		if k != 0 {
			return -k
		}
	}
}
