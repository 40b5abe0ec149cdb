package accountant

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
	"github.com/seed7ba64551/privgen/internal/param"
)

// RDP returns an upper bound of the Rényi divergence of the given order between the outputs of e on
// neighbouring data sets. If the package knows the exact value, the bound exceeds it only in the
// last few digits. Units: nats. Order: above 1. Source: Mironov 2017; Mironov, Talwar and Zhang
// 2019.
//
// Errors: *param.Error; ErrUnsupported.
func RDP(e Event, order float64, r Relation) (float64, error) {
	if !(order > 1) || math.IsInf(order, 0) {
		return 0, param.New("accountant.RDP.order", order, "a finite number above 1")
	}
	alts, err := reduce(e, r)
	if err != nil {
		return 0, err
	}
	worst := 0.0
	for _, terms := range alts {
		v, ok := rdpTerms(terms, order)
		if !ok || !(slackOf(terms) <= 0) {
			return 0, unsupported("the Rényi divergence of "+e.kind(), r)
		}
		worst = math.Max(worst, v)
	}
	return worst, nil
}

func rdpTerms(terms []term, order float64) (float64, bool) {
	sum := 0.0
	for _, t := range terms {
		v, ok := t.atom.rdp(order)
		if !ok {
			return 0, false
		}
		if !(v >= 0) { // NaN, or an underflow of a bound that cancels
			v = math.Inf(1)
		}
		sum += float64(t.n) * v
	}
	return sum, true
}

// rdpReport is an ε obtained from Rényi divergences.
type rdpReport struct {
	epsilon float64 // a sound upper bound
	order   float64 // the order that gave epsilon
	atEdge  bool    // the best order is the smallest or largest tried: other orders could be better
}

// rdpEpsilon returns the smallest ε over renyi.Orders, by the conversion of Canonne, Kamath and
// Steinke 2020, Proposition 12. It returns false if an atom has no known divergence.
func rdpEpsilon(terms []term, delta float64) (rdpReport, bool) {
	if len(terms) == 0 {
		return rdpReport{}, true
	}
	if delta -= slackOf(terms); !(delta > 0) {
		_, ok := rdpTerms(terms, 2)
		return rdpReport{epsilon: math.Inf(1)}, ok
	}
	s := orderSearch{terms: terms, orders: renyi.Orders(), convert: func(order, rdp float64) float64 {
		return EpsilonFromRDP(order, rdp, delta)
	}}
	if !s.search() {
		return rdpReport{epsilon: math.Inf(1)}, false
	}
	edge := s.best > 0 && (s.index == 0 || s.index == len(s.orders)-1)
	return rdpReport{s.best, s.orders[s.index], edge}, true
}

// orderSearch looks for the order at which a conversion gives the smallest value.
type orderSearch struct {
	terms   []term
	orders  []float64
	convert func(order, rdp float64) float64
	tried   map[int]float64
	best    float64
	index   int // of the best order
}

// at returns the conversion at order i; ok is false if an atom has no divergence.
func (s *orderSearch) at(i int) (v float64, ok bool) {
	if v, ok = s.tried[i]; ok {
		return v, true
	}
	d, ok := rdpTerms(s.terms, s.orders[i])
	if !ok {
		return 0, false
	}
	v = s.convert(s.orders[i], d)
	if len(s.tried) == 0 {
		s.tried, s.best, s.index = map[int]float64{}, v, i
	}
	if s.tried[i] = v; v < s.best {
		s.best, s.index = v, i
	}
	return v, true
}

// stride is the step of the first pass over the orders.
const stride = 18

// search tries every 18th order until the value has risen twice. It then bisects between the
// neighbours of the best of these orders.
//
// (α−1)·ε(α) and log δ(α) are sums of three parts. The first part is a log moment, which is convex
// in α. The second part is λ·log λ − (λ+1)·log(λ+1) with λ = α−1, which is convex too. The third
// part is linear. So both ε(α) and log δ(α) fall up to their least value and rise after it. If a
// divergence is only an upper bound, it may lack this form and mislead the search. The answer is
// then larger but still sound.
func (s *orderSearch) search() bool {
	last, rises := math.Inf(1), 0
	for i := 0; i < len(s.orders) && rises < 2; i += stride {
		v, ok := s.at(i)
		if !ok || v == 0 {
			return ok
		}
		if v > last {
			rises++
		}
		last = v
	}
	lo, hi := max(0, s.index-stride), min(len(s.orders)-1, s.index+stride)
	for hi-lo > 2 {
		mid := lo + (hi-lo)/2
		a, _ := s.at(mid)
		if b, _ := s.at(mid + 1); a <= b {
			hi = mid + 1
		} else {
			lo = mid
		}
	}
	for i := lo; i <= hi; i++ {
		s.at(i)
	}
	return true
}

func rdpDelta(terms []term, eps float64) (float64, bool) {
	s := orderSearch{terms: terms, orders: renyi.Orders(), convert: func(order, rdp float64) float64 {
		return renyi.Delta(order, rdp, eps)
	}}
	if !s.search() {
		return 1, false
	}
	return renyi.AtMost(1, s.best+slackOf(terms)), true
}
