package sets

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/seed7ba64551/privgen/mechanism"
)

// workload has the queries that MWEM learns to answer. For every item there is a bit for each
// query.
type workload struct {
	count int
	masks [][]uint64 // for each 64 queries, a word for every item
}

// workload draws the queries in five classes. Each class has uniform lengths up to its own bound,
// and items are uniform.
func (m mwem) workload() workload {
	universe := m.Schema.Dim()
	rng := rand.New(rand.NewPCG(m.Seed, 0x776f726b))
	w := workload{count: m.Queries, masks: make([][]uint64, (m.Queries+63)/64)}
	for i := range w.masks {
		w.masks[i] = make([]uint64, universe)
	}
	for q := range m.Queries {
		longest := max((q%mwemClasses+1)*m.Schema.MaxItems()/mwemClasses, 1)
		for _, item := range drawSet(rng, universe, min(1+rng.IntN(longest), universe)) {
			w.masks[q/64][item] |= 1 << (q % 64)
		}
	}
	return w
}

// longSet is the number of items above which insertion in order is slower than a sort. Both draw
// the same sets.
const longSet = 256

// drawSet draws n distinct items, in ascending order, by Floyd's algorithm.
func drawSet(rng *rand.Rand, universe, n int) []uint32 {
	set := make([]uint32, 0, n)
	if n > longSet {
		there := make(map[uint32]bool, n)
		for last := universe - n; last < universe; last++ {
			item := uint32(rng.IntN(last + 1))
			if there[item] {
				item = uint32(last)
			}
			there[item] = true
			set = append(set, item)
		}
		slices.Sort(set)
		return set
	}
	for last := universe - n; last < universe; last++ {
		item := uint32(rng.IntN(last + 1))
		at, found := slices.BinarySearch(set, item)
		if found {
			item, at = uint32(last), len(set)
		}
		set = slices.Insert(set, at, item)
	}
	return set
}

// counter returns a counter of the truncated records that satisfy each query, and of all records.
// Its numbers are private.
//
// Rows of persons count with their weights. The weights of a person add up to 1, so a person
// changes a sum by at most 1, and the sum rounded down by at most 1.
func (w workload) counter(limit int, grid float64) *cutCounter {
	truth, rows := mechanism.NewFixedSum(w.count, grid), mechanism.NewFixedSum(1, grid)
	return &cutCounter{limit: limit, sums: []*mechanism.FixedSum{truth, rows},
		each: func(items []uint32, share float64) {
			rows.AddShare(0, share)
			w.satisfied(items, func(q int) { truth.AddShare(q, share) })
		}}
}

// satisfied calls f with the queries that a set satisfies, each once.
func (w workload) satisfied(items []uint32, f func(query int)) {
	for m, mask := range w.masks {
		word := uint64(0)
		for _, item := range items {
			word |= mask[item]
		}
		for ; word != 0; word &= word - 1 {
			f(m*64 + bits.TrailingZeros64(word))
		}
	}
}

// weights is a distribution over the domain. It is public, since all its inputs are public.
type weights struct {
	domain  [][]uint32
	n       float64
	p       []float64 // probability of each set; they add up to 1
	covered [][]int32 // the sets that satisfy each query
	past    []measurement
	upTo    []float64
}

type measurement struct {
	query int
	share float64
}

func newWeights(domain [][]uint32, w workload, n float64) *weights {
	s := &weights{domain: domain, n: n, p: make([]float64, len(domain)),
		covered: make([][]int32, w.count)}
	for i, set := range domain {
		s.p[i] = 1 / float64(len(domain))
		w.satisfied(set, func(q int) { s.covered[q] = append(s.covered[q], int32(i)) })
	}
	s.sum()
	return s
}

// share returns the fraction of records that satisfy a query.
func (s *weights) share(q int) float64 {
	sum := 0.0
	for _, i := range s.covered[q] {
		sum += s.p[i]
	}
	return sum
}

// answer returns the weights' answer to a query, in records.
func (s *weights) answer(q int) float64 { return s.n * s.share(q) }

// learn adds a measurement and updates the weights with all measurements, starting with the latest.
func (s *weights) learn(q int, value float64) {
	s.past = append(s.past, measurement{q, min(max(value/s.n, 0), 1)})
	for range mwemSweeps {
		for k := len(s.past) - 1; k >= 0; k-- {
			s.update(s.past[k])
		}
	}
	s.sum()
}

// update multiplies the weights of the sets that satisfy a query by a factor. It then scales all
// weights to the sum 1.
func (s *weights) update(m measurement) {
	share := s.share(m.query)
	factor := math.Exp((m.share - share) / 2)
	for _, i := range s.covered[m.query] {
		s.p[i] *= factor
	}
	scale := 1 / (1 + share*(factor-1))
	for i := range s.p {
		s.p[i] *= scale
	}
}

// sum normalises the weights, which corrects rounding errors, and prepares draws.
func (s *weights) sum() {
	s.upTo = s.upTo[:0]
	total := 0.0
	for _, p := range s.p {
		total += p
		s.upTo = append(s.upTo, total)
	}
	for i := range s.p {
		s.p[i] /= total
	}
}

func (s *weights) draw(rng *rand.Rand, n int) [][]uint32 {
	rows := make([][]uint32, n)
	for i := range rows {
		u := rng.Float64() * s.upTo[len(s.upTo)-1]
		rows[i] = s.domain[min(sort.SearchFloat64s(s.upTo, u), len(s.domain)-1)]
	}
	return rows
}
