package sampler

import (
	"math/big"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// Laplace draws ideal Laplace noise rounded to the nearest whole number.
func Laplace(scale float64, bits entropy.Bits) int64 {
	e := newExponential(bits)
	k := e.floorAffine(scale, 0.5, func() (slope, offset *big.Rat) {
		return ratio(scale), big.NewRat(1, 2)
	}, bits)
	if bits.Uint64()&1 == 1 {
		return -k
	}
	return k
}
