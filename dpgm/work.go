package dpgm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// systemName is the name of this system in files and errors.
const systemName = "dpgm"

// System returns the functions that read plans and generators of this package.
func System() synth.System {
	return synth.System{Name: systemName, Plan: readPlan, Model: readModel}
}

// work implements synth.Work.
type work struct{ config Config }

// TakesPersons marks that the system supports schemas with several rows per person. Rows count with
// weights, and training samples and clips whole persons.
func (w *work) TakesPersons() {}

// Title describes the networks and the records.
func (w *work) Title() string {
	return fmt.Sprintf("%d × %s, %v", w.config.Cluster.K, w.config.Model.Name(), w.config.Schema)
}

// Notes lists the choices of the default rules and warnings about the training's settings. It says
// so if the schema has classes, because generated records have none.
func (w *work) Notes() []string {
	var notes []string
	if n := w.config.Schema.Classes(); n > 0 {
		notes = append(notes, fmt.Sprintf("labels are not modelled: generated records have none of the %d "+
			"classes", n))
	}
	return append(append(notes, w.config.choices.Notes()...), w.config.Train.Warnings()...)
}

// Judge builds everything that a run needs and checks it against the schema and other public facts
// about the records.
func (w *work) Judge(sr *synth.Run) error {
	r := run{Run: sr, config: w.config}
	if w.config.clustered() {
		features, err := newFeatures(w.config)
		if err != nil {
			return err
		}
		if sr.Data != nil {
			if err := w.config.Cluster.Check(features, sr.Data); err != nil {
				return err
			}
		}
	}
	if err := r.build(); err != nil {
		return err
	}
	_, err := r.newTrainer(func(int) float64 { return 1 })
	return err
}

// Releases returns the schema of synthetic records, which have no labels.
func (w *work) Releases() records.Schema { return w.config.Schema.WithoutLabels() }

// Fit runs the stages and returns the model.
func (w *work) Fit(ctx context.Context, sr *synth.Run) (synth.Model, error) {
	r := &run{Run: sr, config: w.config}
	if err := r.build(); err != nil {
		return nil, err
	}
	if err := r.Restore(r); err != nil {
		return nil, err
	}
	r.Keep(r.file)
	for _, stage := range []func(context.Context) error{r.cluster, r.marginals, r.train} {
		if err := stage(ctx); err != nil {
			return nil, err
		}
	}
	return r.model()
}

// configJSON is a Config whose kernel and architecture are written with their names. It has a
// digest of the public records, so plans with different public records differ.
type configJSON struct {
	Features json.RawMessage `json:"features,omitempty"`
	Config
	Public string          `json:"public_records,omitempty"`
	Model  json.RawMessage `json:"model"`
	// Choices are the choices of the default rules, for readers of the plan.
	Choices defaults.Choices `json:"choices,omitempty"`
}

// Parts returns the parts of the configuration that may be user-defined.
func (w *work) Parts() []any { return []any{w.config.Model, w.config.Features} }

// Config returns the plan's configuration in JSON.
//
// Errors: an error for a user-defined kernel, which cannot be written.
func (w *work) Config() (json.RawMessage, error) {
	c := w.config
	j := configJSON{Config: c, Choices: c.choices}
	if c.Cluster.Init.Method == kmeans.FromPublic {
		j.Public = network.Digest(c.Cluster.Init.Records)
	}
	var err error
	if c.Features != nil {
		if j.Features, err = rff.MarshalFeatures(c.Features); err != nil {
			return nil, err
		}
	}
	if j.Model, err = models.MarshalArchitecture(c.Model); err != nil {
		return nil, err
	}
	return json.Marshal(j)
}

func readPlan(saved synth.SavedPlan) (synth.Plan, error) {
	var j configJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	c := j.Config
	c.Schema, c.Budget = saved.Schema, saved.Budget
	c.choices = j.Choices
	var err error
	if len(j.Features) > 0 {
		if c.Features, err = rff.UnmarshalFeatures(j.Features); err != nil {
			return nil, err
		}
	}
	if c.Model, err = models.UnmarshalDensity(j.Model); err != nil {
		return nil, err
	}
	if err := errors.Join(network.CheckNamed(saved, "the network", c.Model, c.fileNumbers),
		saved.Decided(c.noise()...)); err != nil {
		return nil, err
	}
	return synth.PlanOf(c.Plan())
}
