package accountant

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// CalibrateNoise returns the smallest tested noise multiplier σ whose event meets the target, and
// the cost achieved. The event may contain fixed parts besides the calibrated part.
//
// Guarantee: achieved.Upper ≤ target.Epsilon, always.
// Errors: ErrBudgetExceeded if no noise is enough, for example because fixed parts alone exceed
// the target.
func CalibrateNoise(target Budget, event func(noiseMultiplier float64) Event) (sigma float64,
	achieved Bound, err error) {
	if err := target.Validate(); err != nil {
		return 0, Bound{}, err
	}
	if event == nil {
		return 0, Bound{}, param.New("accountant.CalibrateNoise.event", nil, "a function")
	}
	s := &search{target: target, event: func(y float64) Event { return event(math.Exp(-y)) }}
	y, ok := s.solve()
	if s.err != nil {
		return 0, Bound{}, s.err
	}
	if !ok {
		return 0, Bound{}, ErrBudgetExceeded
	}
	y, achieved, err = s.settle(y)
	return math.Exp(-y), achieved, err
}

// CalibrateCount returns the largest count, at most limit, whose event meets the target: a number
// of steps, or the size of a sample of limit records.
//
// Guarantee and Errors: see [CalibrateNoise].
func CalibrateCount(target Budget, limit int, event func(count int) Event) (count int,
	achieved Bound, err error) {
	if err := target.Validate(); err != nil {
		return 0, Bound{}, err
	}
	if err := positiveInt("accountant.CalibrateCount.limit", limit); err != nil {
		return 0, Bound{}, err
	}
	if event == nil {
		return 0, Bound{}, param.New("accountant.CalibrateCount.event", nil, "a function")
	}
	param := func(y float64) int { return int(min(float64(limit), max(1, math.Round(math.Exp(y))))) }
	s := &search{target: target, event: func(y float64) Event { return event(param(y)) }}
	guess, _ := s.start(math.Log(float64(limit)))
	most, err := s.largest(limit, param(guess))
	if err != nil {
		return 0, Bound{}, err
	}
	for off := 0; off < most; off = 2*off + 1 { // until this price, too, meets the target
		p, err := s.price(event(most-off), true)
		if err != nil || p.Upper <= target.Epsilon {
			return most - off, p.Bound, err
		}
	}
	return 0, Bound{}, ErrBudgetExceeded
}

// CalibrateShare returns the noise multiplier of a first stage that may spend the given share of
// the target's ε. It is the smallest tested σ with ε(event(σ)) ≤ share·Epsilon at the target's δ.
// To calibrate the next stage, put both stages into the event of CalibrateNoise: joint composition
// costs less than the sum of the shares.
//
// Errors: the errors of CalibrateNoise; *param.Error for a share outside (0, 1).
func CalibrateShare(target Budget, share float64,
	event func(noiseMultiplier float64) Event) (sigma float64, achieved Bound, err error) {
	if !(share > 0 && share < 1) {
		return 0, Bound{}, param.New("accountant.CalibrateShare.share", share, "a number in (0, 1)")
	}
	if err := target.Validate(); err != nil {
		return 0, Bound{}, err
	}
	target.Epsilon *= share
	return CalibrateNoise(target, event)
}

// search finds the parameter x at which ε meets the target. y is log x if ε increases in x, and
// −log x if ε decreases in x. So ε always increases in y.
type search struct {
	target Budget
	event  func(y float64) Event
	err    error
}

// upper returns log(ε/target) for the sound ε at y. The parameter is feasible if the result is not
// positive.
func (s *search) upper(y float64) float64 {
	p, err := s.price(s.event(y), false)
	if err != nil {
		s.err = errors.Join(s.err, err)
		return math.Inf(1)
	}
	if p.Upper <= s.target.Epsilon { // the comparison itself, not its logarithm, decides
		return math.Min(0, math.Log(math.Max(p.Upper/s.target.Epsilon, 1e-300)))
	}
	return math.Max(math.SmallestNonzeroFloat64, math.Log(p.Upper/s.target.Epsilon))
}

// price returns the price of an event, as a ledger computes it.
func (s *search) price(e Event, lower bool) (Price, error) {
	r, err := Reduce(e, s.target.Relation)
	p, late := r.Price(context.Background(), s.target, 0, lower)
	return p, cmp.Or(err, late)
}

// sketch returns a cheap estimate of upper; NaN if there is none.
func (s *search) sketch(y float64) float64 {
	if s.target.Delta == 0 {
		return math.NaN()
	}
	alts, err := reduce(s.event(y), s.target.Relation)
	if err != nil {
		return math.NaN()
	}
	worst := 0.0
	for _, terms := range alts {
		if len(terms) == 0 {
			continue
		}
		if mu, ok := onlyGaussian(terms); ok {
			worst = max(worst, gaussianBound(mu, s.target.Delta).Estimate)
			continue
		}
		c := compositionOf(terms)
		if c == nil {
			return math.NaN()
		}
		eps, ok := c.Guess(s.target.Delta)
		if !ok {
			return math.NaN()
		}
		worst = max(worst, eps)
	}
	return math.Log(math.Max(worst, 1e-300) / s.target.Epsilon)
}

const (
	calibrateTol = 1e-7 // relative, in ε
	maxBracket   = 40
)

// settle lowers y until the price with a lower end, from a different grid, meets the target too.
// Any later pricing of the event, for example by a ledger, must find that the event fits.
func (s *search) settle(y float64) (float64, Bound, error) {
	for step := 1e-5; step < 0.5; step *= 2 {
		p, err := s.price(s.event(y), true)
		if err != nil || p.Upper <= s.target.Epsilon {
			return y, p.Bound, err
		}
		y -= step
	}
	return y, Bound{}, ErrBudgetExceeded
}

// solve returns the largest tested y with upper(y) ≤ 0.
func (s *search) solve() (float64, bool) {
	y, slope := s.start(math.Inf(1))
	lo, hi := math.Inf(-1), math.Inf(1) // feasible below, infeasible above
	var yPrev, fPrev float64
	for i := 0; i < maxBracket; i++ {
		f := s.upper(y)
		if s.err != nil {
			return 0, false
		}
		if f <= 0 {
			lo = y
			if f > -4*calibrateTol {
				return lo, true
			}
		} else {
			hi = y
		}
		if hi-lo < 1e-9*(1+math.Abs(lo)) {
			break
		}
		if i > 0 && y != yPrev && !math.IsInf(f, 0) && !math.IsInf(fPrev, 0) {
			if d := (f - fPrev) / (y - yPrev); d > 0.05 && d < 100 {
				slope = d
			}
		}
		yPrev, fPrev = y, f
		next := y - (min(max(f, -3), 3)+calibrateTol)/slope
		if math.IsInf(f, 1) {
			next = y - 1
		}
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if y = next; y < -40 || y > 40 {
			break
		}
	}
	return lo, !math.IsInf(lo, -1)
}

// start returns a y at which the cheap estimate is close to the target, and the slope there.
func (s *search) start(ceiling float64) (y, slope float64) {
	y, slope = min(0, ceiling), 1
	f := s.sketch(y)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return y, slope
	}
	lo, hi := math.Inf(-1), ceiling
	for i := 0; i < 60; i++ {
		if f <= 0 {
			lo = y
		} else {
			hi = y
		}
		if math.Abs(f) < 1e-5 || (lo >= ceiling) {
			break
		}
		next := y - min(max(f, -1), 1)/slope
		if !(next > lo && next < hi) {
			if math.IsInf(lo, -1) || math.IsInf(hi, 1) {
				next = y - math.Copysign(1, f)
				next = min(next, ceiling)
			} else {
				next = (lo + hi) / 2
			}
		}
		g := s.sketch(next)
		if math.IsNaN(g) || next < -30 || next > 30 || hi-lo < 1e-7 {
			break
		}
		if d := (g - f) / (next - y); d > 0.05 && d < 100 {
			slope = d
		}
		y, f = next, g
	}
	return y, slope
}

// largest returns the largest count up to limit that fits, 0 for none.
func (s *search) largest(limit, guess int) (int, error) {
	lo, hi := s.gallop(limit, guess)
	for hi-lo > 1 && s.err == nil {
		if n := lo + (hi-lo)/2; s.fits(n) {
			lo = n
		} else {
			hi = n
		}
	}
	return lo, s.err
}

func (s *search) fits(n int) bool { return s.upper(math.Log(float64(n))) <= 0 }

// gallop searches outwards from the guess n. It returns a count lo that fits and a larger count hi
// that does not. The search takes 0 to fit, and limit+1 not to fit.
func (s *search) gallop(limit, n int) (lo, hi int) {
	lo, hi = 0, limit+1
	for step := max(1, n/1000); hi-lo > 1 && s.err == nil; step *= 4 {
		if n <= lo || n >= hi {
			n = lo + (hi-lo)/2
		}
		if s.fits(n) {
			lo = n
			n += min(step, limit)
		} else {
			hi = n
			n -= step
		}
		if hi <= limit && lo > 0 || lo == limit {
			break
		}
		n = min(max(n, 1), limit)
	}
	return lo, hi
}
