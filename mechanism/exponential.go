package mechanism

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// Exponential chooses an index with probability proportional to exp(ε·u/2), where ε is the
// event's and u is the index's utility.
//
// Guarantee: the cost of the choice is the cost of the grant's accountant.ExponentialMechanism. No
// utility may differ by more than 1 between neighbours. The probabilities are exact (noise class:
// exact): a uniform index is accepted with probability exp(ε(u−max)/2), and otherwise another index
// is drawn, of those not drawn before if the event says Permute. Errors: [ErrNotCovered] under any
// other event or at a second call, also for an empty list; nothing is drawn then. Source: McSherry
// and Talwar 2007; McKenna and Sheldon 2020 for Permute.
func (g *Grant) Exponential(utilities []int64) (int, error) {
	e, ok := g.a.terms.other.(accountant.ExponentialMechanism)
	if !ok {
		return 0, g.a.refuse("the event is not an accountant.ExponentialMechanism")
	}
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if len(utilities) == 0 {
		return 0, g.a.refuse("an empty list of utilities: want at least one utility")
	}
	if err := g.chargeOnce(); err != nil {
		return 0, err
	}
	in := floatsOf(g, utilities)
	g.a.note(ledger.ExactNoise)
	out := []int64{int64(sampler.ChooseExponential(utilities, e.Epsilon, e.Permute, g.a.stream()))}
	err := g.tellIntegers("exponential mechanism", 1, 1, in, out)
	return int(out[0]), err
}

// Farthest chooses a coordinate of counts with probability proportional to exp(ε·d/2), where ε is
// the event's and d is the distance of the count from its answer. Counts are whole numbers, added
// by FixedSum.AddInt on a grid that divides 1.
//
// Guarantee: see [Grant.Exponential]. It holds if the answers are public and no count differs by
// more than 1 between neighbours. A count that wraps around would differ by more, so the grid must
// leave room for counts of 2^39. Counts and answers beyond 2^61 count as 2^61. Errors: the errors
// of Exponential; [ErrNotCovered] if the numbers of answers and counts differ, or for a grid
// outside [FinestCounts] to 1. Nothing has then been drawn.
func (g *Grant) Farthest(counts *FixedSum, answers []int64) (int, error) {
	if !counts.made() || len(answers) != len(counts.sum) || !isPowerOfTwo(counts.grid) ||
		counts.grid > 1 || counts.grid < FinestCounts {
		return 0, g.a.refuse("%d answers for %d counts on a grid of %v: want one for each, on a "+
			"power of two from 2^-24 to 1", len(answers), counts.Dim(), counts.Grid())
	}
	_, exponent := math.Frexp(counts.inverse)
	within := func(x int64) int64 { return min(max(x, -1<<61), 1<<61) }
	utilities := make([]int64, len(answers))
	for i, a := range answers {
		d := within(counts.sum[i]>>(exponent-1)) - within(a)
		utilities[i] = max(d, -d)
	}
	return g.Exponential(utilities)
}

// FinestCounts is the finest grid of counts for [Grant.Farthest].
const FinestCounts = 0x1p-24
