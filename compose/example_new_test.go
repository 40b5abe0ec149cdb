package compose

import (
	"context"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// This file shows a whole new composition: tallied releases the number of records before its part
// reads them. Outside of tests, a new composition is such a file, its line in kinds, its test and
// its line in the documentation of the package.

type tallied struct{ Of synth.Design }

func talliedKind() kind {
	return kind{name: "tallied", config: "compose.tallied", of: "Of", level: joinLevel, least: 1,
		most: 1, design: readTallied, release: readNumber}
}

func (c tallied) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	of := []synth.Design{c.Of}
	if k := talliedKind().begin(s, b, of); k.Err() != nil {
		return nil, k.Err()
	}
	z, _, err := accountant.CalibrateShare(b, 0.1, gaussian)
	if err != nil {
		return nil, err
	}
	return planOf(tally{s, z, b.Relation}, s, b, of)
}

type tally struct {
	schema   records.Schema
	noise    float64
	relation accountant.Relation
}

func (c tally) kind() kind                                 { return talliedKind() }
func (c tally) reads(int) records.Schema                   { return c.schema }
func (c tally) view(_ int, data records.Data) records.Data { return data }
func (c tally) types() []any                               { return nil }

func (c tally) title(of []string) string {
	return "records of " + of[0] + ", tallied"
}
func (c tally) notes([]synth.Plan) []string { return nil }
func (c tally) stages() (before, after []synth.Stage) {
	return []synth.Stage{{Purpose: "count", Event: gaussian(c.noise), Count: 1, Once: true,
		NoiseMultiplier: c.noise}}, nil
}

func (c tally) fit(ctx context.Context, r *run) (*model, error) {
	out, err := r.Once("count", []int{1}, func() (float64, []mechanism.Part, error) {
		std := c.noise
		sum := mechanism.NewFixedSum(1, mechanism.GridFor(std))
		if c.relation == accountant.AddOrRemoveOne { // the number is public otherwise
			sum.AddInt(0, int64(r.Data.Len()))
		}
		return 1 / c.noise, []mechanism.Part{{Sum: sum, Std: std}}, nil
	})
	if err != nil {
		return nil, err
	}
	if _, err := r.part(ctx, 0, r.Data); err != nil {
		return nil, err
	}
	return r.model(number(out[0][0])), nil
}

type talliedJSON struct {
	Noise float64 `json:"noise"`
}

func (c tally) settings() (any, error) { return talliedJSON{c.noise}, nil }

func readTallied(_ synth.SavedPlan, of []synth.Plan) (synth.Design, error) {
	return tallied{Fixed(of[0])}, nil
}

// number is what is released: the noisy number of records.
type number float64

type numberJSON struct {
	Number float64 `json:"number"`
}

func (n number) sampler(m *model, d synth.Draw) (synth.Sampler, error) { return m.of[0].Sampler(d) }
func (n number) header() (any, error) {
	return numberJSON{float64(n)}, nil
}

func (n number) sections() []synth.Part { return nil }

func readNumber(f *synth.File, _ []synth.Model, _ synth.Loading) (released, error) {
	var j numberJSON
	err := f.Decode(&j)
	return number(j.Number), err
}

// TestANewCompositionContract runs the contract suite on the composition of this file.
func TestANewCompositionContract(t *testing.T) {
	of := func(n int, r accountant.Relation) merf.Config {
		c := merf.Config{Kernel: rff.RBF{Dim: 12, Bandwidth: 1}, Generator: merf.GeneratorConfig{
			Architecture: models.MLP{Hidden: []int{6}}, Latent: 3, Steps: 4, Batch: 12}}
		if r == accountant.ReplaceOne {
			c.Nominal = n
		}
		return c
	}
	synthtest.Run(t, synthtest.Subject{System: talliedKind().system(synth.Systems{merf.System()}),
		Interrupts: 3,
		Plan: func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
			return tallied{of(n, b.Relation)}.PlanFor(s, b)
		}})
}
