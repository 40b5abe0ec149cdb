package demo

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/seed7ba64551/privgen/records"
)

// SetSource describes generated item sets for benchmarks and examples: their number and sizes, the
// popularity of items, and communities of items that occur together. It uses no real records. Equal
// values give the same sets on every machine.
//
// A record belongs to one community, or to two. Its size has a geometric tail (log-normal above the
// mean, cut at MaxItems). Each item comes from one of the record's communities with probability
// Affinity, and from all items otherwise. Popularity within a community, and among all items,
// follows Zipf's law: the item of rank r has weight 1/(r+Shift)^Skew.
type SetSource struct {
	Records     int     // number of records
	Universe    int     // number of items
	MeanItems   float64 // average number of items of a record
	MaxItems    int     // largest number of items of a record
	Skew        float64 // exponent of Zipf's law; 0 makes all items equally popular
	Shift       float64 // flattens the most popular items; 0 for 5
	Communities int     // groups of items that occur together; 0 for none
	Affinity    float64 // fraction of a record's items that come from its own communities, in [0, 1]
	Seed        uint64
}

// CallRecords returns a source with the shape of the call-record data of the DPGM papers: 4,427,486
// customers and 1,303 towers. A customer was seen at 11.42 towers on average and 422 at most. Skew
// and communities are guesses, because the papers do not state them.
func CallRecords() SetSource {
	return SetSource{Records: 4_427_486, Universe: 1303, MeanItems: 11.42, MaxItems: 422, Skew: 0.9,
		Communities: 40, Affinity: 0.7, Seed: 1}
}

// TransitRecords returns a source with the shape of the transit data of the DPGM papers: 1,200,000
// passengers and 342 stations. A passenger used 5.26 stations on average and 57 at most.
func TransitRecords() SetSource {
	return SetSource{Records: 1_200_000, Universe: 342, MeanItems: 5.26, MaxItems: 57, Skew: 0.9,
		Communities: 12, Affinity: 0.7, Seed: 2}
}

// Schema returns the schema of the sets.
func (g SetSource) Schema() records.Schema { return records.Sets(g.Universe, g.MaxItems) }

// Validate reports every invalid setting.
//
// Errors: one for each setting, joined.
func (g SetSource) Validate() error {
	errs := []error{g.Schema().Validate()}
	bad := func(wrong bool, field string, value any, want string) {
		if wrong {
			errs = append(errs, fmt.Errorf("demo.SetSource.%s: %v: want %s", field, value, want))
		}
	}
	bad(g.Records < 0 || g.Records > maxRows, "Records", g.Records,
		"a number of rows that a table can hold")
	bad(!(g.MeanItems >= 1 && g.MeanItems <= float64(g.MaxItems)), "MeanItems", g.MeanItems,
		"at least 1 and at most MaxItems")
	bad(g.MaxItems > g.Universe, "MaxItems", g.MaxItems, "at most the universe")
	bad(!(g.Skew >= 0 && g.Skew <= 10), "Skew", g.Skew, "an exponent in [0, 10]")
	bad(!(g.Shift >= 0 && g.Shift <= 1e6), "Shift", g.Shift, "a number in [0, 1e6]")
	bad(g.Communities < 0 ||
		g.Communities > g.Universe, "Communities", g.Communities,
		fmt.Sprintf("a number up to the universe, %d", g.Universe))
	bad(!(g.Affinity >= 0 && g.Affinity <= 1), "Affinity", g.Affinity, "a fraction in [0, 1]")
	return errors.Join(errs...)
}

// Make returns the whole table.
//
// Errors: as for [SetSource.Validate].
func (g SetSource) Make() (*records.SetTable, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	b, err := records.NewSetBuilder(g.Schema())
	if err != nil {
		return nil, err
	}
	m := newSetMaker(g)
	for range g.Records {
		if err := b.Add(m.next()); err != nil {
			return nil, err
		}
	}
	return b.Table()
}

// maxRows is the largest number of rows of a table.
const maxRows = 1<<31 - 1

// setMaker draws one set after another.
type setMaker struct {
	source  SetSource
	rng     *rand.Rand
	all     cumulative
	groups  []cumulative
	weights cumulative // of the communities
	logMean float64    // mean logarithm of the sizes without their first item
	stamp   []uint64   // for each item, the last row that contains it
	row     []uint32
	rows    uint64
}

func newSetMaker(g SetSource) *setMaker {
	if g.Shift == 0 {
		g.Shift = 5
	}
	m := &setMaker{source: g, rng: rand.New(rand.NewPCG(g.Seed, 0x736574736f)),
		stamp: make([]uint64, g.Universe)}
	order := m.rng.Perm(g.Universe)
	m.all = zipf(order, g.Skew, g.Shift)
	for c := range g.Communities {
		// Every community has its own part of the items and an equal number of items drawn from all, so
		// communities overlap.
		var own []int
		for r := c; r < len(order); r += g.Communities {
			own = append(own, order[r], order[m.rng.IntN(len(order))])
		}
		m.rng.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		m.groups = append(m.groups, zipf(own, g.Skew, g.Shift))
	}
	m.weights = zipf(identity(g.Communities), 0.5, g.Shift)
	m.logMean = m.fitSizes()
	return m
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// sizeSpread is the standard deviation of the logarithm of a record's size.
const sizeSpread = 0.8

// fitSizes returns a mean logarithm of sizes. With it, sizes that are cut at the largest size have
// the intended mean. It is found by bisection on a fixed sample of normal numbers.
func (m *setMaker) fitSizes() float64 {
	rng := rand.New(rand.NewPCG(m.source.Seed, 0x73697a65))
	normals := make([]float64, 1<<14)
	for i := range normals {
		normals[i] = rng.NormFloat64()
	}
	lo, hi := -40.0, 40.0
	for range 60 {
		mid, sum := (lo+hi)/2, 0.0
		for _, z := range normals {
			sum += float64(m.size(mid, z, 0.5))
		}
		if sum/float64(len(normals)) < m.source.MeanItems {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// size returns one plus a log-normal number rounded at random, cut at the largest size.
func (m *setMaker) size(logMean, z, u float64) int {
	beyond := min(math.Exp(logMean+sizeSpread*z), float64(m.source.MaxItems-1))
	return min(1+int(beyond+u), m.source.MaxItems)
}

// next draws one set; it is valid until the next call.
func (m *setMaker) next() []uint32 {
	m.rows++
	m.row = m.row[:0]
	size := m.size(m.logMean, m.rng.NormFloat64(), m.rng.Float64())
	first, second := m.pick(), m.pick()
	for tries := 0; len(m.row) < size && tries < 20*size+100; tries++ {
		from := &m.all
		if first >= 0 && m.rng.Float64() < m.source.Affinity {
			if from = &m.groups[first]; m.rng.IntN(3) == 0 {
				from = &m.groups[second]
			}
		}
		if item := from.draw(m.rng); m.stamp[item] != m.rows {
			m.stamp[item] = m.rows
			m.row = append(m.row, uint32(item))
		}
	}
	slices.Sort(m.row)
	return m.row
}

// pick draws a community, or returns -1 if there are none.
func (m *setMaker) pick() int {
	if len(m.groups) == 0 {
		return -1
	}
	return m.weights.draw(m.rng)
}

// cumulative draws items by weight.
type cumulative struct {
	items []int
	upTo  []float64
}

func zipf(items []int, skew, shift float64) cumulative {
	c := cumulative{items: items, upTo: make([]float64, len(items))}
	sum := 0.0
	for r := range items {
		sum += math.Pow(float64(r)+1+shift, -skew)
		c.upTo[r] = sum
	}
	return c
}

func (c *cumulative) draw(rng *rand.Rand) int {
	u := rng.Float64() * c.upTo[len(c.upTo)-1]
	return c.items[min(sort.SearchFloat64s(c.upTo, u), len(c.items)-1)]
}
