package gan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

const system = "gan"

// PurposeCritic is the name of the stage of critic steps, and the purpose of its ledger entry.
const PurposeCritic = "critic step"

// StageWarm is the name, in progress reports, of the stage that trains on public records. This
// stage costs no privacy.
const StageWarm = "warm start"

// A Plan is a Config with its noise multipliers chosen, together with its price. See [synth.Plan].
type Plan struct {
	synth.Program
	Config Config
}

// System returns the functions that read plans and generators of this package.
func System() synth.System { return synth.System{Name: system, Plan: readPlan, Model: readModel} }

// Plan chooses the settings that the configuration leaves open and prices all stages.
//
// Guarantee: a run reserves and spends exactly the events of the plan. Errors: *param.Error values,
// joined, for every mistake in the configuration, and accountant.ErrBudgetExceeded if a noise
// multiplier given by the caller costs more than the budget.
func (c Config) Plan() (*Plan, error) {
	c, err := c.chosen()
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.Train.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateNoise(c.Budget, func(z float64) accountant.Event {
			return synth.Total(c.stages(z)...)
		})
		if err != nil {
			return nil, fmt.Errorf("gan: noise of the critic: %w", err)
		}
		if !mechanism.IsNoiseMultiplier(z) {
			return nil, param.New("gan.Config.Budget", c.Budget, "a budget that needs a noise multiplier "+
				"of at most 2^24")
		}
		c.Train.NoiseMultiplier = z
	}
	p, err := synth.NewProgram(system, c.Schema, c.Budget, c.stages(c.Train.NoiseMultiplier),
		work{c.cloned()})
	if err != nil {
		return nil, err
	}
	return &Plan{p, c.cloned()}, nil
}

// PlanFor implements [synth.Design].
func (c Config) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Schema, c.Budget = s, b
	return synth.PlanOf(c.Plan())
}

// cloned returns a copy of the configuration that shares no slices with it.
func (c Config) cloned() Config {
	c.Critic, c.Generator = network.Own(c.Critic), network.Own(c.Generator)
	c.Train.Clip = network.Own(c.Train.Clip)
	return c
}

// stages returns the only stage.
func (c Config) stages(z float64) []synth.Stage {
	t := c.train()
	t.NoiseMultiplier = z
	return []synth.Stage{{Purpose: PurposeCritic, Event: t.Event(c.Budget.Relation), Count: t.Steps,
		NoiseMultiplier: z}}
}

// MarshalJSON writes the plan: its public parameters, every noise multiplier and the price.
//
// Errors: *param.Error for the zero value; an error for a plan with public records, and for an
// architecture that cannot be written.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if p.Config.Public.Data() != nil {
		return nil, errors.New("gan: a plan with public records cannot be written:" +
			" write its other fields, and set Public again after reading")
	}
	return p.Program.MarshalJSON()
}

// work implements synth.Work.
type work struct{ config Config }

// TakesPersons marks that the system supports schemas with several rows per person: training
// samples and clips whole persons.
func (w work) TakesPersons() {}

func (w work) Title() string {
	c := w.config
	return fmt.Sprintf("critic %s, generator %s, %s loss, %v", c.Critic.Name(), c.Generator.Name(),
		onlyLoss, c.Schema)
}

func (w work) Notes() []string {
	c := w.config
	notes := []string{
		fmt.Sprintf("generator steps, one for every %d critic steps, cost no privacy", c.CriticSteps)}
	if c.WarmSteps > 0 {
		notes = append(notes, fmt.Sprintf("%d generator steps on public records come first", c.WarmSteps))
	}
	return append(append(notes, c.choices.Notes()...), c.Train.Warnings()...)
}

// onlyLoss is the name of the critic's loss in plans.
const onlyLoss = "wasserstein"

// configJSON is a Config whose networks are written with their names. It has a digest instead of
// public records.
type configJSON struct {
	Config
	Loss      string          `json:"loss"` // wasserstein
	Critic    json.RawMessage `json:"critic"`
	Generator json.RawMessage `json:"generator"`
	Public    string          `json:"public,omitempty"`
	// Choices are the choices of the default rules, for readers of the plan.
	Choices defaults.Choices `json:"choices,omitempty"`
}

// Parts returns the parts of the configuration that may be user-defined.
func (w work) Parts() []any { return []any{w.config.Critic, w.config.Generator} }

func (w work) Config() (json.RawMessage, error) {
	j := configJSON{Config: w.config, Loss: onlyLoss, Public: network.Digest(w.config.Public),
		Choices: w.config.choices}
	var err error
	if j.Critic, err = models.MarshalArchitecture(w.config.Critic); err != nil {
		return nil, err
	}
	if j.Generator, err = models.MarshalArchitecture(w.config.Generator); err != nil {
		return nil, err
	}
	return json.Marshal(j)
}

// readPlan rebuilds a plan from the JSON that Config wrote.
func readPlan(saved synth.SavedPlan) (synth.Plan, error) {
	var j configJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	if j.Loss != onlyLoss {
		return nil, synth.Malformed(fmt.Errorf("the loss %q: want %q", j.Loss, onlyLoss))
	}
	if j.Public != "" {
		return nil, synth.Malformed(errors.New("the plan has public records, which are not in the file"))
	}
	c := j.Config
	c.choices = j.Choices
	c.Schema, c.Budget = saved.Schema, saved.Budget
	var err error
	if c.Critic, err = models.UnmarshalCritic(j.Critic); err != nil {
		return nil, synth.Malformed(err)
	}
	if c.Generator, err = models.UnmarshalGenerator(j.Generator); err != nil {
		return nil, synth.Malformed(err)
	}
	if err := errors.Join(c.checkNamed(saved), saved.Decided(c.Train.NoiseMultiplier)); err != nil {
		return nil, err
	}
	return synth.PlanOf(c.Plan())
}

// checkNamed checks both networks against the limits for files.
func (c Config) checkNamed(saved synth.SavedPlan) error {
	critic := network.CheckNamed(saved, "the critic", c.Critic, c.criticSize)
	return errors.Join(critic,
		network.CheckNamedGenerators(1, saved, c.Generator, codeWidth(c.Latent, c.classes())))
}

// Judge returns an error if the private records are also given as public ones, or if the backend or
// the trainer does not support the networks.
func (w work) Judge(r *synth.Run) error {
	if w.config.Public.Overlaps(r.Data) {
		return param.New("gan.Config.Public", "the private records", "public records")
	}
	_, err := newRun(w.config, r)
	return err
}

// Releases returns the schema of synthetic records.
func (w work) Releases() records.Schema {
	if w.config.IgnoreLabels {
		return w.config.Schema.WithoutLabels()
	}
	return w.config.Schema
}

func (w work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	t, err := newRun(w.config, r, sgd.WithAllowance(r.Allowance(PurposeCritic)))
	if err != nil {
		return nil, err
	}
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	if err := t.steps(ctx); err != nil {
		return nil, err
	}
	if t.done == 0 {
		return nil, fmt.Errorf("gan: %s: %w", PurposeCritic, synth.ErrLost)
	}
	return t.model()
}
