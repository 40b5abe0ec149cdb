package gan

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

const planVersion = 1

type planJSON struct {
	Version            int               `json:"version"`
	Schema             records.Schema    `json:"schema"`
	Budget             accountant.Budget `json:"budget"`
	Critic             json.RawMessage   `json:"critic"`
	Generator          json.RawMessage   `json:"generator"`
	Latent             int               `json:"latent"`
	Loss               models.CriticLoss `json:"loss"`
	Penalty            float64           `json:"penalty,omitempty"`
	Train              sgd.Config        `json:"train"`
	Clipping           Clipping          `json:"clipping"`
	CriticSteps        int               `json:"criticSteps"`
	Frequency          *Frequency        `json:"frequency,omitempty"`
	GeneratorBatch     int               `json:"generatorBatch"`
	GeneratorOptimizer sgd.Optimizer     `json:"generatorOptimizer"`
	Average            float64           `json:"average,omitempty"`
	IgnoreLabels       bool              `json:"ignoreLabels,omitempty"`
	ClassWeights       []float64         `json:"classWeights,omitempty"`
	WarmSteps          int               `json:"warmSteps,omitempty"`
	Seed               uint64            `json:"seed,string"`
	Epsilon            accountant.Bound  `json:"epsilon"` // of the whole plan, for the reader
}

// MarshalJSON writes the plan: its public parameters with the noise multiplier.
//
// Errors: *param.Error for a plan that Config.Plan has not made; public records, which JSON is no place for; an
// architecture that cannot be written.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	if p.Config.Public != nil {
		return nil, errors.New("gan: a plan with public records cannot be written: write its other fields, and give them to it again")
	}
	return p.text()
}

// text is the plan without its public records.
func (p *Plan) text() ([]byte, error) {
	c := p.Config
	j := planJSON{Version: planVersion, Schema: c.Schema, Budget: c.Budget, Latent: c.Latent, Loss: c.Loss, Penalty: c.Penalty,
		Train: c.Train, Clipping: c.Clipping, CriticSteps: c.CriticSteps, GeneratorBatch: c.GeneratorBatch,
		GeneratorOptimizer: c.GeneratorOptimizer, Average: c.Average, IgnoreLabels: c.IgnoreLabels, ClassWeights: c.ClassWeights,
		WarmSteps: c.WarmSteps, Seed: c.Seed, Epsilon: p.Total}
	if c.Frequency != (Frequency{}) {
		j.Frequency = &c.Frequency
	}
	var err error
	if j.Critic, err = models.MarshalCritic(c.Critic); err != nil {
		return nil, err
	}
	if j.Generator, err = models.MarshalGenerator(c.Generator); err != nil {
		return nil, err
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a plan and works out its bill again: what a file says a plan costs is not believed. Errors:
// those of Config.Plan.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var j planJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("gan: plan: %w", err)
	}
	if j.Version != planVersion {
		return &param.Error{Path: "gan.Plan.version", Value: j.Version, Want: fmt.Sprint(planVersion)}
	}
	c := Config{Schema: j.Schema, Budget: j.Budget, Latent: j.Latent, Loss: j.Loss, Penalty: j.Penalty, Train: j.Train,
		Clipping: j.Clipping, CriticSteps: j.CriticSteps, GeneratorBatch: j.GeneratorBatch, GeneratorOptimizer: j.GeneratorOptimizer,
		Average: j.Average, IgnoreLabels: j.IgnoreLabels, ClassWeights: j.ClassWeights, WarmSteps: j.WarmSteps, Seed: j.Seed}
	if j.Frequency != nil {
		c.Frequency = *j.Frequency
	}
	var err error
	if c.Critic, err = models.UnmarshalCritic(j.Critic); err != nil {
		return err
	}
	if c.Generator, err = models.UnmarshalGenerator(j.Generator); err != nil {
		return err
	}
	read, err := c.Plan()
	if err != nil {
		return err
	}
	*p = *read
	return nil
}
