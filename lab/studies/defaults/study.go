package main

import (
	"flag"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
)

// study overrides single choices of the GAN's rules. The rules were fitted with it, on grids of
// settings.
type study struct {
	rate, generatorRate, average, penalty float64
	steps, criticSteps, width             int
}

func (s *study) flags(f *flag.FlagSet) {
	f.Float64Var(&s.rate, "gan-lr", 0, "learning rate of the GAN's critic")
	f.Float64Var(&s.generatorRate, "gan-generator-lr", 0, "learning rate of the GAN's generator")
	f.Float64Var(&s.average, "gan-average", 0, "decay of the GAN's moving average")
	f.Float64Var(&s.penalty, "gan-penalty", 0, "gradient penalty; selects the Wasserstein loss")
	f.IntVar(&s.steps, "gan-steps", 0, "critic steps")
	f.IntVar(&s.criticSteps, "gan-critic-steps", 0, "critic steps for each generator step")
	f.IntVar(&s.width, "gan-width", 0, "width of the critic")
}

// plan returns the recommended plan with another seed of public randomness.
func (s study) plan(t task, b accountant.Budget, p privgen.Plan,
	seed uint64) (privgen.Plan, error) {
	q, err := s.start(t, b, p.System(), seed)
	if q == nil {
		return p, err
	}
	return q, err
}

// start returns the plan of a system by its name. For baselines it returns nil without an error.
func (s study) start(t task, b accountant.Budget, system string,
	seed uint64) (privgen.Plan, error) {
	schema, n := t.private.Schema(), t.nominal
	switch system {
	case "gan":
		return privgen.GAN(schema, b).Nominal(n).Train(s.config()).Seed(seed).Plan()
	case "merf":
		return privgen.MERF(schema, b).Nominal(n).Seed(seed).Plan()
	case "dpgm":
		return privgen.DPGM(schema, b).Nominal(n).Seed(seed).Plan()
	case "aim":
		return privgen.AIM(schema, b).Nominal(n).Seed(seed).Plan()
	case "mst":
		return privgen.MST(schema, b).Nominal(n).Seed(seed).Plan()
	case "mix":
		return privgen.Mix(schema, b).Nominal(n).Plan()
	}
	return nil, nil
}

func (s study) config() gan.Config {
	g := gan.Config{Average: s.average, CriticSteps: s.criticSteps, Penalty: s.penalty,
		Train: sgd.Config{Steps: s.steps}}
	adam := func(rate float64) sgd.Optimizer { return sgd.AdamWith(rate, 0.5, 0.999, 1e-8) }
	if s.rate > 0 {
		g.Train.Optimizer = adam(s.rate)
	}
	if s.generatorRate > 0 {
		g.GeneratorOptimizer = adam(s.generatorRate)
	}
	if s.width > 0 {
		g.Critic = models.MLP{Hidden: []int{s.width}, Activation: models.LeakyReLU}
	}
	return g
}
