package classify

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// DecisionTree trains a classification tree by the Gini index. The zero value
// grows until every leaf holds one class.
//
// Source: Breiman, Friedman, Olshen and Stone, "Classification and regression
// trees", 1984. Coordinates of more than 256 values are split at 255 quantiles.
type DecisionTree struct {
	Depth    int  // the largest depth; 0 for no limit
	Balanced bool // weigh records so that every class counts alike
}

// Name returns "decision tree".
func (DecisionTree) Name() string { return "decision tree" }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m DecisionTree) Validate() error {
	return judge.NotNegative("classify.DecisionTree", judge.Number("Depth", m.Depth))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m DecisionTree) Fit(d records.Data) (*Classifier, error) { return judge.Fit(m, d) }

// Learn trains on records that have been read.
func (m DecisionTree) Learn(x *judge.Design) (Scorer, error) {
	b, err := binsOf(x)
	if err != nil {
		return nil, err
	}
	g := grower{bins: b, labels: x.Labels, width: x.Classes, depth: m.Depth}
	if m.Balanced {
		g.weights = balanced(x)
	}
	return trees{[]*tree{g.grow(allRows(x.Rows()))}}, nil
}

// balanced returns weights of the records with which all classes have the same total weight.
func balanced(x *judge.Design) []float64 {
	n, weights := x.Counts(), make([]float64, x.Rows())
	for i, l := range x.Labels {
		weights[i] = float64(x.Rows()) / (float64(x.Classes) * n[l])
	}
	return weights
}

// RandomForest trains trees on bootstrap samples and averages their probabilities. Each split is
// chosen among √d random coordinates.
//
// Source: Breiman 2001, "Random forests".
type RandomForest struct {
	Trees    int  // 0 for 100
	Depth    int  // the largest depth; 0 for no limit
	Balanced bool // weigh records so that every class counts alike
	Seed     uint64
}

// Name returns "random forest".
func (RandomForest) Name() string { return "random forest" }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m RandomForest) Validate() error {
	return judge.NotNegative("classify.RandomForest", judge.Number("Trees", m.Trees),
		judge.Number("Depth", m.Depth))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m RandomForest) Fit(d records.Data) (*Classifier, error) { return judge.Fit(m, d) }

// Learn trains on records that have been read.
func (m RandomForest) Learn(x *judge.Design) (Scorer, error) {
	e := ensemble{trees: cmp.Or(m.Trees, 100), depth: m.Depth, try: max(isqrt(x.Dim), 1),
		draws: x.Rows(), seed: m.Seed}
	if m.Balanced {
		e.weights = balanced(x)
	}
	return e.grow(x)
}

// Bagging trains trees on bootstrap samples and averages their probabilities.
//
// Source: Breiman 1996, "Bagging predictors".
type Bagging struct {
	Trees int     // 0 for 10
	Part  float64 // size of a bootstrap sample as a fraction of the records; 0 for 1
	Seed  uint64
}

// Name returns "bagging".
func (Bagging) Name() string { return "bagging" }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m Bagging) Validate() error {
	return judge.NotNegative("classify.Bagging", judge.Number("Trees", m.Trees),
		judge.Fraction("Part", m.Part))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m Bagging) Fit(d records.Data) (*Classifier, error) { return judge.Fit(m, d) }

// Learn trains on records that have been read.
func (m Bagging) Learn(x *judge.Design) (Scorer, error) {
	draws := max(int(cmp.Or(m.Part, 1)*float64(x.Rows())), 1)
	return ensemble{trees: cmp.Or(m.Trees, 10), draws: draws, seed: m.Seed}.grow(x)
}

// ensemble is the common part of a forest and of bagging.
type ensemble struct {
	trees, depth, try, draws int
	weights                  []float64
	seed                     uint64
}

// grow grows the trees on all cores. Each tree has its own stream of random numbers.
func (e ensemble) grow(x *judge.Design) (Scorer, error) {
	b, err := binsOf(x)
	if err != nil {
		return nil, err
	}
	out := trees{make([]*tree, e.trees)}
	compare.Each(e.trees, func(i int) {
		rng := rand.New(rand.NewPCG(e.seed, 0x74726565+uint64(i)))
		rows, weights := e.bootstrap(rng, x.Rows())
		g := grower{bins: b, labels: x.Labels, weights: weights, width: x.Classes, depth: e.depth,
			try: e.try, rng: rng}
		out.of[i] = g.grow(rows)
	})
	return out, nil
}

// bootstrap draws records with replacement. It returns the drawn records and, for every record, the
// number of times it was drawn, multiplied by its weight.
func (e ensemble) bootstrap(rng *rand.Rand, n int) (rows []int32, weights []float64) {
	weights = make([]float64, n)
	for range e.draws {
		weights[rng.IntN(n)]++
	}
	for i, w := range weights {
		if w > 0 {
			rows = append(rows, int32(i))
		}
		if e.weights != nil {
			weights[i] *= e.weights[i]
		}
	}
	return rows, weights
}

// trees averages the probabilities of its trees.
type trees struct{ of []*tree }

func (m trees) Scores(b device.Batch, dst []float64) {
	k := m.of[0].width
	clear(dst)
	find(m.of, b, func(tree, first int, leaves []int32) {
		values, means := m.of[tree].values, dst[first*k:]
		for i, l := range leaves {
			for c, p := range values[int(l)*k : int(l+1)*k] {
				means[i*k+c] += p
			}
		}
	})
	for i := range dst {
		dst[i] /= float64(len(m.of))
	}
}

func (m trees) Probabilities(b device.Batch, dst []float64) { m.Scores(b, dst) }

// isqrt returns the square root of n, rounded down.
func isqrt(n int) int { return int(math.Sqrt(float64(n))) }
