package mix_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// TestNoPersonsByClass checks that mixtures by class are refused for persons and that the default
// rules do not choose them. The price assumes disjoint classes, but a person may have rows of
// several classes.
func TestNoPersonsByClass(t *testing.T) {
	c := mix.Config{Schema: records.Image(2, 2).WithLabels("a", "b").ByPerson(3),
		Budget:   accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: 100, Degree: 4}, Mixtures: 10, ClipNorm: 1, ByClass: true}
	_, err := c.Plan()
	if p := new(param.Error); !errors.As(err, &p) || p.Path != "mix.Config.ByClass" {
		t.Errorf("persons by class: got %v, want *param.Error for ByClass", err)
	}
	c = mix.Config{Schema: c.Schema, Budget: c.Budget, Nominal: 100}
	p, err := c.Plan()
	if err != nil || p.Config.ByClass {
		t.Errorf("the defaults plan persons by class: %v, %v", p, err)
	}
	c.Schema = c.Schema.ByPerson(0)
	if p, err = c.Plan(); err != nil || !p.Config.ByClass {
		t.Errorf("the defaults do not plan rows by class: %v, %v", p, err)
	}
}
