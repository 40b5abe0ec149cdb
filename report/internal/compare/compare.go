// Package compare holds what reports and measures share: draws of records, checks that records are
// comparable, and work on all cores.
package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// AtMost returns d, or the given number of its rows drawn at random if it has more.
func AtMost(d records.Data, most int, seed uint64) records.Data {
	if d.Len() <= most {
		return d
	}
	rng := rand.New(rand.NewPCG(seed, 0x726f7773))
	return judge.Selection{Of: d, Rows: Draw(rng, d.Len(), most)}
}

// Draw draws want of n rows without replacement, in ascending order.
func Draw(rng *rand.Rand, n, want int) []int32 {
	rows := make([]int32, 0, min(want, n))
	for i := range n { // selection sampling
		if rng.IntN(n-i) < want-len(rows) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// Alike returns an error for data of different kinds or classes.
func Alike(path string, want records.Data, others ...records.Data) error {
	if err := judge.Given(path, append([]records.Data{want}, others...)...); err != nil {
		return err
	}
	w := want.Schema()
	wantLo, wantHi := w.Bounds()
	for _, d := range others {
		s := d.Schema()
		lo, hi := s.Bounds()
		same := s.Dim() == w.Dim() && s.Sparse() == w.Sparse() && lo == wantLo && hi == wantHi
		if !same || !slices.Equal(s.ClassNames(), w.ClassNames()) ||
			!slices.Equal(s.Blocks(), w.Blocks()) {
			return param.New(path, s, fmt.Sprintf("records of the same schema as the others, %v", w))
		}
	}
	return nil
}

// Subset draws n distinct items, in ascending order, by Floyd's algorithm. Its time does not depend
// on the size of the universe.
func Subset(rng *rand.Rand, universe, n int) []uint32 {
	chosen := make(map[uint32]bool, n)
	for last := universe - n; last < universe; last++ {
		item := uint32(rng.IntN(last + 1))
		if chosen[item] {
			item = uint32(last)
		}
		chosen[item] = true
	}
	items := make([]uint32, 0, n)
	for item := range chosen {
		items = append(items, item)
	}
	slices.Sort(items)
	return items
}

// Workers does n pieces of work on all cores. It calls worker once for each core. The returned
// function has its own memory and does the pieces.
func Workers(n int, worker func() func(piece int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			do := worker()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// Each calls f(0) … f(n-1) on all cores. Calls must write to different memory, so the result does
// not depend on their order.
func Each(n int, f func(i int)) { Workers(n, func() func(int) { return f }) }

// Share returns a/b, or 0 if b is 0.
func Share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// KolmogorovSmirnov returns the largest difference of the empirical distribution functions of two
// sorted lists; NaN if either is empty.
func KolmogorovSmirnov(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	top, i, j := 0.0, 0, 0
	for i < len(a) && j < len(b) {
		v := min(a[i], b[j])
		for i < len(a) && a[i] == v {
			i++
		}
		for j < len(b) && b[j] == v {
			j++
		}
		top = max(top, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return top
}
