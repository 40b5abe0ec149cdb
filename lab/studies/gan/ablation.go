package main

import (
	"context"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// ablation adds the paper's optimisations one after the other, with the same ε, steps and networks.
// Over several seeds, it prints the accuracy on real images of classifiers trained on samples.
func ablation(ctx context.Context, c config, d data) error {
	classifier := classify.NeuralNetwork{Hidden: []int{64}, Epochs: 5}
	judge, err := classify.Convolutional{}.Fit(d.private)
	if err != nil {
		return err
	}
	fmt.Printf("ε = %g, δ = %g, %v; %d critic steps; mean ± standard deviation of %d seeds; %s [not "+
		"private]\n%-42s %-16s %s\n",
		c.budget.Epsilon, c.budget.Delta, c.budget.Relation, c.steps, c.seeds, classifier.Name(), "",
		"accuracy", "inception score")
	for _, stage := range []struct {
		name   string
		change func(c *config)
	}{
		{"plain", func(*config) {}},
		{"+ three groups, norms of public images", func(c *config) { c.groups = 3 }},
		{"+ adaptive clipping", func(c *config) { c.adaptive = true }},
		{"+ warm start", func(c *config) { c.warm = 300 }},
	} {
		stage.change(&c)
		var accuracy, inception []float64
		for seed := range c.seeds {
			run := c
			run.seed = c.seed + uint64(seed)
			gen, err := run.fitOnce(ctx, d)
			if err != nil {
				return err
			}
			synthetic, err := gen.Sample(ctx, c.samples, privgen.Seed(run.seed))
			if err != nil {
				return err
			}
			u, err := testOn(classifier, synthetic, d.test)
			if err != nil {
				return err
			}
			score, err := evaluate.Inception(judge, synthetic, d.test)
			if err != nil {
				return err
			}
			accuracy, inception = append(accuracy, u.Accuracy()), append(inception, score.Score.Synthetic)
		}
		fmt.Printf("%-42s %-16s %s\n", stage.name, spread(accuracy), spread(inception))
	}
	return nil
}

func spread(x []float64) string {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(max(len(x)-1, 1))
	}
	return fmt.Sprintf("%.3f ± %.3f", mean, math.Sqrt(square))
}

// iterations prints a table that is not in the paper. Under three ways of charging groups, it has
// the number of critic steps that k groups of noise σ·c allow at ε. For the first two ways it also
// has the true ε of these steps.
func iterations(c config) error {
	const sigma, q = 1.086, 64. / 49000 // the paper's setting for MNIST
	fmt.Printf("critic steps at ε = %g, δ = %g, %v, σ = %g, q = 64/49000\n", c.budget.Epsilon,
		c.budget.Delta, c.budget.Relation, sigma)
	fmt.Printf("%2s  %-24s %-24s %s\n", "k", "groups cost nothing", "k separate releases",
		"one joint release")
	free, err := allowed(c.budget, q, sigma, 1)
	if err != nil {
		return err
	}
	for _, k := range []int{1, 2, 5, 7, 8} {
		z := sigma / math.Sqrt(float64(k))
		joint, err := allowed(c.budget, q, z, 1)
		if err != nil {
			return err
		}
		apart, err := allowed(c.budget, q, sigma, k)
		if err != nil {
			return err
		}
		fmt.Printf("%2d  %-24s %-24s %d\n", k, priced(c.budget, q, z, free),
			priced(c.budget, q, z, apart), joint)
	}
	fmt.Printf("With the noise of a step fixed for the joint release instead (z = %g), every number "+
		"of groups allows %d.\n", sigma, free)
	return nil
}

func priced(b accountant.Budget, q, z float64, steps int) string {
	cost, err := accountant.Epsilon(accountant.Repeated{Event: step(q, z), Count: steps}, b.Delta,
		b.Relation)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d (true ε %s)", steps, accountant.FormatUpper(cost.Upper, 3))
}

func step(q, z float64) accountant.Event {
	return accountant.PoissonSampled{Probability: q, Event: accountant.Gaussian{NoiseMultiplier: z}}
}

// allowed returns the largest number of steps whose ε is within the budget, if each step consists
// of the given number of releases.
func allowed(b accountant.Budget, q, z float64, releases int) (int, error) {
	lo, hi := 0, 1<<21
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		cost, err := accountant.Epsilon(accountant.Repeated{Event: step(q, z), Count: mid * releases},
			b.Delta, b.Relation)
		if err != nil {
			return 0, err
		}
		if cost.Upper <= b.Epsilon {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, nil
}

func (c config) fitOnce(ctx context.Context, d data) (*privgen.Generator, error) {
	return c.chain(d.public).Fit(ctx, d.private)
}
