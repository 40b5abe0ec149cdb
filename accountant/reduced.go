package accountant

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// Reduced is an event taken apart into the mechanisms that it is priced by. It serves programs that
// price one event several times, such as a ledger.
type Reduced struct {
	lists    [][]term // one for each part that a record may be in
	relation Relation
}

// Reduce takes an event apart.
//
// Errors: *param.Error; ErrUnsupported.
func Reduce(e Event, r Relation) (Reduced, error) {
	lists, err := reduce(e, r)
	return Reduced{lists, r}, err
}

// A Price is the ε of an event at some δ, and how it was found.
type Price struct {
	Bound
	Engine string
	AtEdge bool // the best Rényi order is the smallest or the largest tried
}

// Price returns the price at δ, from the best engine if order is 0, and otherwise from the Rényi
// divergences of this order alone. The lower end may be 0 if lower is false, which saves time.
//
// If more than 32 different events take time to price, the sampling probabilities and the effects
// of Poisson samples of Gaussian releases are rounded upward until at most 32 are different. The
// upper end is then larger than that of [Epsilon], and the lower end is 0.
//
// Errors: ErrUnsupported; the error of a context that ends first.
func (e Reduced) Price(ctx context.Context, delta, order float64, lower bool) (Price, error) {
	if order == 0 {
		if rounded, ok := e.rounded(mostCostly); ok {
			return e.priceRounded(ctx, rounded, delta)
		}
		return priceAll(ctx, e.lists, delta, e.relation, lower)
	}
	worst := 0.0
	for _, terms := range e.lists {
		v, ok := rdpTerms(terms, order)
		if !ok || !(slackOf(terms) <= 0) {
			return Price{}, unsupported("an event without Rényi divergence in a filter", e.relation)
		}
		if len(terms) > 0 {
			worst = max(worst, EpsilonFromRDP(order, v, delta))
		}
	}
	return Price{Bound: Bound{0, worst, worst}, Engine: engineRDP}, nil
}

// EpsilonFromRDP converts a Rényi divergence of the given order to the ε at δ, rounded up. Source:
// Canonne, Kamath and Steinke 2020, Proposition 12.
func EpsilonFromRDP(order, divergence, delta float64) float64 {
	return renyi.Epsilon(order, divergence, delta)
}
