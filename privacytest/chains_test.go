package privacytest_test

import (
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
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

// design is a function as a design.
type design func(records.Schema, accountant.Budget) (synth.Plan, error)

func (d design) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	return d(s, b)
}

// composed plans a composition.
func composed(d synth.Design, s records.Schema) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		plan, err := d.PlanFor(s, b)
		if err != nil {
			return nil, nil, err
		}
		return bill(plan), fitted(plan), nil
	}
}

// colourChains plans the chain for images in colour: MERF, a private classifier of its images, and
// a private choice of their change.
func colourChains(s records.Schema) planner {
	return composed(compose.Changes{Share: 0.1, Records: 20, Seed: 1,
		Candidates: []compose.Change{{}, {Distortion: 1}},
		Of: compose.Labels{Of: design(smallMERF), Share: 0.7, Nominal: 1, Tries: 1, Seed: 1,
			Features: rff.RBF{Dim: 8, Bandwidth: 1}, Train: sgd.Config{ClipNorm: 0.1,
				SamplingProbability: 1, Steps: 2, Optimizer: sgd.SGD(1)}}}, s)
}

// pooled plans two releases of mean features on one ledger.
func pooled(s records.Schema) planner {
	return composed(compose.Pool{Of: []synth.Design{design(smallMERF), design(smallMERF)}}, s)
}

// onRanks plans MERF on ranks of numbers. The observer sees the fractions of records with each
// code, which the generator holds as numbers of eight bytes.
func onRanks(s records.Schema) planner {
	return composed(compose.Ranks{Of: design(smallMERF), Cells: 2, Share: 0.8, Seed: 1}, s)
}

// The functions below fit each composition.

func fitComposed(of synth.Design, s records.Schema, b accountant.Budget) fitting {
	return planned(func() (synth.Plan, error) { return of.PlanFor(s, b) })
}

func fitRanks(s records.Schema, b accountant.Budget) fitting {
	return fitComposed(compose.Ranks{Of: design(smallMERF), Cells: 4, Seed: 1}, s, b)
}

func fitOpen(s records.Schema, b accountant.Budget) fitting {
	return fitComposed(compose.Levels{Of: tables.MST{Common: tables.Common{Nominal: 40}}}, s, b)
}

func fitPool(s records.Schema, b accountant.Budget) fitting {
	return fitComposed(compose.Pool{Of: []synth.Design{design(smallMERF), design(smallMERF)}}, s, b)
}

func fitLabels(s records.Schema, b accountant.Budget) fitting {
	return fitComposed(compose.Labels{Of: design(smallMERF), Share: 0.5, Nominal: 7, Tries: 2,
		Seed: 1, Features: rff.RBF{Dim: 8, Bandwidth: 1}, Train: sgd.Config{ClipNorm: 0.5,
			SamplingProbability: 0.5, Steps: 2, Optimizer: sgd.SGD(1)}}, s, b)
}

func fitChanges(s records.Schema, b accountant.Budget) fitting {
	return fitComposed(compose.Changes{Of: design(smallMERF), Records: 20, Seed: 1,
		Candidates: []compose.Change{{}, {Distortion: 1}}}, s, b)
}
