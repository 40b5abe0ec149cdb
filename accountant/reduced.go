package accountant

import (
	"context"

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

// Reduce takes an event apart. If one other event was reduced before, the result is both, composed.
// Its price takes time for e only: see [Reduced.Price].
//
// Errors: *param.Error, also for more than one event before, or another relation; ErrUnsupported.
func Reduce(e Event, r Relation, before ...Reduced) (Reduced, error) {
	if len(before) > 1 {
		return Reduced{}, param.New("accountant.Reduce.before", len(before), "one reduced event at most")
	}
	lists, err := reduce(e, r)
	out := Reduced{lists: lists, relation: r}
	for _, b := range before {
		if b.relation != r {
			return Reduced{}, param.New("accountant.Reduce.before", b.relation, "events under "+r.String())
		}
		if b.running == nil {
			b.running = newRunning(nil, b.lists)
		}
		out.running = newRunning(b.running, lists)
	}
	return out, err
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
// If events were reduced before, the price has only an upper end, which is precise if it is near
// the ε of the budget, and which is that ε if lower is false. Above the budget there is no price.
// The price does not depend on the order of the events.
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

// EpsilonFromRDP converts a Rényi divergence of the given order to the ε at δ, rounded up. Source:
// Canonne, Kamath and Steinke 2020, Proposition 12.
func EpsilonFromRDP(order, divergence, delta float64) float64 {
	return renyi.Epsilon(order, divergence, delta)
}
