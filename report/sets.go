package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

// mostItems is the largest number of items that are drawn.
const mostItems = 30

// isSets reports whether records are sets of items, or vectors that can be read as sets.
func (m *maker) isSets() bool { return m.schema().IsBinary() && !m.schema().IsImage() }

// index reads sets into an index.
func (m *maker) index(d records.Data, seed uint64) (*evaluate.Index, error) {
	if d == nil {
		return nil, nil
	}
	return evaluate.NewIndex(atMost(d, m.set.Rows, m.set.Seed+seed))
}

// indexes returns the indexes of the synthetic, the real and the held-out records.
func (m *maker) indexes() (fake, real, held *evaluate.Index, err error) {
	if fake, err = m.index(m.in.Synthetic, 2); err != nil {
		return nil, nil, nil, err
	}
	if real, err = m.index(m.in.Real, 3); err != nil {
		return nil, nil, nil, err
	}
	held, err = m.index(m.in.HeldOut, 4)
	return fake, real, held, err
}

// sets compares sizes and frequencies.
func (m *maker) sets(context.Context) error {
	if !m.isSets() {
		return nil
	}
	fake, real, held, err := m.indexes()
	if err != nil {
		return err
	}
	by := real
	if by == nil {
		by = fake
	}
	out := &Sets{Sizes: sizeBars(fake, real), Items: itemBars(fake, real, popular(by, mostItems)),
		MeanSynthetic: Number(meanSize(fake)), MeanReal: none}
	none2 := Beside{none, none}
	out.ItemError, out.PairError, out.SizeError, out.TopShared = none2, none2, none2, none2
	m.out.Sets = out
	if real == nil {
		return nil
	}
	out.MeanReal = Number(meanSize(real))
	r, err := evaluate.Statistics{}.CompareIndexes(real, fake)
	if err != nil {
		return err
	}
	out.ItemError.Synthetic, out.PairError.Synthetic = Number(r.Items.Mean), Number(r.Pairs.Mean)
	out.SizeError.Synthetic, out.TopShared.Synthetic = Number(r.Sizes), Number(r.Top)
	if held == nil {
		return nil
	}
	if r, err = (evaluate.Statistics{}).CompareIndexes(real, held); err != nil {
		return err
	}
	out.ItemError.HeldOut, out.PairError.HeldOut = Number(r.Items.Mean), Number(r.Pairs.Mean)
	out.SizeError.HeldOut, out.TopShared.HeldOut = Number(r.Sizes), Number(r.Top)
	return nil
}

func meanSize(x *evaluate.Index) float64 {
	sum := 0
	for size, n := range x.Sizes() {
		sum += size * n
	}
	return float64(sum) / math.Max(float64(x.Records()), 1)
}

// popular returns the most frequent items. Of equally frequent items the first come first.
func popular(x *evaluate.Index, most int) []uint32 {
	items := make([]uint32, x.Universe())
	for i := range items {
		items[i] = uint32(i)
	}
	slices.SortStableFunc(items, func(a, b uint32) int { return cmp.Compare(x.Count(b), x.Count(a)) })
	return items[:min(most, len(items))]
}

// part returns a count as a fraction of all records, or none without an index.
func part(x *evaluate.Index, count func() int) Number {
	if x == nil {
		return none
	}
	return Number(float64(count()) / math.Max(float64(x.Records()), 1))
}

func itemBars(fake, real *evaluate.Index, items []uint32) []Bar {
	bars := []Bar{}
	for _, item := range items {
		bars = append(bars, Bar{fmt.Sprintf("item %d", item), none, none,
			part(real, func() int { return real.Count(item) }),
			part(fake, func() int { return fake.Count(item) })})
	}
	return bars
}

// mostSizes is the largest number of bars of sizes: more sizes are grouped in ranges.
const mostSizes = 30

// sizeBars returns the fractions of records by their number of items.
func sizeBars(fake, real *evaluate.Index) []Bar {
	sizes := [2][]int{fake.Sizes()}
	longest := len(sizes[0])
	if real != nil {
		sizes[1] = real.Sizes()
		longest = max(longest, len(sizes[1]))
	}
	width := (longest + mostSizes - 1) / mostSizes
	bars := []Bar{}
	for lo := 0; lo < longest; lo += width {
		count := func(i int) func() int {
			return func() int {
				sum := 0
				for size := lo; size < min(lo+width, len(sizes[i])); size++ {
					sum += sizes[i][size]
				}
				return sum
			}
		}
		label := fmt.Sprint(lo)
		if width > 1 {
			label = fmt.Sprintf("%d to %d", lo, lo+width-1)
		}
		bars = append(bars, Bar{label, Number(lo), Number(lo + width), part(real, count(1)),
			part(fake, count(0))})
	}
	return bars
}

// setQueries asks how many records have any of some items.
func (m *maker) setQueries(context.Context) error {
	fake, real, held, err := m.indexes()
	if err != nil {
		return err
	}
	drawn, err := evaluate.Queries{Count: m.set.Queries, Seed: m.set.Seed}.Draw(real.Universe(),
		min(max(real.Longest(), 1), real.Universe()))
	if err != nil {
		return err
	}
	asked := slices.Concat(drawn...)
	m.out.Queries = compareAnswers(setAnswers(real, asked), setAnswers(fake, asked),
		setAnswers(held, asked))
	return nil
}

func setAnswers(x *evaluate.Index, asked [][]uint32) []float64 {
	if x == nil {
		return nil
	}
	out := make([]float64, len(asked))
	for i, count := range x.AnyEach(asked) {
		out[i] = float64(count) / math.Max(float64(x.Records()), 1)
	}
	return out
}
