package mechanism

import (
	"math"
	"math/bits"
)

// A Guess is a table of counts with a public answer for each count; see [Grant.Worst].
type Guess struct {
	Counts  *FixedSum
	Answers []float64 // one for each count
	// Weight, in (0, 1], multiplies the distance; it is rounded down to a multiple of 2^-16.
	Weight float64
	// Handicap is subtracted from the weighted distance, and rounded to a whole number.
	Handicap float64
}

const (
	guessWeight = 1 << 16 // steps of a weight
	mostGuess   = 1 << 17 // counts
	mostApart   = 1 << 45 // largest distance of a count from its answer, in steps of the grid
)

// Worst chooses one of several guesses with probability proportional to exp(ε·u/2), where ε is the
// event's and u is the guess's utility. The utility starts with the sum of the distances of counts
// from answers. This sum is multiplied by the weight, divided by change and rounded down. Then the
// handicap is subtracted.
//
// Guarantee: the guarantee of Exponential, provided that the counts of every guess change by at
// most change in total between neighbours. For records that count once in each table, change is 1
// if a record is added or removed, and 2 if a record is replaced. The utility is computed in whole
// numbers. Distances are in steps of the sums' grid and limited to 2^45 steps, so that no distance
// changes by more than its count. A count that wraps around would change by more, so the grid must
// leave room for counts of 2^39.
// Errors: the errors of Exponential. [ErrNotCovered] also if the numbers of answers and counts
// differ or are above 2^17, and for a change other than 1 and 2. [ErrNotCovered] also for a weight
// outside (0, 1], a handicap that is not finite or above 2^60, and a grid outside [FinestCounts] to
// 1. Nothing has then been drawn.
func (g *Grant) Worst(list []Guess, change int) (int, error) {
	if change != 1 && change != 2 {
		return 0, g.a.refuse("counts that change by %d between neighbours: must be 1 or 2", change)
	}
	utilities := make([]int64, len(list))
	for i, c := range list {
		if !c.Counts.made() || len(c.Answers) != len(c.Counts.sum) || len(c.Answers) > mostGuess ||
			!isPowerOfTwo(c.Counts.grid) || c.Counts.grid > 1 || c.Counts.grid < FinestCounts ||
			!(c.Weight > 0 && c.Weight <= 1) || !(math.Abs(c.Handicap) <= 0x1p60) {
			return 0, g.a.refuse("a guess is invalid: want an answer for each of at most 2^17 counts, a " +
				"grid from 2^-24 to 1, a weight in (0, 1] and a handicap within ±2^60")
		}
		utilities[i] = c.utility(change)
	}
	return g.Exponential(utilities)
}

// utility returns the guess's utility; see Grant.Worst.
func (c Guess) utility(change int) int64 {
	var apart uint64 // at most 2^62
	for i, count := range c.Counts.sum {
		d := float64(count) - min(max(math.Round(c.Answers[i]*c.Counts.inverse), -mostApart), mostApart)
		if d == d { // a NaN answer contributes nothing, whatever the count
			apart += uint64(min(math.Abs(d), mostApart))
		}
	}
	hi, lo := bits.Mul64(apart, uint64(c.Weight*guessWeight))
	per := uint64(change) * guessWeight * uint64(c.Counts.inverse)
	whole, _ := bits.Div64(hi, lo, per)
	return int64(whole) - int64(math.Round(c.Handicap))
}
