package accountant

import (
	"fmt"
	"math"
	"testing"
)

// steepest is the largest ε that the lower bounds below are compared at.
const steepest = 1e290

// attainedDelta returns a lower bound of δ(eps) of an event by a closed form that shares no code
// with the prices: 0 if there is none. A wrapper is at least as bad as what it may run.
func attainedDelta(e Event, eps float64) float64 {
	response := func(a float64) float64 { return max(0, -math.Expm1(eps-a)/(1+math.Exp(-a))) }
	worst := func(events []Event) float64 {
		most := 0.0
		for _, p := range events {
			most = max(most, attainedDelta(p, eps))
		}
		return most
	}
	switch v := e.(type) {
	case Laplace:
		return max(0, -math.Expm1((eps-1/v.Scale)/2))
	case Pure:
		return response(v.Epsilon)
	case Approximate:
		return v.Delta + (1-v.Delta)*response(v.Epsilon)
	case ExponentialMechanism:
		return response(v.Epsilon / 2) // two candidates whose scores change by one unit each
	case DiscreteLaplace: // the event that the result is at most 0
		return max(0, -math.Expm1(eps-v.A*float64(v.Sensitivity))/(1+math.Exp(-v.A)))
	case RandomizedResponse:
		other := v.Noise / float64(v.Categories)
		return 1 - v.Noise + other - math.Exp(eps)*other
	case Gaussian: // Φ(x) − e^ε·Φ(−y), and Φ(−y) is at most φ(y)/y
		mu := 1 / v.NoiseMultiplier
		x, y := mu/2-eps/mu, mu/2+eps/mu
		return max(0, math.Erfc(-x/math.Sqrt2)/2-math.Exp(-x*x/2)/(y*math.Sqrt(2*math.Pi)))
	case SameBatch:
		return attainedDelta(Gaussian{v.NoiseMultipliers[0]}, eps)
	case ZCDP: // a Gaussian
		return attainedDelta(Gaussian{1 / math.Sqrt(2*v.Rho)}, eps)
	case DiscreteGaussian: // the events that the result is at most 0, and at most −1
		s := 1 / (2 * v.Sigma * v.Sigma)
		return max(0, 0.5+math.Exp(eps-s)/math.Expm1(-s))
	case GaussianMixture: // the last two sensitivities, as the smaller of them
		part := v.Probabilities[1] + v.Probabilities[2]
		return part * attainedDelta(Gaussian{v.NoiseMultiplier / v.Sensitivities[1]}, eps-math.Log(part))
	case SparseHistogram: // of texts that many other records have
		return attainedDelta(Gaussian{v.Sigma / math.Sqrt(float64(v.Cells))}, eps)
	case TruncatedPoisson: // other records add zeros, and seldom fill the batch
		return attainedDelta(PoissonSampled{v.Probability * 0.9, Gaussian{v.NoiseMultiplier}}, eps)
	case SampledWithoutReplacement:
		return attainedDelta(PoissonSampled{float64(v.Sample) / float64(v.Population), v.Event}, eps)
	case SampledSum:
		return attainedDelta(PoissonSampled{v.Probability, Gaussian{v.NoiseMultiplier}}, eps)
	case RandomAllocation: // what one step releases
		return attainedDelta(PoissonSampled{1 / float64(v.Steps), Gaussian{v.NoiseMultiplier}}, eps)
	case PoissonSampled:
		at := math.Log1p(math.Expm1(eps) / v.Probability)
		if eps > 100 || v.Probability < 1e-200 {
			at = eps - math.Log(v.Probability) + 1
		}
		return v.Probability * attainedDelta(v.Event, at)
	case Repeated:
		return attainedDelta(v.Event, eps)
	case RepeatAndSelect: // of equal results the first is released
		if v.Poisson {
			return -math.Expm1(-v.Mean) * attainedDelta(v.Event, eps)
		}
		return attainedDelta(v.Event, eps)
	case Composed:
		return worst(v.Events)
	case OneOf:
		return worst(v.Events)
	case Disjoint:
		return worst(v.Parts)
	}
	return 0
}

// extremes returns events whose privacy falls as x, the inverse of the noise, grows.
func extremes(x float64) []Event {
	out := []Event{Laplace{1 / x}, Gaussian{1 / x}, Pure{x}, Approximate{x, 1e-7},
		ExponentialMechanism{Epsilon: x}, DiscreteLaplace{x, 1}, DiscreteLaplace{x, 3},
		DiscreteGaussian{1 / x, 1}, ZCDP{x}, RandomizedResponse{1 / (1 + x), 3},
		SampledSum{0.1, 1 / x}, BandedSum{0.1, 1 / x, []float64{1, 0.5}}, SameBatch{[]float64{1 / x, 1}},
		GaussianMixture{1 / x, []float64{0, 1, 2}, []float64{0.5, 0.25, 0.25}},
		TruncatedPoisson{0.1, 1000, 120, 1 / x}, SparseHistogram{1 / x, 2, 2},
		RandomAllocation{6, 1 / x, 0, false}}
	for _, e := range out[:6] {
		out = append(out, PoissonSampled{0.1, e}, SampledWithoutReplacement{1000, 10, e},
			OneOf{[]Event{e, Gaussian{1}}},
			RepeatAndSelect{Event: e, Mean: 3, Shape: 1}, RepeatAndSelect{Event: e, Mean: 2, Poisson: true},
			Disjoint{Parts: []Event{e, Laplace{2}}}, Composed{[]Event{e, Laplace{2}}},
			RepeatAndSelect{Event: OneOf{[]Event{e, Pure{1}}}, Mean: 3, Shape: -0.9},
			OneOf{[]Event{PoissonSampled{0.1, e}, Laplace{2}}})
	}
	for i := 0; i < 70; i += 4 {
		out = append(out, Repeated{out[i], 2})
	}
	return out
}

// TestExtremeParameters: over the whole range of parameters, a price is refused, or it is a number
// that covers a lower bound and is not below the price of a more private event.
func TestExtremeParameters(t *testing.T) {
	const delta = 1e-9
	for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
		var last []float64 // the lower ends of more private events
		for _, x := range []float64{1e-300, 30, 1500, 1e300} {
			for i, e := range extremes(x) {
				where := fmt.Sprintf("%v %s", r, Describe(e))
				if len(last) <= i {
					last = append(last, 0)
				}
				b, err := Epsilon(e, delta, r)
				if err != nil {
					continue
				}
				if !(0 <= b.Lower && b.Lower <= b.Estimate && b.Estimate <= b.Upper) {
					t.Errorf("%s: ε is in %+v", where, b)
				}
				if b.Upper < steepest && attainedDelta(e, b.Upper*(1+1e-9)+1e-12) > delta*(1+1e-6) {
					t.Errorf("%s: ε = %v, where δ is at least %v", where, b.Upper,
						attainedDelta(e, b.Upper*(1+1e-9)))
				}
				if b.Upper < last[i] {
					t.Errorf("%s: ε = %v, a more private event costs at least %v", where, b.Upper, last[i])
				}
				last[i] = max(last[i], b.Lower)
				for _, eps := range []float64{0, 50, 1e4} {
					d, err := Delta(e, eps, r)
					if least := attainedDelta(e, eps) * (1 - 1e-6); err == nil &&
						!(d.Upper >= least && d.Upper <= 1 && 0 <= d.Lower && d.Lower <= d.Upper) {
						t.Errorf("%s: δ(%g) is in %+v, want at least %v", where, eps, d, least)
					}
				}
				for _, order := range []float64{1.5, 32, 2e6 + 0.5, 1e300} {
					if v, err := RDP(e, order, r); err == nil && !(v >= 0) {
						t.Errorf("%s: the divergence of order %g is %v", where, order, v)
					}
				}
				if i%4 == 0 && b.Upper > 1.1 { // what a ledger asks
					p, err := must[Reduced](t)(Reduce(e, r)).Price(t.Context(), Budget{Delta: delta}, 0, false)
					if err == nil && !(p.Upper > 1) {
						t.Errorf("%s: a ledger of ε = 1 accepts ε = %v", where, b.Upper)
					}
				}
			}
		}
	}
}
