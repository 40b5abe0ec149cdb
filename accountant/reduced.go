package accountant

import (
	"context"
	"sync"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Reduced is an event taken apart into the mechanisms that it is priced by. It serves programs that
// price one event several times, such as a ledger.
type Reduced struct {
	lists    [][]term // one for each part that a record may be in
	relation Relation
	running  *running // nil unless events were reduced before this one
}

// Reduce takes an event apart. If another event was reduced before it, the result is both, composed,
// and its price takes time for e only: see [Reduced.Price].
//
// Errors: *param.Error, also if the relations differ; ErrUnsupported.
func Reduce(e Event, r Relation, before ...Reduced) (Reduced, error) {
	lists, err := reduce(e, r)
	out := Reduced{lists: lists, relation: r}
	for _, b := range before {
		if b.relation != r {
			return out, param.New("accountant.Reduce.before", b.relation, "events under "+r.String())
		}
		out.running = &running{before: b.running, lists: lists}
	}
	return out, err
}

// running is a composition to which events are added one by one.
type running struct {
	once   sync.Once
	before *running
	lists  [][]term
	sum    *pld.Sum // nil if some event has none
}

// at returns the sum for a budget, or nil.
func (u *running) at(b Budget) *pld.Sum {
	if u == nil {
		if a := pld.NewAim(b.Epsilon, b.Delta); a != nil {
			return a.NewSum()
		}
		return nil
	}
	u.once.Do(func() {
		if s := u.before.at(b); s != nil && len(u.lists) == 1 {
			if s = s.Clone(); addAll(s, u.lists[0]) {
				u.sum = s
			}
		}
		u.before, u.lists = nil, nil
	})
	if s := u.sum; s != nil && s.Aim().Epsilon == b.Epsilon && s.Aim().Delta == b.Delta {
		return s
	}
	return nil
}

// addAll adds terms to s, and returns false if one has no form for sums.
func addAll(s *pld.Sum, terms []term) bool {
	for _, t := range terms {
		if g, ok := t.atom.(gaussianAtom); ok && t.n == 1 {
			s.AddGaussian(g.mu)
			continue
		}
		u := useOf(s.Aim(), t.atom)
		if u == nil {
			return false
		}
		s.Add(u, t.n)
	}
	return true
}

// A Price is the ε of an event at some δ, and how it was found.
type Price struct {
	Bound
	Engine string
	AtEdge bool // the best Rényi order is the smallest or the largest tried
}

// Price returns the price at the δ of a budget, from the best engine if order is 0, and otherwise
// from the Rényi divergences of this order alone. The lower end may be 0 if lower is false, which
// saves time.
//
// If more than 32 different events take time to price, the sampling probabilities and the effects
// of Poisson samples of Gaussian releases are rounded upward until at most 32 are different. The
// upper end is then larger than that of [Epsilon], and the lower end is 0.
//
// If events were reduced before, the price has only an upper end, which is precise if it is near the
// ε of the budget, and which is that ε if lower is false. Above the budget there is no price. The
// price does not depend on the order of the events.
//
// Errors: ErrUnsupported; the error of a context that ends first.
func (e Reduced) Price(ctx context.Context, b Budget, order float64, lower bool) (Price, error) {
	if e.running != nil {
		return e.priceRunning(ctx, b, order, lower)
	}
	if order == 0 {
		if rounded, ok := e.rounded(mostCostly); ok {
			return e.priceRounded(ctx, rounded, b.Delta)
		}
		return priceAll(ctx, e.lists, b.Delta, e.relation, lower)
	}
	worst := 0.0
	for _, terms := range e.lists {
		v, ok := rdpTerms(terms, order)
		if !ok || !(slackOf(terms) <= 0) {
			return Price{}, unsupported("an event without Rényi divergence in a filter", e.relation)
		}
		if len(terms) > 0 {
			worst = max(worst, EpsilonFromRDP(order, v, b.Delta))
		}
	}
	return Price{Bound: Bound{0, worst, worst}, Engine: engineRDP}, nil
}

func (e Reduced) priceRunning(ctx context.Context, b Budget, order float64,
	precise bool) (Price, error) {
	if err := ctx.Err(); err != nil {
		return Price{}, err
	}
	if s := e.running.at(b); s != nil && order == 0 {
		if eps := s.Epsilon(precise); eps <= b.Epsilon {
			return Price{Bound: Bound{0, eps, eps}, Engine: enginePLD}, nil
		}
	}
	return Price{}, unsupported("so much in a running sum", e.relation)
}

// EpsilonFromRDP converts a Rényi divergence of the given order to the ε at δ, rounded up. Source:
// Canonne, Kamath and Steinke 2020, Proposition 12.
func EpsilonFromRDP(order, divergence, delta float64) float64 {
	return renyi.Epsilon(order, divergence, delta)
}
