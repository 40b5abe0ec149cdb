package merf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// systemName is the name of this system in files and errors.
const systemName = "merf"

// System returns the functions that read plans and generators of this package.
func System() synth.System {
	return synth.System{Name: systemName, Plan: readPlan, Model: readModel}
}

// work implements synth.Work.
type work struct {
	config   Config
	features rff.Embedding
	noise    noise
	pass     mechanism.PassID // identifies everything that the sums depend on
}

// TakesPersons marks that the system supports schemas with several rows per person. Each row is
// added with its weight.
func (w *work) TakesPersons() {}

// Title describes the release.
func (w *work) Title() string {
	return fmt.Sprintf("%d features of %v", w.features.Dim(), w.config.Schema)
}

// Notes states the noise and the choices of the default rules.
func (w *work) Notes() []string {
	text := fmt.Sprintf("noise on each sum of features ±%.4g (a record adds at most %.4g)",
		w.noise.sum,
		w.features.NormBound())
	if w.noise.count > 0 {
		text += fmt.Sprintf(", on each count ±%.4g", w.noise.count)
	}
	return append([]string{text, "training generators costs no privacy"},
		w.config.choices.Notes()...)
}

// Partial returns empty sums for the pass over all records. Plans with Batches have no such pass.
func (w *work) Partial(p synth.Pass, be device.Backend) (*mechanism.Partial, error) {
	if b := w.config.Batches; !b.none() {
		return nil, param.New("merf.Config.Batches", b, "none: samples are drawn by position")
	}
	if p.Purpose != PurposeEmbed || p.State != nil {
		return nil, param.New("merf.Pass.Purpose", p.Purpose,
			"a pass of this plan, with its state unchanged")
	}
	return w.newPartial(be), nil
}

// Passes returns the stages whose sums are computed in a pass over all records.
func (w *work) Passes() []string {
	if !w.config.Batches.none() {
		return nil
	}
	return []string{PurposeEmbed}
}

// Fit releases the embedding and trains a generator against it.
func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	return w.fit(ctx, r, addAll(ctx))
}

func (w *work) fit(ctx context.Context, r *synth.Run, fill filler) (synth.Model, error) {
	e, err := w.embed(ctx, r, fill)
	if err != nil {
		return nil, err
	}
	return train(ctx, r, e, w.config.Generator)
}

// Judge returns an error if the generator cannot be built on the run's backend.
func (w *work) Judge(r *synth.Run) error {
	_, err := w.config.Generator.withDefaults().network(r.Backend, w.config.Schema)
	return err
}

// configJSON is a Config whose kernel is written with its name.
type configJSON struct {
	Kernel json.RawMessage `json:"kernel"`
	Config
	// Choices are the choices of the default rules, for readers of the plan.
	Choices defaults.Choices `json:"choices,omitempty"`
}

// Parts returns the parts of the configuration that may be user-defined.
func (w *work) Parts() []any { return []any{w.config.Kernel} }

// Config returns the plan's configuration in JSON. It returns an error for a user-defined kernel or
// architecture.
func (w *work) Config() (json.RawMessage, error) {
	kernel, err := rff.MarshalEmbedding(w.config.Kernel)
	if err != nil {
		return nil, err
	}
	return json.Marshal(configJSON{kernel, w.config, w.config.choices})
}

func readPlan(saved synth.SavedPlan) (synth.Plan, error) {
	var j configJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	j.Schema, j.Budget = saved.Schema, saved.Budget
	j.decided, j.choices, j.limits = true, j.Choices, saved.Limits
	var err error
	if j.Config.Kernel, err = rff.UnmarshalEmbedding(j.Kernel); err != nil {
		return nil, err
	}
	g := j.Generator.withDefaults()
	codes := codesOf(nil, g.Latent, saved.Schema)
	_, tooLarge := j.features()
	if err := errors.Join(saved.Decided(j.NoiseMultiplier), tooLarge,
		network.CheckNamedGenerators(g.Generators, saved, g.Architecture, codes.Width())); err != nil {
		return nil, err
	}
	return synth.PlanOf(j.Plan())
}
