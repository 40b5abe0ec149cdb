package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/report/tabular"
)

// mostPairs is the largest number of pairs of columns that are scored.
const mostPairs = 3000

// quality scores columns and pairs.
func (m *maker) quality(context.Context) error {
	if !m.tabular() {
		m.omit("column shapes and pair trends", "the records have no columns")
		return nil
	}
	n := len(m.real.Columns())
	if n*(n-1)/2 > mostPairs {
		m.out.Sizes.Sampling = append(m.out.Sizes.Sampling, fmt.Sprintf(
			"Of %d pairs of columns %d, drawn at random, are scored.", n*(n-1)/2, mostPairs))
	}
	q, err := tabular.Compare(m.real, m.fake, mostPairs, m.set.Seed)
	if err != nil {
		return err
	}
	m.out.Quality = &Quality{Synthetic: scoresOf(q), Rows: m.real.Len()}
	if m.held == nil {
		return nil
	}
	if q, err = tabular.Compare(m.real, m.held, mostPairs, m.set.Seed); err != nil {
		return err
	}
	held := scoresOf(q)
	m.out.Quality.HeldOut = &held
	return nil
}

func scoresOf(q tabular.Quality) QualityScores {
	out := QualityScores{ColumnShapes: Number(q.ColumnShapes),
		ColumnPairTrends: Number(q.ColumnPairTrends), AllPairs: Number(q.AllPairs),
		Score: Number(q.Score), Shapes: []Shape{}, Pairs: []Pair{}}
	for _, s := range q.Shapes {
		out.Shapes = append(out.Shapes, Shape{s.Column, s.Metric, Number(s.Score)})
	}
	for _, p := range q.Pairs {
		out.Pairs = append(out.Pairs, Pair{p.Columns, p.Metric, Number(p.Score), Number(p.Real),
			Number(p.Synthetic), Number(p.Association), p.Related})
	}
	return out
}

// groupBins is the number of bins of a number in tables of three columns, whose cells hold few
// records.
const groupBins = 5

// threeWay compares tables of three columns.
func (m *maker) threeWay(context.Context) error {
	if !m.tabular() || len(m.real.Columns()) < 3 {
		m.omit("three-way tables", "the records have fewer than three columns")
		return nil
	}
	groups, err := m.real.Groups(3, m.set.Groups, m.set.Seed)
	if err != nil {
		return err
	}
	fake, err := tabular.Variation(m.real, m.fake, groups, groupBins)
	if err != nil {
		return err
	}
	held := make([]float64, len(fake))
	for i := range held {
		held[i] = math.NaN()
	}
	if m.held != nil {
		if held, err = tabular.Variation(m.real, m.held, groups, groupBins); err != nil {
			return err
		}
	}
	out := &ThreeWay{Bins: groupBins, Mean: besides(mean(fake), mean(held))}
	names := m.real.Columns()
	for i, g := range groups {
		out.Groups = append(out.Groups, Group{[]string{names[g[0]], names[g[1]], names[g[2]]},
			besides(fake[i], held[i])})
	}
	slices.SortStableFunc(out.Groups, func(a, b Group) int {
		return cmp.Compare(b.Synthetic, a.Synthetic)
	})
	m.out.ThreeWay = out
	return nil
}

func besides(synthetic, held float64) Beside { return Beside{Number(synthetic), Number(held)} }

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}

// queries compares the answers to counting queries.
func (m *maker) queries(ctx context.Context) error {
	if m.isSets() {
		return m.setQueries(ctx)
	}
	if !m.tabular() {
		m.omit("counting queries", "the records have no columns and no items")
		return nil
	}
	asked := m.real.Queries(m.set.Queries, m.set.Seed)
	var held []float64
	if m.held != nil {
		held = m.held.Answer(asked)
	}
	m.out.Queries = compareAnswers(m.real.Answer(asked), m.fake.Answer(asked), held)
	return nil
}

// compareAnswers describes the absolute errors of answers; held may be nil.
func compareAnswers(real, fake, held []float64) *Queries {
	q := &Queries{Count: len(real)}
	for _, b := range []*Beside{&q.Mean, &q.Median, &q.High, &q.Max} {
		b.HeldOut = none
	}
	q.Mean.Synthetic, q.Median.Synthetic, q.High.Synthetic, q.Max.Synthetic = spread(fake, real)
	if held != nil {
		q.Mean.HeldOut, q.Median.HeldOut, q.High.HeldOut, q.Max.HeldOut = spread(held, real)
	}
	return q
}

// spread summarises the absolute differences of two lists.
func spread(a, b []float64) (avg, median, high, largest Number) {
	errs := make([]float64, len(a))
	for i := range errs {
		errs[i] = math.Abs(a[i] - b[i])
	}
	slices.Sort(errs)
	n := len(errs)
	return Number(mean(errs)), Number(errs[n/2]), Number(errs[min(n*95/100, n-1)]), Number(errs[n-1])
}
