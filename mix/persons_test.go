package mix_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestNoPersonsByClass: a person may have rows of several classes, but mixtures by class are priced
// as disjoint. They are an error for persons, and the default rules do not choose them.
func TestNoPersonsByClass(t *testing.T) {
	c := mix.Config{Schema: records.Image(2, 2).WithLabels("a", "b").ByPerson(3),
		Budget:   accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: 100, Degree: 4}, Mixtures: 10, ClipNorm: 1, ByClass: true}
	_, err := c.Plan()
	if p := new(param.Error); !errors.As(err, &p) || p.Path != "mix.Config.ByClass" {
		t.Errorf("persons by class: %v", err)
	}
	c = mix.Config{Schema: c.Schema, Budget: c.Budget, Nominal: 100}
	p, err := c.Plan()
	if err != nil || p.Config.ByClass {
		t.Errorf("a plan by class: %v, %v", p, err)
	}
	c.Schema = c.Schema.ByPerson(0)
	if p, err = c.Plan(); err != nil || !p.Config.ByClass {
		t.Errorf("no plan by class for rows: %v, %v", p, err)
	}
}
