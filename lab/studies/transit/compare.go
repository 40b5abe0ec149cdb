package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

// result holds the results of one synthesiser at one ε, over all seeds.
type result struct {
	method  string
	epsilon float64
	runs    []evaluate.QueryErrors // of queries with uniform items
	popular []evaluate.QueryErrors // of queries with items drawn by popularity
	seconds float64
	paper   string
}

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	real, err := c.load()
	if err != nil {
		return err
	}
	fmt.Printf("%v\n", real.Schema())
	truth, err := evaluate.NewIndex(real)
	if err != nil {
		return err
	}
	var results []result
	for _, m := range c.choose(real.Schema()) {
		for _, eps := range c.epsilons {
			r, err := c.judge(ctx, m, eps, real, truth)
			if err != nil {
				return fmt.Errorf("%s at ε = %g: %w", m.name, eps, err)
			}
			results = append(results, r)
		}
	}
	table(c, results)
	return figures(c, results)
}

// judge fits, samples and evaluates a synthesiser, once for each seed.
func (c config) judge(ctx context.Context, m synthesiser, eps float64, real *records.SetTable,
	truth *evaluate.Index) (result, error) {
	out := result{method: m.name, epsilon: eps}
	budget := accountant.Budget{Epsilon: eps, Delta: c.delta, Relation: c.relation}
	start := time.Now()
	for seed := range uint64(c.seeds) {
		f, err := m.fit(ctx, budget, real, seed+1)
		if err != nil {
			return out, err
		}
		out.paper = f.paper
		fake, err := f.sample(ctx, c.synthetic, seed+100)
		if err != nil {
			return out, err
		}
		guess, err := evaluate.NewIndex(fake)
		if err != nil {
			return out, err
		}
		q := evaluate.Queries{Count: c.queries, Seed: seed + 7}
		uniform, err := q.CompareIndexes(truth, guess)
		if err != nil {
			return out, err
		}
		q.Popular = true
		popular, err := q.CompareIndexes(truth, guess)
		if err != nil {
			return out, err
		}
		out.runs, out.popular = append(out.runs, uniform), append(out.popular, popular)
		if err := c.tell(m, eps, seed, f, uniform, truth, guess); err != nil {
			return out, err
		}
	}
	out.seconds = time.Since(start).Seconds() / float64(c.seeds)
	return out, nil
}

// tell prints the guarantee and the errors of one run.
func (c config) tell(m synthesiser, eps float64, seed uint64, f fitted, e evaluate.QueryErrors,
	truth, guess *evaluate.Index) error {
	if !c.verbose {
		fmt.Printf("%s: ε = %s, δ = %g, %v, unit %s\n", m.name,
			accountant.FormatUpper(f.guarantee.Epsilon, 4), f.guarantee.Delta,
			f.guarantee.Relation, f.guarantee.Unit)
		return nil
	}
	fmt.Printf("\n== %s, ε ≤ %g, seed %d\n%s\n\n%v\n%v\n", m.name, eps, seed+1, f.bill, f.guarantee, e)
	s, err := evaluate.Statistics{}.CompareIndexes(truth, guess)
	if err == nil {
		fmt.Println(s)
	}
	return err
}
