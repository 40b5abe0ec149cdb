package accountant

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Epsilon returns the smallest ε that the package can prove for e at the given δ under r.
//
// At δ = 0 the event must be pure, and the result is the sum of the ε's of all uses. The basic pure
// events are Laplace, DiscreteLaplace, RandomizedResponse, ExponentialMechanism, Pure, and a Curve
// that ends at δ = 0. Pure events stay pure if they run on Poisson samples or disjoint parts, and
// if they are repeated, composed or selected from. The exception is a selection from a Poisson
// number of runs.
//
// Guarantee: Bound.Upper is never below the true ε of the worst mechanism that e describes.
// Errors: *param.Error for parameters out of range, ErrUnsupported if no sound analysis is known,
// or if δ = 0 and the event is not pure.
func Epsilon(e Event, delta float64, r Relation) (Bound, error) {
	if err := checkTarget("accountant.Epsilon.delta", delta); err != nil {
		return Bound{}, err
	}
	alts, err := reduce(e, r)
	if err != nil {
		return Bound{}, err
	}
	p, err := priceAll(context.Background(), alts, delta, r, true)
	return p.Bound, err
}

// Delta returns the smallest δ that the package can prove for e at the given ε ≥ 0 under r.
//
// Errors: *param.Error for parameters out of range; ErrUnsupported.
func Delta(e Event, epsilon float64, r Relation) (Bound, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 0) {
		return Bound{}, param.New("accountant.Delta.epsilon", epsilon, "a finite number, zero or more")
	}
	alts, err := reduce(e, r)
	if err != nil {
		return Bound{}, err
	}
	return worstDelta(alts, epsilon, r)
}

// worstDelta returns δ of the worst alternative.
func worstDelta(alts [][]term, epsilon float64, r Relation) (Bound, error) {
	var worst Bound
	for _, terms := range alts {
		b, err := deltaTerms(terms, epsilon, r)
		if err != nil {
			return Bound{}, err
		}
		worst = worst.max(b)
	}
	return worst, nil
}
