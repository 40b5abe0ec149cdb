package accountant

import "math"

// CalibrateNoise finds the smallest tested noise multiplier σ whose event fits the target, and what it achieves. The event may
// contain fixed parts beside the calibrated one.
//
// Guarantee: achieved.Upper ≤ target.Epsilon, always.
// Errors: ErrBudgetExceeded when the event's fixed parts alone exceed the target.
func CalibrateNoise(target Budget, event func(noiseMultiplier float64) Event) (sigma float64, achieved Bound, err error) {
	if err := target.Validate(); err != nil {
		return 0, Bound{}, err
	}
	try := func(sigma float64) (Bound, error) { return Epsilon(event(sigma), target.Delta, target.Relation) }
	return calibrateDecreasing(target.Epsilon, try)
}

// calibrateDecreasing searches a positive parameter in whose logarithm ε decreases.
func calibrateDecreasing(target float64, try func(float64) (Bound, error)) (float64, Bound, error) {
	lo, hi := 0.0, 1.0
	b, err := try(hi)
	if err != nil {
		return 0, b, err
	}
	for b.Upper > target {
		lo, hi = hi, hi*2
		if hi > 1e12 {
			return 0, Bound{}, ErrBudgetExceeded
		}
		if b, err = try(hi); err != nil {
			return 0, b, err
		}
	}
	best := b
	for lo == 0 {
		x := hi / 2
		if x < 1e-6 {
			return hi, best, nil
		}
		if b, err = try(x); err != nil {
			return 0, b, err
		}
		if b.Upper <= target {
			hi, best = x, b
		} else {
			lo = x
		}
	}
	for hi/lo > 1+1e-7 {
		x := math.Sqrt(lo * hi)
		if b, err = try(x); err != nil {
			return 0, b, err
		}
		if b.Upper <= target {
			hi, best = x, b
		} else {
			lo = x
		}
	}
	return hi, best, nil
}

// CalibrateShare gives the noise multiplier of a first stage that may use the given share of the target's ε on its own: the smallest
// tested σ with ε(event(σ)) ≤ share·Epsilon at the target's δ. Calibrate the next stage jointly with the first (put both into the event of
// CalibrateNoise): joint composition costs less than the sum of the shares.
func CalibrateShare(target Budget, share float64, event func(noiseMultiplier float64) Event) (sigma float64, achieved Bound, err error) {
	if !(share > 0 && share < 1) {
		return 0, Bound{}, &ParamError{"accountant.CalibrateShare.share", share, "a number in (0, 1)"}
	}
	if err := target.Validate(); err != nil {
		return 0, Bound{}, err
	}
	target.Epsilon *= share
	return CalibrateNoise(target, event)
}
