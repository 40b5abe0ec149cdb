package mechanism

import (
	"math"
	"math/big"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
)

// Exponential chooses an index with probability proportional to exp(ε·u/2), ε being the event's and u the
// index's utility.
//
// Guarantee: that of the grant's accountant.ExponentialMechanism, provided that no utility differs by more than 1
// between neighbours. The law is exact (noise class: exact): a uniform index is accepted with probability
// exp(ε(u−max)/2), and otherwise another is drawn.
// Errors: [ErrNotCovered] under any other event or the second time, also for an empty list; nothing has then been drawn.
// Source: McSherry and Talwar 2007.
func (g *Grant) Exponential(utilities []int64) (int, error) {
	e, ok := g.a.terms.other.(accountant.ExponentialMechanism)
	if !ok {
		return 0, g.a.refuse("the event is no exponential mechanism")
	}
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if len(utilities) == 0 {
		return 0, g.a.refuse("an empty list of utilities")
	}
	if err := g.chargeOnce(); err != nil {
		return 0, err
	}
	in := floatsOf(g, utilities)
	g.a.note(accountant.ExactNoise)
	out := []int64{int64(chooseExponential(utilities, e.Epsilon, g.a.stream()))}
	err := g.tellIntegers("exponential mechanism", 1, 1, in, out)
	return int(out[0]), err
}

func chooseExponential(utilities []int64, epsilon float64, bits entropy.Bits) int {
	most := int64(math.MinInt64)
	for _, u := range utilities {
		most = max(most, u)
	}
	for {
		i := int(uniformBelow(uint64(len(utilities)), bits))
		behind := uint64(most) - uint64(utilities[i]) // never overflows: most is the larger
		near := epsilon / 2 * float64(behind)
		if bernoulliExp(near, func() *big.Rat { return half(epsilon, behind) }, bits) {
			return i
		}
	}
}

// half is ε·n/2.
func half(epsilon float64, n uint64) *big.Rat {
	x := new(big.Rat).SetInt(new(big.Int).SetUint64(n))
	return x.Mul(x, ratio(epsilon)).Quo(x, big.NewRat(2, 1))
}
