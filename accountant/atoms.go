package accountant

import (
	"fmt"
	"math"
	"slices"
)

// leafAtom gives the atom of an event that contains no other.
func leafAtom(e Event, r Relation) (atom, error) {
	switch v := e.(type) {
	case Laplace:
		return laplaceAtom{min(v.Scale, 1e9)}, nil // less noise than stated only costs more
	case DiscreteGaussian:
		return discreteGaussianAtom{v.Sigma, v.Sensitivity}, nil
	case DiscreteLaplace:
		return discreteLaplaceAtom{v.A, v.Sensitivity}, nil
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
func (a zcdpAtom) pairs() *pairs                     { return nil }
func (a approximateAtom) slack() float64             { return a.delta }
func (a sampledAtom) key() string                    { return fmt.Sprintf("sampled %b of %s", a.q, a.within.key()) }
func (a sampledAtom) pairs() *pairs                  { return sampledBoth(a.q, a.within.pairs()) }
func (a mixtureAtom) key() string                    { return fmt.Sprintf("mixture %+v", a.GaussianMixture) }
func (a laplaceAtom) key() string                    { return fmt.Sprintf("laplace %b", a.scale) }
func (a laplaceAtom) pairs() *pairs                  { return &pairs{remove: laplacePair(a.scale)} }
func (a exponentialAtom) key() string                { return fmt.Sprintf("exponential %b", a.eps) }
func (a exponentialAtom) pairs() *pairs              { return &pairs{remove: exponentialPair(a.eps)} }
func (a discreteGaussianAtom) key() string {
	return fmt.Sprintf("dgauss %b %d", a.sigma, a.sensitivity)
}
func (a discreteLaplaceAtom) key() string { return fmt.Sprintf("dlap %b %d", a.a, a.sensitivity) }
func (a responseAtom) key() string        { return fmt.Sprintf("response %b %d", a.noise, a.categories) }
func (a approximateAtom) key() string     { return fmt.Sprintf("approximate %b %b", a.eps, a.delta) }

// sampledAtom is a Poisson sample of a mechanism that is not Gaussian, under AddOrRemoveOne.
type sampledAtom struct {
	q      float64
	within atom
}

func (a sampledAtom) rdp(order float64) (float64, bool) {
	p := a.pairs()
	v, ok := rdpOfPair(p.remove, order)
	if !ok || p.add == nil {
		return v, ok
	}
	w, ok := rdpOfPair(p.add, order)
	return max(v, w), ok
}

// rdpOfPair bounds the divergence of a pair of bounded loss by that of its connected dots, which dominate it; false for others. The moment minus one
// is E_Q[r^α − 1 − α(r − 1)], of which no part is negative and nothing cancels.
func rdpOfPair(p pair, order float64) (float64, bool) {
	if !planFits([]pair{p}, 1e-300) {
		return 0, false
	}
	nodes := apart(p.plan(1e-300))
	var c cells
	p.cut(nodes, &c)
	if c.topE > 0 {
		return 0, false
	}
	var s logSum
	add := func(m, l float64) { // P has mass m at loss l
		if m > 0 && l != 0 {
			s.add(math.Log(m) - l + logMomentGap(1, l, order))
		}
	}
	for i := range c.e {
		w := nodes[i+1] - nodes[i]
		add((c.e[i]+c.err[i])/-math.Expm1(-w), nodes[i+1])
		add((c.d[i]+c.err[i])/math.Expm1(w), nodes[i])
	}
	add(c.lowP+c.lowErr, nodes[0])
	if c.lowD+c.lowErr > 0 { // Q that is left over when P's losses move up to the first node
		s.add(math.Log(order-1) + math.Log(c.lowD+c.lowErr) - nodes[0])
	}
	add(c.topQ*math.Exp(nodes[len(nodes)-1]), nodes[len(nodes)-1])
	return fromMomentMinusOne(s.value(), order, 1e-8), true
}

// apart leaves out nodes so close to the next that their distance has lost its digits, and moves the last one clear of the largest loss.
func apart(nodes []float64) []float64 {
	n := len(nodes)
	size := max(math.Abs(nodes[0]), math.Abs(nodes[n-1]))
	out := []float64{nodes[n-1] + 1e-9*size}
	for i := n - 2; i >= 0; i-- {
		if out[len(out)-1]-nodes[i] >= 1e-6*size {
			out = append(out, nodes[i])
		}
	}
	slices.Reverse(out)
	return out
}

type laplaceAtom struct{ scale float64 }

// rdp is Mironov 2017, Proposition 6, with 1 subtracted from both terms; their first orders cancel, which the margin pays for.
func (a laplaceAtom) rdp(order float64) (float64, bool) {
	x := (order - 1) / a.scale
	first := order / (2*order - 1)
	second := (order - 1) / (2*order - 1)
	if x > 30 {
		return (x + math.Log(first) + math.Log1p(second/first*math.Exp(-order/a.scale-x))) / (order - 1) * (1 + 8*ulp), true
	}
	t1, t2 := first*math.Expm1(x), second*math.Expm1(-order/a.scale)
	return math.Log1p(max(0, t1+t2)+4*ulp*(t1-t2)) / (order - 1) * (1 + 4*ulp), true
}

type exponentialAtom struct{ eps float64 }

// rdp: bounded range ε is ε²/8-zCDP (Cesar and Rogers 2021), and the mechanism is ε-differentially private.
func (a exponentialAtom) rdp(order float64) (float64, bool) {
	pure, _ := approximateAtom{a.eps, 0}.rdp(order)
	return min(order*a.eps*a.eps/8*(1+8*ulp), pure), true
}

type approximateAtom struct{ eps, delta float64 }

// rdp of the part that is not lost to δ: binary randomised response, log of (e^{αε} + e^{(1−α)ε})/(1+e^ε).
func (a approximateAtom) rdp(order float64) (float64, bool) {
	if a.eps == 0 {
		return 0, true
	}
	// The moment minus one is (e^{αε}−e^ε)(1−e^{−αε})/(1+e^ε), where nothing cancels.
	x := (order - 1) * a.eps
	s := logExpm1(x) + a.eps + math.Log(-math.Expm1(-order*a.eps)) - math.Log1p(math.Exp(-math.Abs(a.eps))) - a.eps
	return min(a.eps*(1+2*ulp), fromMomentMinusOne(s, order, 8*ulp*(1+math.Abs(s)))), true
}

func (a approximateAtom) pairs() *pairs {
	keep := 1 - a.delta
	up := keep / (1 + math.Exp(-a.eps))
	down := keep / (1 + math.Exp(a.eps))
	if a.eps == 0 {
		return &pairs{remove: &discretePair{loss: []float64{0}, mass: []float64{keep}, inf: a.delta, never: a.delta}}
	}
	return &pairs{remove: &discretePair{loss: []float64{-a.eps, a.eps}, mass: []float64{down, up}, inf: a.delta, never: a.delta}}
}

type responseAtom struct {
	noise      float64
	categories int
}

func (a responseAtom) pairs() *pairs {
	other := a.noise / float64(a.categories)
	own := 1 - a.noise + other
	rest := a.noise * float64(a.categories-2) / float64(a.categories)
	gap := math.Log(own / other)
	if gap == 0 {
		return &pairs{remove: &discretePair{loss: []float64{0}, mass: []float64{1}}}
	}
	return &pairs{remove: &discretePair{loss: []float64{-gap, 0, gap}, mass: []float64{other, rest, own}}}
}

func (a responseAtom) rdp(order float64) (float64, bool) {
	return a.pairs().remove.(*discretePair).rdp(order), true
}

type discreteLaplaceAtom struct {
	a           float64
	sensitivity int
}

const maxAtoms = 1 << 17

// pairs: every integer at or below 0 has loss aΔ, at or above Δ loss −aΔ, and between them a(Δ−2x).
func (a discreteLaplaceAtom) pairs() *pairs {
	if a.sensitivity > maxAtoms {
		return approximateAtom{a.a * float64(a.sensitivity), 0}.pairs()
	}
	p := &discretePair{}
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
		p.loss = append(p.loss, a.a*(d-2*float64(x)))
		p.mass = append(p.mass, m)
	}
	return &pairs{remove: p}
}

func (a discreteLaplaceAtom) rdp(order float64) (float64, bool) {
	if a.sensitivity > maxAtoms {
		return approximateAtom{a.a * float64(a.sensitivity), 0}.rdp(order)
	}
	return a.pairs().remove.(*discretePair).rdp(order), true
}

type discreteGaussianAtom struct {
	sigma       float64
	sensitivity int
}

// rdp is at most the continuous Gaussian's. Source: Canonne, Kamath and Steinke 2020, Proposition 5.
func (a discreteGaussianAtom) rdp(order float64) (float64, bool) {
	mu := float64(a.sensitivity) / a.sigma
	return order * mu * mu / 2 * (1 + 8*ulp), true
}

// pairs: the discrete Gaussian is not post-processing of the continuous one, so it has its own losses, one for each integer.
func (a discreteGaussianAtom) pairs() *pairs {
	reach := int(14*a.sigma) + 2
	d := float64(a.sensitivity)
	if a.sigma > maxAtoms/64 || a.sensitivity > maxAtoms/4 || d*14/a.sigma+d*d/(a.sigma*a.sigma) > 1000 {
		return nil
	}
	weight := func(x int) float64 { return math.Exp(-float64(x) * float64(x) / (2 * a.sigma * a.sigma)) }
	total := 0.0
	for x := reach; x > 0; x-- {
		total += 2 * weight(x)
	}
	total++
	p := &discretePair{}
	for x := reach; x >= -reach; x-- {
		p.loss = append(p.loss, d*(d-2*float64(x))/(2*a.sigma*a.sigma))
		p.mass = append(p.mass, weight(x)/total*(1+32*ulp))
	}
	p.inf = 1e-42 // of what lies 14σ out, on either side
	return &pairs{remove: p}
}

// truncatedAtom: whether the others alone fill the batch does not depend on the record. If they do not, its presence is a Poisson
// sample; if they do, it can only take another's place, at the rate P(Bin(n,q) > B)·B/(n·P(Bin(n−1,q) ≥ B)) and with twice the effect. Population
// counts the record. Source: Ganesh 2025.
func truncatedAtom(v TruncatedPoisson, r Relation) atom {
	full := binomialAtLeast(v.MaxBatch, v.Population-1, v.Probability)
	q, mu := sampledEffect(v.Probability, 1/v.NoiseMultiplier)
	a := truncAtom{q: q, mu: mu, full: min(1, full), relation: r}
	if full > 0 {
		more := binomialAtLeast(v.MaxBatch+1, v.Population, v.Probability)
		a.rate = min(1, more/full*float64(v.MaxBatch)/float64(v.Population)*(1+1e-9))
	}
	return a
}

type truncAtom struct {
	q, mu, full, rate float64
	relation          Relation
}

func (a truncAtom) key() string {
	return fmt.Sprintf("truncated %b %b %b %b", a.q, a.mu, a.full, a.rate)
}

func (a truncAtom) halves() (whole, cut atom) {
	if a.relation == ReplaceOne {
		return rateAtom(oppositeAtom{a.q, a.mu}), rateAtom(gluedAtom{q: a.rate, mu: 2 * a.mu})
	}
	return rateAtom(sampledGaussian{a.q, a.mu}), rateAtom(sampledGaussian{a.rate, 2 * a.mu})
}

// rateAtom replaces a sample of everything by no sample; a rate of zero stays, as an effect that is never seen.
func rateAtom(a atom) atom {
	switch v := a.(type) {
	case oppositeAtom:
		if v.q >= 1 {
			return gaussianAtom{2 * v.mu}
		}
	case gluedAtom:
		if v.q >= 1 {
			return gaussianAtom{v.mu}
		}
	case sampledGaussian:
		if v.q >= 1 {
			return gaussianAtom{v.mu}
		}
	}
	return a
}

func (a truncAtom) rdp(order float64) (float64, bool) {
	whole, cut := a.halves()
	x, okX := whole.rdp(order)
	y, okY := cut.rdp(order)
	// Which half it was is public, so the moments mix.
	var s logSum
	s.add(math.Log1p(-a.full) + logExpm1((order-1)*x))
	s.add(math.Log(a.full) + logExpm1((order-1)*y))
	return fromMomentMinusOne(s.value(), order, 1e-14), okX && okY
}

func (a truncAtom) pairs() *pairs {
	whole, cut := a.halves()
	if a.full == 0 || a.rate == 0 {
		return whole.pairs()
	}
	x, y := whole.pairs(), cut.pairs()
	out := &pairs{remove: newBlendPair(a.full, y.remove, x.remove), loose: true}
	if x.add != nil || y.add != nil {
		xa, ya := x.add, y.add
		if xa == nil {
			xa = x.remove
		}
		if ya == nil {
			ya = y.remove
		}
		out.add = newBlendPair(a.full, ya, xa)
	}
	return out
}

// binomialTerm is P(Bin(n, q) = j), by the saddle point expansion of Loader 2000: logarithms of factorials of large numbers differ by too little to
// keep the digits of the quotient.
func binomialTerm(j, n int, q float64) float64 {
	if j == 0 {
		return math.Exp(float64(n) * math.Log1p(-q))
	}
	if j == n {
		return math.Exp(float64(n) * math.Log(q))
	}
	a, b, all := float64(j), float64(n-j), float64(n)
	s := stirlingRest(all) - stirlingRest(a) - stirlingRest(b) - deviance(a, all*q) - deviance(b, all*(1-q))
	return math.Exp(s) * math.Sqrt(all/(2*math.Pi*a*b))
}

// stirlingRest is log n! − log(√(2πn)·(n/e)^n).
func stirlingRest(n float64) float64 {
	if n < 16 {
		v, _ := math.Lgamma(n + 1)
		return v - (n+0.5)*math.Log(n) + n - 0.5*math.Log(2*math.Pi)
	}
	r := 1 / (n * n)
	return (1./12 - r*(1./360-r*(1./1260-r*(1./1680-r/1188)))) / n
}

// deviance is x·log(x/m) + m − x, without cancellation where x and m are close.
func deviance(x, m float64) float64 {
	d := x - m
	if math.Abs(d) >= 0.1*(x+m) {
		return x*math.Log(x/m) - d
	}
	v := d / (x + m)
	s, t := d*v, 2*x*v
	for j := 3.0; ; j += 2 {
		t *= v * v
		next := s + t/j
		if next == s {
			return s
		}
		s = next
	}
}

// binomialAtLeast is P(Bin(n, q) ≥ k), rounded up.
func binomialAtLeast(k, n int, q float64) float64 {
	if k <= 0 {
		return 1
	}
	if k > n || q == 0 {
		return 0
	}
	if q == 1 {
		return 1
	}
	term := func(j int) float64 { return binomialTerm(j, n, q) }
	// Terms are summed away from the mode, where their ratio decides when the rest is negligible.
	mode := int(float64(n) * q)
	if k > mode {
		sum, t := 0.0, term(k)
		for j := k; j <= n; j++ {
			sum += t
			t *= float64(n-j) / float64(j+1) * q / (1 - q)
			if t < 1e-18*sum {
				break
			}
		}
		return min(1, sum*(1+1e-10))
	}
	sum, t := 0.0, term(k-1)
	for j := k - 1; j >= 0; j-- {
		sum += t
		t *= float64(j) / float64(n-j+1) * (1 - q) / q
		if t < 1e-18 {
			break
		}
	}
	return min(1, max(0, 1-sum*(1-1e-10))+1e-12)
}
