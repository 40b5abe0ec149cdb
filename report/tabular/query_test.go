package tabular

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestIndexChoosesWhatTheConditionSays compares an index of one, of three and of many parts with
// the condition itself, for numbers, of which some are missing or at an edge of a part, and for
// levels, of which there may be more than parts.
func TestIndexChoosesWhatTheConditionSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, parts := range []int{1, 3, 128} {
		number := column{number: true, lo: -1, hi: 3}
		level := column{levels: make([]string, 5)}
		for r := range 200 {
			v := -1 + float64(rng.IntN(33))/8
			if r%10 == 0 {
				v = math.NaN()
			}
			number.values, level.codes = append(number.values, v), append(level.codes, rng.Int32N(6)-1)
		}
		numbers, levels := newIndex(number, parts), newIndex(level, parts)
		if parts == 3 != (levels.below == nil) && parts > 1 {
			t.Fatalf("%d parts of 5 levels: indexed %v", parts, levels.below != nil)
		}
		for range 50 {
			c := condition{lo: float64(rng.IntN(17)) / 16, levels: make([]bool, 5)}
			c.hi = c.lo + float64(rng.IntN(9))/16
			for l := range c.levels {
				c.levels[l] = rng.IntN(2) == 0
			}
			chosen := make([]uint64, (200+63)/64)
			for j, x := range []*index{&numbers, &levels} {
				own := c
				if j == 0 {
					own.levels = nil
				}
				x.choose(own, chosen)
				for r, v := range number.values {
					want := number.place(v) >= c.lo && number.place(v) <= c.hi
					if j == 1 {
						want = level.codes[r] >= 0 && c.levels[level.codes[r]]
					}
					if got := chosen[r/64]>>(r%64)&1 == 1; got != want {
						t.Fatalf("%d parts, column %d, record %d: chosen %v, want %v", parts, j, r, got, want)
					}
				}
			}
		}
	}
}
