package accountant

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

const ulp = 0x1p-52

// leafAtom returns the atom of an event that the collector does not divide further.
func leafAtom(e Event, r Relation) (atom, error) {
	switch v := e.(type) {
	case Laplace:
		return laplaceAtom{min(v.Scale, 1e9)}, nil // rounding the noise down only increases the price
	case DiscreteGaussian:
		return discreteGaussianAtom{v.Sigma, v.Sensitivity, &pld.Pairs{}}, nil
	case DiscreteLaplace:
		return discreteLaplaceAtom{v.A, v.Sensitivity, &pld.Pairs{}}, nil
	case RandomizedResponse:
		if r != ReplaceOne {
			return nil, unsupported("randomized response (a missing record has no answer)", r)
		}
		return responseAtom{v.Noise, v.Categories}, nil
	case ExponentialMechanism:
		return exponentialAtom{v.Epsilon}, nil
	case Pure:
		return approximateAtom{v.Epsilon, 0}, nil
	case Approximate:
		return approximateAtom{v.Epsilon, v.Delta}, nil
	case ZCDP:
		return zcdpAtom{v.Rho}, nil
	case TruncatedPoisson:
		return truncatedAtom(v, r), nil
	case GaussianMixture:
		if r != AddOrRemoveOne {
			return nil, unsupported("a Gaussian with random sensitivity", r)
		}
		return mixtureAtom{v}, nil
	case RepeatAndSelect:
		return selectAtomOf(v, r)
	case Curve:
		return curveAtomOf(v)
	}
	return nil, unsupported(e.kind(), r)
}

type zcdpAtom struct{ rho float64 }

func (a zcdpAtom) key() string                       { return fmt.Sprintf("zcdp %b", a.rho) }
func (a zcdpAtom) rdp(order float64) (float64, bool) { return order * a.rho * (1 + 4e-16), true }
func (a zcdpAtom) pairs() *pld.Pairs                 { return nil }
func (a sampledAtom) key() string {
	return fmt.Sprintf("sampled %b of %s", a.q, a.within.key())
}
func (a sampledAtom) pairs() *pld.Pairs { return pld.SampledBoth(a.q, a.within.pairs()) }
func (a mixtureAtom) key() string       { return fmt.Sprintf("mixture %+v", a.GaussianMixture) }
func (a laplaceAtom) key() string       { return fmt.Sprintf("laplace %b", a.scale) }
func (a laplaceAtom) pairs() *pld.Pairs { return &pld.Pairs{Remove: pld.Laplace(a.scale)} }
func (a exponentialAtom) key() string   { return fmt.Sprintf("exponential %b", a.eps) }
func (a exponentialAtom) pairs() *pld.Pairs {
	return &pld.Pairs{Remove: pld.BoundedRange(a.eps), Envelope: true}
}
func (a discreteGaussianAtom) key() string {
	return fmt.Sprintf("dgauss %b %d", a.sigma, a.sensitivity)
}
func (a discreteLaplaceAtom) key() string { return fmt.Sprintf("dlap %b %d", a.a, a.sensitivity) }
func (a responseAtom) key() string {
	return fmt.Sprintf("response %b %d", a.noise, a.categories)
}
func (a approximateAtom) key() string { return fmt.Sprintf("approximate %b %b", a.eps, a.delta) }

// sampledAtom is a Poisson sample of a mechanism that is not Gaussian, under AddOrRemoveOne.
type sampledAtom struct {
	q      float64
	within atom
}

func (a sampledAtom) rdp(order float64) (float64, bool) {
	p := a.pairs()
	v, ok := pld.Renyi(p.Remove, order)
	if !ok || p.Add == nil {
		return v, ok
	}
	w, ok := pld.Renyi(p.Add, order)
	return max(v, w), ok
}

type laplaceAtom struct{ scale float64 }

// rdp computes Proposition 6 of Mironov 2017 with 1 subtracted from both terms. Their first-order
// parts cancel; the margin covers the digits lost.
func (a laplaceAtom) rdp(order float64) (float64, bool) {
	eps, _ := a.own() // the divergence of infinite order
	return renyi.AtMost(eps, a.divergence(order)), true
}

func (a laplaceAtom) divergence(order float64) float64 {
	x := (order - 1) / a.scale
	first := order / (2*order - 1)
	second := (order - 1) / (2*order - 1)
	if x > 30 {
		return (x + math.Log(first) + math.Log1p(second/first*math.Exp(-order/a.scale-x))) / (order - 1) *
			(1 + 8*ulp)
	}
	t1, t2 := first*math.Expm1(x), second*math.Expm1(-order/a.scale)
	return math.Log1p(max(0, t1+t2)+4*ulp*(t1-t2)) / (order - 1) * (1 + 4*ulp)
}

type exponentialAtom struct{ eps float64 }

func (a exponentialAtom) rdp(order float64) (float64, bool) {
	return renyi.BoundedRange(a.eps, order), true
}

type approximateAtom struct{ eps, delta float64 }

// rdp returns the divergence of the mass that is not lost to δ. It is the divergence of binary
// randomised response, log((e^{αε} + e^{(1−α)ε})/(1+e^ε))/(α−1).
func (a approximateAtom) rdp(order float64) (float64, bool) {
	if a.eps == 0 {
		return 0, true
	}
	// The moment minus one is (e^{αε}−e^ε)(1−e^{−αε})/(1+e^ε), in which nothing cancels.
	x := (order - 1) * a.eps
	s := renyi.LogExpm1(x) + a.eps + math.Log(-math.Expm1(-order*a.eps)) -
		math.Log1p(math.Exp(-math.Abs(a.eps))) - a.eps
	return renyi.AtMost(a.eps*(1+2*ulp),
		renyi.FromMomentMinusOne(s, order, 8*ulp*(1+math.Abs(s)))), true
}

func (a approximateAtom) pairs() *pld.Pairs {
	keep := 1 - a.delta
	up := keep / (1 + math.Exp(-a.eps))
	down := keep / (1 + math.Exp(a.eps))
	if a.eps == 0 {
		return &pld.Pairs{Remove: pld.NewSymmetric([]float64{0}, []float64{keep}, a.delta)}
	}
	return &pld.Pairs{Remove: pld.NewSymmetric([]float64{-a.eps, a.eps}, []float64{down, up},
		a.delta)}
}

type responseAtom struct {
	noise      float64
	categories int
}

func (a responseAtom) pairs() *pld.Pairs {
	other := a.noise / float64(a.categories)
	own := 1 - a.noise + other
	rest := a.noise * float64(a.categories-2) / float64(a.categories)
	gap := math.Log(own / other)
	if gap == 0 {
		return &pld.Pairs{Remove: pld.NewSymmetric([]float64{0}, []float64{1}, 0)}
	}
	return &pld.Pairs{Remove: pld.NewSymmetric([]float64{-gap, 0, gap},
		[]float64{other, rest, own}, 0)}
}

func (a responseAtom) rdp(order float64) (float64, bool) {
	return a.pairs().Remove.(*pld.Discrete).Renyi(order), true
}

type discreteLaplaceAtom struct {
	a           float64
	sensitivity int
	made        *pld.Pairs // cache of pairs
}

const maxAtoms = 1 << 17

// pairs returns the pair with these losses: aΔ at integers x ≤ 0, −aΔ at integers x ≥ Δ, and
// a(Δ−2x) at integers x between 0 and Δ.
func (a discreteLaplaceAtom) pairs() *pld.Pairs {
	if a.sensitivity > maxAtoms {
		return approximateAtom{a.a * float64(a.sensitivity), 0}.pairs()
	}
	if a.made.Remove != nil {
		return a.made
	}
	var loss, mass []float64
	end := 1 / (1 + math.Exp(-a.a))
	base := math.Tanh(a.a / 2)
	d := float64(a.sensitivity)
	for x := a.sensitivity; x >= 0; x-- {
		m := base * math.Exp(-a.a*float64(x))
		switch x {
		case 0:
			m = end
		case a.sensitivity:
			m = end * math.Exp(-a.a*d)
		}
		loss = append(loss, a.a*(d-2*float64(x)))
		mass = append(mass, m)
	}
	a.made.Remove = pld.NewSymmetric(loss, mass, 0)
	return a.made
}

func (a discreteLaplaceAtom) rdp(order float64) (float64, bool) {
	if a.sensitivity > maxAtoms {
		return approximateAtom{a.a * float64(a.sensitivity), 0}.rdp(order)
	}
	return a.pairs().Remove.(*pld.Discrete).Renyi(order), true
}

type discreteGaussianAtom struct {
	sigma       float64
	sensitivity int
	made        *pld.Pairs // cache of pairs
}

// rdp returns the divergence of the continuous Gaussian, which is an upper bound. Source:
// Canonne, Kamath and Steinke 2020, Proposition 5.
func (a discreteGaussianAtom) rdp(order float64) (float64, bool) {
	mu := max(float64(a.sensitivity)/a.sigma, leastEffect)
	return order * mu * mu / 2 * (1 + 8*ulp), true
}

// pairs returns the pair of the discrete Gaussian, with one loss for each integer. The discrete
// Gaussian is no post-processing of the continuous Gaussian, so it needs its own pair.
func (a discreteGaussianAtom) pairs() *pld.Pairs {
	if a.made.Remove != nil {
		return a.made
	}
	reach := int(14*a.sigma) + 2
	d := float64(a.sensitivity)
	if a.sigma > maxAtoms/64 || a.sensitivity > maxAtoms/4 ||
		!(d*14/a.sigma+d*d/(a.sigma*a.sigma) <= 1000) {
		return nil
	}
	weight := func(x int) float64 {
		return math.Exp(-float64(x) * float64(x) / (2 * a.sigma * a.sigma))
	}
	total := 0.0
	for x := reach; x > 0; x-- {
		total += 2 * weight(x)
	}
	total++
	var loss, mass []float64
	for x := reach; x >= -reach; x-- {
		loss = append(loss, d*(d-2*float64(x))/(2*a.sigma*a.sigma))
		mass = append(mass, weight(x)/total*(1+32*ulp))
	}
	const beyond = 1e-42 // bounds the mass beyond 14σ on either side
	a.made.Remove = pld.NewDiscrete(loss, mass, beyond, 0)
	return a.made
}
