package rff

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Pairs is a kernel for tables (an ANOVA kernel of order 2). Its mean embedding consists of the
// table's marginals. Every column becomes a soft one-hot code. The features are the codes of all
// columns and the outer products of the codes of every two columns. A sum of features over records
// counts how often any two levels of two columns occur together.
//
// The code of a category is one-hot. The code of a number consists of hat functions around evenly
// spaced knots, which makes the embedding differentiable.
//
// Guarantee: each code has no negative entry and adds up to 1, so the norm of each code and of each
// product is at most 1. Terms are scaled such that the norm of all features is at most 1. Features
// are not negative either, so the features of two records differ by at most √2.
type Pairs struct {
	// Order is 1 for single columns only, or 2 for single columns and pairs of columns; 0 means 2.
	Order int `json:"order,omitempty"`
	// Knots is the number of hat functions of a number; 0 means 12. A number with fewer levels has one
	// hat function for each level.
	Knots int `json:"knots,omitempty"`
	// MaxDim is the largest number of features; 0 means 200,000.
	MaxDim int `json:"max_dim,omitempty"`
}

const (
	defaultKnots = 12
	defaultCap   = 200_000
	// singleWeight is the squared weight of a single column if a pair of columns has weight 1. One-way
	// marginals have few entries, but these are important.
	singleWeight = 2
)

func (c Pairs) withDefaults() Pairs {
	c.Order, c.Knots = cmp.Or(c.Order, 2), cmp.Or(c.Knots, defaultKnots)
	c.MaxDim = cmp.Or(c.MaxDim, defaultCap)
	return c
}

// Embedding implements [EmbeddingKernel]. If the layout has no blocks, every coordinate is treated
// as a number. Errors: *param.Error, also for a layout with more than MaxDim features; the error
// states their number.
func (c Pairs) Embedding(l Layout, _ uint64) (Embedding, error) {
	var k param.Checker
	l.validate(&k)
	if c.validate(&k); k.Err() != nil {
		return nil, k.Err()
	}
	c = c.withDefaults()
	if dim := c.dim(l); dim > c.MaxDim {
		want := fmt.Sprintf("at least the %d features of these columns, or fewer Knots or levels", dim)
		return nil, param.New("rff.Pairs.MaxDim", c.MaxDim, want)
	}
	axes := columnAxes(l, c.Knots)
	t := newPairsMap(l.In, axes)
	c.addTerms(t)
	return t, nil
}

func (c Pairs) validate(k *param.Checker) {
	k.OK(c.Order >= 0 && c.Order <= 2, "rff.Pairs.Order", c.Order, "1 or 2, or 0 for 2")
	k.OK(c.Knots == 0 || c.Knots >= 2 && c.Knots <= 1<<12, "rff.Pairs.Knots", c.Knots,
		"from 2 to 4096, or 0 for 12")
	k.OK(c.MaxDim >= 0 && c.MaxDim <= maxFrequencies, "rff.Pairs.MaxDim", c.MaxDim,
		fmt.Sprintf("at most %d, or 0 for %d", maxFrequencies, defaultCap))
}

// columnAxes returns the axis of every column.
func columnAxes(l Layout, knots int) []axis {
	if len(l.Blocks) == 0 {
		axes := make([]axis, l.In)
		for i := range axes {
			axes[i] = hat{at: i, knots: knots}
		}
		return axes
	}
	axes := make([]axis, len(l.Blocks))
	for i, b := range l.Blocks {
		if b.OneHot {
			axes[i] = oneHot{b.Offset, b.Width}
			continue
		}
		axes[i] = hat{b.Offset, b.knots(knots), b.Width == 2}
	}
	return axes
}

// knots returns the number of hat functions of a number, at most its number of levels.
func (b Block) knots(most int) int {
	if b.Levels > 0 {
		return min(b.Levels, most)
	}
	return most
}

// dim computes the number of features without allocating them. All pairs together have ((Σw)² −
// Σw²)/2 features, where w is the width of a column's code.
func (c Pairs) dim(l Layout) int {
	n, k := float64(l.In), float64(c.Knots)
	sum, squares := n*k, n*k*k
	if len(l.Blocks) > 0 {
		sum, squares = 0, 0
		for _, b := range l.Blocks {
			w := float64(b.codes(c.Knots))
			sum += w
			squares += w * w
		}
	}
	if c.Order != 1 {
		sum += (sum*sum - squares) / 2
	}
	return int(min(sum, 1<<52, math.MaxInt)) // an int may have 32 bits
}

// codes returns the width of a column's code.
func (b Block) codes(knots int) int {
	if b.OneHot {
		return b.Width
	}
	return b.knots(knots) + b.Width - 1
}

func (c Pairs) addTerms(t *pairsMap) {
	n, pairs := len(t.axes), 0
	if c.Order == 2 {
		pairs = n * (n - 1) / 2
	}
	t.terms = make([]term, 0, n+pairs)
	weight := float64(singleWeight*n + pairs)
	for i := range n {
		t.add(math.Sqrt(singleWeight/weight), i)
	}
	for i := range n {
		for j := i + 1; j < n && pairs > 0; j++ {
			t.add(math.Sqrt(1/weight), i, j)
		}
	}
}
