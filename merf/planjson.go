package merf

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

const planVersion = 1

type planJSON struct {
	Version         int               `json:"version"`
	Schema          records.Schema    `json:"schema"`
	Budget          accountant.Budget `json:"budget"`
	Kernel          json.RawMessage   `json:"kernel"`
	CountShare      float64           `json:"countShare,omitempty"`
	Nominal         int               `json:"nominal,omitempty"`
	NoiseMultiplier float64           `json:"noiseMultiplier"`
	Batches         *Batches          `json:"batches,omitempty"`
	Seed            uint64            `json:"seed,string"`
	Epsilon         accountant.Bound  `json:"epsilon"` // of the whole plan, for the reader
}

// MarshalJSON writes the plan: its public parameters with the noise multiplier.
//
// Errors: *param.Error for a plan that Config.Plan has not made; a kernel of somebody else holds what JSON
// cannot.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	c := p.Config
	kernel, err := rff.MarshalEmbedding(c.Kernel)
	if err != nil {
		return nil, err
	}
	j := planJSON{Version: planVersion, Schema: c.Schema, Budget: c.Budget, Kernel: kernel, CountShare: c.CountShare,
		Nominal: c.Nominal, NoiseMultiplier: c.NoiseMultiplier, Seed: c.Seed, Epsilon: p.Total}
	if !c.Batches.none() {
		j.Batches = &c.Batches
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a plan and works out its bill again: what a file says a plan costs is not believed. Errors:
// those of Config.Plan.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var j planJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("merf: plan: %w", err)
	}
	if j.Version != planVersion {
		return &param.Error{Path: "merf.Plan.version", Value: j.Version, Want: fmt.Sprint(planVersion)}
	}
	kernel, err := rff.UnmarshalEmbedding(j.Kernel)
	if err != nil {
		return err
	}
	c := Config{Schema: j.Schema, Budget: j.Budget, Kernel: kernel, CountShare: j.CountShare, Nominal: j.Nominal,
		NoiseMultiplier: j.NoiseMultiplier, Seed: j.Seed}
	if j.Batches != nil {
		c.Batches = *j.Batches
	}
	read, err := c.Plan()
	if err != nil {
		return err
	}
	*p = *read
	return nil
}
