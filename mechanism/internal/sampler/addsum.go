package sampler

import "math"

// MaxSteps bounds a coordinate and also its noise, in grid steps, so that their sum stays exact in
// float64. At the gradient's grid it is 2^26 sensitivities.
const MaxSteps = 1 << 51

// addSum turns noise in grid steps into noisy sums, by exact additions of whole numbers below
// 2^52 and an exact product.
func addSum(noisy []float64, sum []float32, inverse, grid float64) {
	sum = sum[:len(noisy)]
	// Without the sign, the bits of a float32 increase with its absolute value. The bits of a NaN
	// are above the bits of all numbers.
	limit := math.Float32bits(float32(MaxSteps * grid))
	for i, v := range sum {
		x := float64(v) * inverse
		if math.Float32bits(v)&^(1<<31) >= limit {
			x = clampStep(x)
		}
		noisy[i] = (((x + nearest) - nearest) + noisy[i]) * grid
	}
}

// addUnits is like addSum, for sums in whole units. inverse is the size of a unit in grid steps.
func addUnits(noisy []float64, sum []int32, inverse, grid float64) {
	sum = sum[:len(noisy)]
	for i, v := range sum {
		noisy[i] = (RoundToGrid(float64(v), inverse) + noisy[i]) * grid
	}
}

// AddCarried is like addUnits, for sums beyond 31 bits.
func AddCarried(noisy []float64, sum []int32, carry []float64, inverse, grid float64) {
	sum, carry = sum[:len(noisy)], carry[:len(noisy)]
	for i, v := range sum {
		noisy[i] = (RoundToGrid(float64(v)+carry[i], inverse) + noisy[i]) * grid
	}
}

// RoundToGrid rounds a coordinate to the nearest grid point, in grid steps.
func RoundToGrid(x, inverse float64) float64 {
	return (clampStep(x*inverse) + nearest) - nearest
}

// nearest, added to a number below 2^51 and subtracted again, rounds it to the nearest whole
// number.
const nearest = 0x1.8p52

// clampStep clamps x to the public limit. NaN counts as zero.
func clampStep(x float64) float64 {
	if x != x {
		return 0
	}
	return min(max(x, -MaxSteps), MaxSteps)
}
