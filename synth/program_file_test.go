package synth_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// nesting is a system whose file has other plans.
type nesting struct {
	reading
	of []synth.Plan
}

func (w nesting) Plans() []synth.Plan { return w.of }

// planOfLevels returns the plan of a system for a table of two columns with n levels together.
func planOfLevels(t *testing.T, n int, w synth.Work) (synth.Plan, error) {
	t.Helper()
	levels := make([]string, n/2)
	for i := range levels {
		levels[i] = strconv.Itoa(i)
	}
	s := must(records.NewSchema(records.Categorical("c", levels...),
		records.Categorical("d", levels...)))(t)
	p, err := synth.NewProgram("reading", s, accountant.Budget{Epsilon: 9, Delta: 1e-5},
		[]synth.Stage{{Purpose: "use", Event: accountant.Gaussian{NoiseMultiplier: 4}, Count: 1}}, w)
	return &struct{ *synth.Program }{&p}, err
}

// TestPlansThatCannotBeSaved checks that a plan is refused if the levels of its columns exceed the
// limits for files, together with the levels of plans within the plan.
func TestPlansThatCannotBeSaved(t *testing.T) {
	half := must(planOfLevels(t, 47_000, reading{}))(t)
	two := must(planOfLevels(t, 10_000, nesting{of: []synth.Plan{half}}))(t)
	for name, c := range map[string]struct {
		levels int
		work   synth.Work
		fits   bool
	}{
		"a large schema":          {94_000, reading{}, true},
		"a schema that is larger": {96_000, reading{}, false},
		"a plan within":           {47_000, nesting{of: []synth.Plan{half}}, true},
		"two plans within":        {47_000, nesting{of: []synth.Plan{half, half}}, false},
		"a plan within another":   {47_000, nesting{of: []synth.Plan{two}}, false},
	} {
		_, err := planOfLevels(t, c.levels, c.work)
		if wrong := new(param.Error); c.fits && err != nil || !c.fits && !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// TestAliasesAreInFiles checks that everything in a schema's text counts.
func TestAliasesAreInFiles(t *testing.T) {
	texts := make([]string, 96_000)
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	s, err := records.NewSchema(records.Categorical("c", "x", "y").WithAlias("x", texts...),
		records.Integer("n", 0, 5))
	if err != nil {
		t.Fatal(err)
	}
	_, err = synth.NewProgram("reading", s, accountant.Budget{Epsilon: 9, Delta: 1e-5},
		[]synth.Stage{{Purpose: "use", Event: accountant.Gaussian{NoiseMultiplier: 4}, Count: 1}},
		reading{})
	if wrong := new(param.Error); !errors.As(err, &wrong) {
		t.Errorf("a plan whose generator no file can hold: %v", err)
	}
}

// TestSystemsOfRowsRefusePersons checks that only a system that says so takes persons.
func TestSystemsOfRowsRefusePersons(t *testing.T) {
	stages := []synth.Stage{{Purpose: "use", Event: accountant.Gaussian{NoiseMultiplier: 4}, Count: 1}}
	budget := accountant.Budget{Epsilon: 9, Delta: 1e-5}
	s := records.Interval(1, 0, 1).ByPerson(2)
	_, err := synth.NewProgram("rows", s, budget, stages, reading{})
	if wrong := new(param.Error); !errors.As(err, &wrong) {
		t.Errorf("a system of rows takes persons: %v", err)
	}
	takes := struct {
		reading
		synth.PersonWork
	}{}
	if _, err := synth.NewProgram("persons", s, budget, stages, takes); err != nil {
		t.Error(err)
	}
}

// TestNilPlansHaveNoWork checks that a nil pointer to a plan that embeds a Program is no plan.
func TestNilPlansHaveNoWork(t *testing.T) {
	type plan struct{ synth.Program }
	if w := synth.WorkOf((*plan)(nil)); w != nil {
		t.Errorf("a nil plan has the work %v", w)
	}
	if list := (synth.Inner{Plan: (*plan)(nil)}).Stages(); list != nil {
		t.Errorf("a nil plan has the stages %v", list)
	}
}
