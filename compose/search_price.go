package compose

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
)

// cost returns the price of the search with another number of trials.
//
// Errors: accountant.ErrUnsupported if a candidate has no Rényi divergence, by which selections are
// priced.
func (c *searching) cost(t Trials) (accountant.Bound, error) {
	return accountant.Epsilon(t.of(c.trial()), c.budget.Delta, c.budget.Relation)
}

// atMost returns the smallest n for which the number of trials exceeds n with probability at most
// 1−p.
func (t Trials) atMost(p float64) int {
	var sum float64
	for k, w := range t.law() {
		if sum += w; sum >= p {
			return k
		}
	}
	return max(t.Limit, 0)
}

// law returns the possible numbers of trials, in ascending order, with their probabilities.
func (t Trials) law() func(func(int, float64) bool) {
	if t.Poisson {
		return func(yield func(int, float64) bool) {
			for k := 0; k < 10*mostTrials; k++ {
				g, _ := math.Lgamma(float64(k) + 1)
				if !yield(k, math.Exp(float64(k)*math.Log(t.Mean)-t.Mean-g)) {
					return
				}
			}
		}
	}
	again := 1 - t.of(accountant.Pure{Epsilon: 1}).Gamma()
	last := t.Limit
	if last == 0 {
		last = 1000 * mostTrials
	}
	total, w := 0.0, 1.0
	for k := 1; k <= last && w > 1e-18; k++ {
		total += w
		w *= (float64(k) + t.Shape) / float64(k+1) * again
	}
	return func(yield func(int, float64) bool) {
		w := 1 / total
		for k := 1; k <= last && w > 0; k++ {
			if !yield(k, w) {
				return
			}
			w *= (float64(k) + t.Shape) / float64(k+1) * again
		}
	}
}

// String describes the law, its mean and its limits.
func (t Trials) String() string {
	name := fmt.Sprintf("truncated negative binomial, η = %v", t.Shape)
	switch {
	case t.Poisson:
		name = "Poisson"
	case t.Shape == 0:
		name = "logarithmic"
	case t.Shape == 1:
		name = "geometric"
	}
	text := fmt.Sprintf("%v on average (%s), at most %d with probability .99", t.Mean, name,
		t.atMost(0.99))
	if t.Limit > 0 {
		text += fmt.Sprintf(", never more than %d", t.Limit)
	}
	return text
}

// prices returns the prices of other numbers of trials.
func (c *searching) prices() string {
	var b strings.Builder
	b.WriteString("on average")
	for _, mean := range []float64{1, 2, 5, 10, 20, 50, 100} {
		t := c.Trials
		t.Mean = mean
		if cost, err := c.cost(t); err == nil {
			fmt.Fprintf(&b, " %v trials: ε = %s;", mean, accountant.FormatUpper(cost.Upper, 3))
		}
	}
	return strings.TrimSuffix(b.String(), ";")
}
