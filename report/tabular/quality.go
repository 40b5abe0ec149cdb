package tabular

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// The names of the scores, as in SDMetrics.
const (
	KSComplement          = "KSComplement"
	TVComplement          = "TVComplement"
	CorrelationSimilarity = "CorrelationSimilarity"
	ContingencySimilarity = "ContingencySimilarity"
)

// Pairs of columns with larger values than these count as related, as in SDMetrics' quality report.
const (
	RelatedCorrelation = 0.5
	RelatedAssociation = 0.3
)

// Shape is the score of one column: 1 means identical, NaN that the score is undefined.
type Shape struct {
	Column, Metric string
	Score          float64
}

// Pair is the score of two columns: 1 means identical, NaN that the score is undefined.
type Pair struct {
	Columns [2]string
	Metric  string
	Score   float64
	// Real and Synthetic are correlations, Association is Cramér's V of the real records; NaN if the
	// metric does not use them.
	Real, Synthetic, Association float64
	Related                      bool // whether the pair counts in Quality.ColumnPairTrends
}

// Quality holds the scores of SDMetrics' quality report.
type Quality struct {
	Shapes           []Shape
	Pairs            []Pair
	ColumnShapes     float64 // mean of Shapes
	ColumnPairTrends float64 // mean of the Pairs that are related
	AllPairs         float64 // mean of Pairs
	Score            float64 // mean of ColumnShapes and ColumnPairTrends
}

// Compare scores synthetic records against real ones. It uses the given number of pairs of columns,
// drawn at random; 0 means all.
//
// Errors: *[param.Error] for tables of different columns, or without records.
// Guarantee: none; see the package.
func Compare(real, synthetic *Table, pairs int, seed uint64) (Quality, error) {
	if err := alike("tabular.Compare", real, synthetic); err != nil {
		return Quality{}, err
	}
	q := Quality{Shapes: make([]Shape, len(real.columns))}
	compare.Each(len(real.columns), func(j int) {
		q.Shapes[j] = shape(real.columns[j], synthetic.columns[j])
	})
	chosen := somePairs(len(real.columns), pairs, seed)
	a, b := prepare(real), prepare(synthetic)
	q.Pairs = make([]Pair, len(chosen))
	compare.Each(len(chosen), func(i int) {
		j, k := chosen[i][0], chosen[i][1]
		q.Pairs[i] = pair(a[j], a[k], b[j], b[k])
	})
	var shapes, all, related []float64
	for _, s := range q.Shapes {
		shapes = append(shapes, s.Score)
	}
	for _, p := range q.Pairs {
		all = append(all, p.Score)
		if p.Related {
			related = append(related, p.Score)
		}
	}
	q.ColumnShapes, q.AllPairs, q.ColumnPairTrends = mean(shapes), mean(all), mean(related)
	q.Score = mean([]float64{q.ColumnShapes, q.ColumnPairTrends})
	return q, nil
}

// mean returns the mean of the numbers that are not NaN, or NaN if there are none.
func mean(v []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range v {
		if !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

func somePairs(n, most int, seed uint64) [][2]int {
	var all [][2]int
	for j := range n {
		for k := j + 1; k < n; k++ {
			all = append(all, [2]int{j, k})
		}
	}
	if most <= 0 || len(all) <= most {
		return all
	}
	rng := rand.New(rand.NewPCG(seed, 0x7061697273))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:most]
	slices.SortFunc(all, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return all
}
