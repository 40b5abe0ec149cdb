package compose_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestPartsAreOfLowerLevels puts every composition into every other one. Exactly those are planned
// that stand before the outer one in the list, and their plans can be read back.
func TestPartsAreOfLowerLevels(t *testing.T) {
	s := schemaOf(t, records.Numeric("x", 0, 1), records.Numeric("y", 0, 1),
		records.Label("class", "u", "v"))
	b := accountant.Budget{Epsilon: 50, Delta: 1e-5}
	changes := func(of synth.Design) synth.Design {
		return compose.Changes{Of: of, Candidates: make([]compose.Change, 2), Records: 30}
	}
	list := []func(synth.Design) synth.Design{
		func(of synth.Design) synth.Design { return ranksOf(of) },
		func(of synth.Design) synth.Design { return poolOf(of, embedding(40)) },
		func(of synth.Design) synth.Design { return labelsOf(of, 40) },
		changes,
	}
	for i, outer := range list {
		for j, inner := range list {
			p, err := outer(inner(embedding(40))).PlanFor(s, b)
			wrong := new(param.Error)
			if (err == nil) != (j < i) || err != nil && !errors.As(err, &wrong) {
				t.Errorf("composition %d in %d: error %v", j, i, err)
			}
			if err != nil {
				continue
			}
			text := must(p.MarshalJSON())(t)
			again, err := append(systems, compose.Systems(systems)...).ReadPlan(text)
			if err != nil || again.String() != p.String() {
				t.Errorf("composition %d in %d is not read back: error %v", j, i, err)
			}
		}
	}
}

// TestDesignsWithoutPlans checks that a design which returns no plan, or a plan of another
// relation, is a mistake.
func TestDesignsWithoutPlans(t *testing.T) {
	none := design(func(records.Schema, accountant.Budget) (synth.Plan, error) { return nil, nil })
	other := design(func(s records.Schema, b accountant.Budget) (synth.Plan, error) {
		b.Relation = accountant.ReplaceOne
		return embedding(40).PlanFor(s, b)
	})
	for _, bad := range []synth.Design{none, other, nil} {
		for name, c := range map[string]synth.Design{"ranks": ranksOf(bad),
			"pool": poolOf(embedding(40), bad)} {
			_, err := c.PlanFor(small(t), budgetOf3)
			if wrong := new(param.Error); !errors.As(err, &wrong) {
				t.Errorf("%s: got error %v, want a *param.Error", name, err)
			}
		}
	}
}
