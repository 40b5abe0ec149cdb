package mechanism

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestFloydSubsets: all pairs of many rows are equally likely, and in increasing order.
func TestFloydSubsets(t *testing.T) {
	const population, n = 24, 400000 // enough rows for Floyd's algorithm
	counts := map[[2]int32]int{}
	run := Begin(context.Background(),
		ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 1e-5,
			Relation: accountant.ReplaceOne}))
	e := accountant.SampledWithoutReplacement{Population: population, Sample: 2,
		Event: accountant.Gaussian{NoiseMultiplier: 1}}
	a := &Allowance{&allowanceState{run: run, terms: termsOf(e), id: 1}}
	for range n {
		rows, _ := a.grant().SampleWithoutReplacement(nil, nil)
		if len(rows) != 2 || rows[0] >= rows[1] {
			t.Fatalf("got %v, want two increasing rows", rows)
		}
		counts[[2]int32{rows[0], rows[1]}]++
	}
	const pairs = population * (population - 1) / 2
	if len(counts) != pairs {
		t.Errorf("got %d different pairs, want %d", len(counts), pairs)
	}
	for _, c := range counts {
		sixSigma(t, "pair", c, n, 1.0/pairs)
	}
}

// TestSampledSumCovers: the multiplier is relative to the norm of one record; replacing a record
// moves the sum by twice that norm.
func TestSampledSumCovers(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		run := Begin(context.Background(),
			ledger.New(accountant.Budget{Epsilon: 10, Delta: 1e-5,
				Relation: r}))
		draw := func(effect float64) error {
			g := must(run.Spend("sum", accountant.SampledSum{Probability: 0.1, NoiseMultiplier: 4}))(t)
			g.PoissonSample(5, nil, nil)
			out := make([]float64, 2)
			return g.Release(effect, Part{Sum: NewFixedSum(2, GridFor(1)), Std: 1, Out: out})
		}
		most := SumSensitivity(r, 0.25)
		if err := draw(most); err != nil {
			t.Errorf("%v: %v", r, err)
		}
		if err := draw(most * 1.01); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%v: more was drawn than the event covers: got %v, want ErrNotCovered", r, err)
		}
	}
}
