package merf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// systemName is the name of this system in files and errors.
const systemName = "merf"

// System reads plans and generators of this package back.
func System() synth.System {
	return synth.System{Name: systemName, Plan: readPlan, Model: readModel}
}

// work is what the plan adds to the frame.
type work struct {
	config   Config
	features rff.Embedding
	noise    noise
}

// Title says what is released.
func (w *work) Title() string {
	return fmt.Sprintf("%d features of %v", w.features.Dim(), w.config.Schema)
}

// Notes state the noise.
func (w *work) Notes() []string {
	text := fmt.Sprintf("noise on each sum of features ±%.4g (a record adds up to %.4g)", w.noise.sum,
		w.features.NormBound())
	if w.noise.count > 0 {
		text += fmt.Sprintf(", on each count ±%.4g", w.noise.count)
	}
	return []string{text, "training generators costs nothing more"}
}

// Fit releases the embedding and trains a generator against it.
func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	e, err := w.embed(ctx, r, func(s *Partial) error { return s.Add(ctx, r.Data) })
	if err != nil {
		return nil, err
	}
	return train(ctx, r, e, w.config.Generator)
}

// Judge refuses a generator that cannot be built on the run's backend.
func (w *work) Judge(r *synth.Run) error {
	g, s := w.config.Generator.withDefaults(), w.config.Schema
	_, err := network.NewGenerator("merf.GeneratorConfig.Architecture", r.Backend, g.Architecture,
		codeWidth(g.Latent, s), s, g.Seed)
	return err
}

// configJSON is the system's part of a plan.
type configJSON struct {
	Kernel          json.RawMessage `json:"kernel"`
	CountShare      float64         `json:"count_share,omitempty"`
	Nominal         int             `json:"nominal,omitempty"`
	NoiseMultiplier float64         `json:"noise_multiplier"`
	Batches         Batches         `json:"batches,omitzero"`
	Seed            uint64          `json:"seed,string"`
	Generator       GeneratorConfig `json:"generator"`
}

// Parts are what the caller may define.
func (w *work) Parts() []any { return []any{w.config.Kernel} }

// Config is the plan's configuration in JSON, which cannot hold a kernel or an architecture that is
// not the module's own.
func (w *work) Config() (json.RawMessage, error) {
	c := w.config
	kernel, err := rff.MarshalEmbedding(c.Kernel)
	if err != nil {
		return nil, err
	}
	return json.Marshal(configJSON{kernel, c.CountShare, c.Nominal, c.NoiseMultiplier, c.Batches,
		c.Seed, c.Generator})
}

func readPlan(saved synth.SavedPlan) (synth.Plan, error) {
	var j configJSON
	if err := json.Unmarshal(saved.Config, &j); err != nil {
		return nil, malformed(err)
	}
	kernel, err := rff.UnmarshalEmbedding(j.Kernel)
	if err != nil {
		return nil, err
	}
	g := j.Generator.withDefaults()
	if err := errors.Join(saved.Decided(j.NoiseMultiplier),
		network.CheckNamedGenerator(saved, g.Architecture, codeWidth(g.Latent, saved.Schema))); err !=
		nil {
		return nil, err
	}
	p, err := Config{Schema: saved.Schema, Budget: saved.Budget, Kernel: kernel,
		CountShare: j.CountShare, Nominal: j.Nominal, NoiseMultiplier: j.NoiseMultiplier,
		Batches: j.Batches, Seed: j.Seed, Generator: j.Generator}.Plan()
	if err != nil {
		return nil, err
	}
	return p, nil
}
