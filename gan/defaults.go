package gan

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
)

// The constants of the default rules. docs/defaults.md has the measurements that they come from.
const (
	usualSteps  = 1000 // critic steps for which the critic's width is chosen
	leastSteps  = 100
	mostSteps   = 4000
	mostSeconds = 240 // of critic steps
)

// chosen returns the configuration with its zero fields set by the default rules if Nominal is
// given, and unchanged otherwise. Each choice depends on the choices before it.
func (c Config) chosen() (Config, error) {
	if c.Nominal == 0 {
		return c, nil
	}
	t, err := defaults.Checked("gan", c.Schema, c.Budget, c.Nominal)
	if err != nil {
		return c, err
	}
	c.choices = append(defaults.Choices(nil), c.choices...)
	c.chooseNetworks(t)
	c.chooseTraining(t)
	c.choices.Add("", "", c.cost(t).String())
	c.Nominal = 0
	return c, nil
}

func (c *Config) chooseNetworks(t defaults.Task) {
	dim := c.Schema.Dim() + c.classes()
	width := t.Width(dim, usualSteps, 16, 256)
	if c.Critic == nil {
		c.Critic = models.MLP{Hidden: []int{width}, Activation: models.LeakyReLU}
		c.choices.Add("Critic", c.Critic, fmt.Sprintf(
			"the widest that noise permits for records of %d numbers and %d steps", dim, usualSteps))
	}
	if c.Generator == nil {
		c.Generator = models.MLP{Hidden: []int{max(2*width, 64), max(2*width, 64)}, BatchNorm: true}
		c.choices.Add("Generator", c.Generator,
			"twice the critic's width: the generator costs no privacy")
	}
	defaults.Fill(&c.choices, &c.Latent, 32, "Latent", "codes cost no privacy")
}

func (c *Config) chooseTraining(t defaults.Task) {
	parameters := c.criticParameters()
	most := mostSteps
	if c.Train.SamplingProbability == 0 {
		step := defaults.CostOf(c.stepOperations(t.Batch(mostSteps, 64, 1000)), 0)
		most = min(most, int(mostSeconds/step.Seconds))
	}
	defaults.Fill(&c.choices, &c.Train.Steps, t.Steps(parameters, leastSteps, max(most, leastSteps)),
		"Train.Steps", fmt.Sprintf("as many as noise permits for %.0f parameters, from %d to %d",
			parameters, leastSteps, max(most, leastSteps)))
	batch := t.Batch(c.Train.Steps, 64, 1000)
	defaults.Fill(&c.choices, &c.Train.SamplingProbability, t.Rate(batch),
		"Train.SamplingProbability",
		fmt.Sprintf("batches of %.0f: larger ones take more time, smaller ones add noise", batch))
	if c.Train.ClipNorm == 0 && !c.Clipping.Adaptive {
		defaults.Fill[sgd.Clip](&c.choices, &c.Train.Clip, sgd.Normalize{}, "Train.Clip",
			"needs no clip norm")
	}
	defaults.Fill(&c.choices, &c.Train.NominalBatch,
		c.Train.SamplingProbability*float64(t.Nominal), "Train.NominalBatch",
		"sampling probability × nominal size")
	adam := func(rate float64) sgd.Optimizer { return sgd.AdamWith(rate, 0.5, 0.999, 1e-8) }
	defaults.Fill(&c.choices, &c.Train.Optimizer, adam(1e-3), "Train.Optimizer",
		"Adam does not depend on the scale of gradients")
	defaults.Fill(&c.choices, &c.GeneratorOptimizer, adam(1e-3), "GeneratorOptimizer",
		"slower than the random walk of a noisy critic")
	defaults.Fill(&c.choices, &c.CriticSteps, 2, "CriticSteps", "a noisy critic needs more steps")
	defaults.Fill(&c.choices, &c.Average, 0.99, "Average",
		"averaging reduces noise and costs no privacy")
	defaults.Fill(&c.choices, &c.GeneratorBatch, 256, "GeneratorBatch", "fakes cost time only")
}

// criticParameters returns the number of the critic's parameters, or an estimate if it is unknown.
func (c Config) criticParameters() float64 {
	if n := c.criticSize(); n > 0 {
		return float64(n)
	}
	return 1e5
}

// generatorSize returns the number of the generator's parameters.
func (c Config) generatorSize() float64 {
	if s, ok := c.Generator.(models.GeneratorSizer); ok {
		params, _ := s.GeneratorSize(codeWidth(c.Latent, c.classes()), nil)
		return float64(params) + float64(c.Schema.Dim())*256
	}
	return 1e5
}

// stepOperations returns the number of operations of a critic step on a batch of the given size. It
// counts the forward pass, the backward pass and the clipped sum of records, and the forward and
// backward passes of fakes.
func (c Config) stepOperations(batch float64) float64 {
	fakes := float64(max(c.GeneratorBatch, 256))
	return c.criticParameters()*(6*batch+6*fakes+60) + c.generatorSize()*2*fakes
}

// cost predicts the time and memory of the run.
func (c Config) cost(t defaults.Task) defaults.Cost {
	batch := c.Train.SamplingProbability * float64(t.Nominal)
	fakes := float64(max(c.GeneratorBatch, 256))
	steps := float64(c.Train.Steps)
	operations := steps * c.stepOperations(batch)
	both := c.generatorSize() + c.criticParameters()
	operations += steps / float64(max(c.CriticSteps, 1)) * 6 * fakes * both
	bytes := 4 * (12*c.criticParameters() + 12*c.generatorSize() +
		(math.Min(2048, 2*batch)+2*fakes)*8*float64(c.Schema.Dim()))
	return defaults.CostOf(operations, bytes)
}
