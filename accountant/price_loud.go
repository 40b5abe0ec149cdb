package accountant

import (
	"math"
	"sort"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// loud is n uses of a Gaussian release on a Poisson sample, or on an allocation, with so little
// noise that the releases all but tell who takes part. Losses are then too large for a grid, and
// Rényi divergences must assume that the record takes part in every step.
//
// Upper end: let it be public in which steps the record takes part. With K of them, all releases
// are one of effect √K·μ, so δ(ε) ≤ E δ_{√K·μ}(ε). Under replace-one, for rows that are opposite,
// dN(0,1)/dQ ≤ 1/(1−q) in every step, so no loss exceeds that of removing a record by more than
// shift = −n·log(1−q).
//
// Lower end: let A be the event that k steps, or epochs, have a value above c. Then
// δ(ε) ≥ P(A) − e^ε·Q(A), and Q(A) ≤ (en/k)^k·b^k if one has such a value under Q with probability
// at most b.
type loud struct {
	n     int
	q, mu float64
	shift float64
	steps float64 // of an epoch; 1 for samples
}

// leastLoud is the smallest effect of loud releases, and mostTakingPart the largest number of steps
// in which a record is counted.
const leastLoud, mostTakingPart = 16, 2048

func loudOf(terms []term) (l loud, ok bool) {
	if len(terms) != 1 {
		return l, false
	}
	l = loud{n: terms[0].n, steps: 1, q: 1, mu: math.Inf(1)}
	switch a := terms[0].atom.(type) {
	case sampledGaussian:
		l.q, l.mu = a.q, a.mu
	case gluedAtom:
		l.q, l.mu = a.q, a.mu
	case oppositeAtom:
		l.q, l.mu, l.shift = a.q, a.mu, -float64(l.n)*math.Log1p(-a.q)*(1+8*ulp)
	case allocationAtom:
		l.mu, l.steps = a.mu, float64(a.steps)
		if a.share > 0 { // the steps of two sets are the same for some records
			l.steps = math.Inf(1)
		}
	}
	return l, l.mu < 1e100
}

// upper returns an upper bound of δ(eps).
func (l loud) upper(eps float64) float64 {
	gauss := func(k int) float64 {
		mu := l.mu * math.Sqrt(float64(k)) * (1 + 4*ulp)
		return pld.GaussianDelta(mu, eps-l.shift) + pld.GaussianDeltaError(mu, eps-l.shift)
	}
	if eps <= l.shift {
		return 1
	}
	if l.q >= 1 {
		return gauss(l.n)
	}
	sum := 0.0
	for k := range min(l.n, mostTakingPart) {
		sum += binomialTerm(k+1, l.n, l.q) * gauss(k+1) * (1 + 1e-9)
		if rest := binomialAtLeast(k+2, l.n, l.q); rest < 1e-3*sum || k+1 == l.n {
			return min(1, sum+rest)
		}
	}
	return 1
}

// lower returns the largest ε at which δ is at least delta, of some events A.
func (l loud) lower(delta float64) (best float64) {
	if !(l.mu > leastAllocated && float64(l.n) <= 1<<40) { // otherwise the effect may be smaller
		return 0
	}
	for c := max(0, l.mu-4); c < l.mu+14; c += 0.25 {
		above := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 * (1 - 1e-12) }
		a := l.q*above(c-l.mu) + (1-l.q)*above(c)
		b := math.Log(above(c)) + 1e-11
		if c > 30 { // Φ(−c) ≤ φ(c)/c
			b = -c*c/2 - math.Log(c) - math.Log(2*math.Pi)/2
		}
		b += math.Log(l.steps)
		chance := func(k int) float64 { // of k steps, rounded down
			p := binomialAtLeast(k, l.n, a) * (1 - 1e-9)
			if k <= int(float64(l.n)*a)+1 { // computed as a difference
				p -= 2e-12
			}
			return p
		}
		k := sort.Search(min(l.n, mostTakingPart), func(k int) bool { return !(chance(k+1) > 2*delta) })
		for _, k := range []int{k + 1, k, k - 1, k / 2, 1} {
			if p := chance(k); k > 0 && k <= l.n && p > delta {
				log := float64(k) * (1 + math.Log(float64(l.n)/float64(k)) + b)
				if k == 1 {
					log = math.Log(float64(l.n)) + b
				}
				best = max(best, (math.Log(p-delta)-log)*(1-1e-9))
			}
		}
	}
	return best
}

// public returns the effect of all releases as if it were public who takes part in each, which is
// never smaller.
func public(terms []term) (mu float64, ok bool) {
	sum := 0.0
	for _, t := range terms {
		q := 1.0
		switch a := t.atom.(type) {
		case sampledGaussian:
			q, mu = a.q, a.mu
		case gluedAtom:
			q, mu = a.q, a.mu
		case oppositeAtom:
			q, mu = a.q, 2*a.mu
		case allocationAtom:
			mu = a.mu
		case gaussianAtom:
			mu = a.mu
		default:
			return 0, false
		}
		if !(q <= 1) { // NaN
			return 0, false
		}
		sum += float64(t.n) * mu * mu
	}
	return math.Sqrt(sum) * (1 + 8*ulp*float64(len(terms)+1)), true
}

// byLoud improves p for loud releases.
func (p *Price) byLoud(l loud, delta float64) {
	hi := p.Upper
	if !(hi < math.Inf(1) && l.mu >= leastLoud) || l.upper(hi) > delta {
		return
	}
	lo := 0.0
	for range 60 {
		if mid := lo + (hi-lo)/2; l.upper(mid) <= delta {
			hi = mid
		} else {
			lo = mid
		}
	}
	p.improve(Bound{Upper: hi}, engineGauss)
}
