package privacytest_test

import (
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/augment"
	"github.com/seed7ba64551/privgen/labelling"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/pool"
	"github.com/seed7ba64551/privgen/quantiles"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// smallMERF plans a release of few features.
func smallMERF(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c := merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 8, Bandwidth: 1}, Seed: 1,
		Generator: merf.GeneratorConfig{Architecture: models.MLP{}, Latent: 1, Steps: 10, Batch: 16}}
	if b.Relation == accountant.ReplaceOne {
		c.Nominal = 1
	}
	return synth.PlanOf(c.Plan())
}

// colourChains plans the chain for images in colour: MERF, a private classifier of its images, and
// a private choice of their change.
func colourChains(s records.Schema) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		c, err := augment.Config{Budget: b, Share: 0.1, Records: 20, Seed: 1,
			Candidates: []augment.Candidate{{}, {Distortion: 1}}}.Within(
			func(b accountant.Budget) (synth.Plan, error) {
				l, err := labelling.Config{Budget: b, Share: 0.7, Nominal: 1, Tries: 1, Seed: 1,
					Features: rff.RBF{Dim: 8, Bandwidth: 1},
					Train: sgd.Config{ClipNorm: 0.1, SamplingProbability: 1, Steps: 2,
						Optimizer: sgd.SGD(1)}}.Within(
					func(b accountant.Budget) (synth.Plan, error) { return smallMERF(s, b) })
				if err != nil {
					return nil, err
				}
				return synth.PlanOf(l.Plan())
			})
		if err != nil {
			return nil, nil, err
		}
		plan, err := c.Plan()
		if err != nil {
			return nil, nil, err
		}
		return bill(plan), fitted(plan), nil
	}
}

// pooled plans two releases of mean features on one ledger.
func pooled(s records.Schema) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		of := func(b accountant.Budget) (synth.Plan, error) { return smallMERF(s, b) }
		c, err := pool.Config{Budget: b}.Within(of, of)
		if err != nil {
			return nil, nil, err
		}
		plan, err := c.Plan()
		if err != nil {
			return nil, nil, err
		}
		return bill(plan), fitted(plan), nil
	}
}

// onRanks plans MERF on ranks of numbers. The observer sees the fractions of records with each
// code, which the generator holds as numbers of eight bytes.
func onRanks(s records.Schema) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		c, err := quantiles.Config{Schema: s, Budget: b, Cells: 2, Share: 0.8, Seed: 1}.Within(smallMERF)
		if err != nil {
			return nil, nil, err
		}
		plan, err := c.Plan()
		if err != nil {
			return nil, nil, err
		}
		return bill(plan), fitted(plan), nil
	}
}
