package dpgm

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

const planVersion = 1

type planJSON struct {
	Version   int               `json:"version"`
	Schema    records.Schema    `json:"schema"`
	Budget    accountant.Budget `json:"budget"`
	Features  json.RawMessage   `json:"features,omitempty"`
	Cluster   kmeans.Config     `json:"cluster"`
	Marginals *Marginals        `json:"marginals,omitempty"`
	Model     json.RawMessage   `json:"model"`
	Train     sgd.Config        `json:"train"`
	Average   float64           `json:"average,omitempty"`
	Seed      uint64            `json:"seed,string"`
	Epsilon   accountant.Bound  `json:"epsilon"` // of the whole plan, for the reader
}

// MarshalJSON writes the plan: its public parameters with every noise multiplier.
//
// Errors: a plan that starts its clusters from public records, or in features
// of somebody else's kernel, holds what JSON cannot.
func (p *Plan) MarshalJSON() ([]byte, error) {
	c := p.Config
	if c.Cluster.Init.Method == kmeans.FromPublic {
		return nil, fmt.Errorf("dpgm: a plan that starts from public records cannot be written: cluster them first and start at their centres")
	}
	j := planJSON{Version: planVersion, Schema: c.Schema, Budget: c.Budget, Cluster: c.Cluster, Marginals: c.Marginals, Train: c.Train, Average: c.Average, Seed: c.Seed, Epsilon: p.Total}
	var err error
	if c.Features != nil {
		if j.Features, err = rff.MarshalKernel(c.Features); err != nil {
			return nil, err
		}
	}
	if j.Model, err = models.MarshalDensity(c.Model); err != nil {
		return nil, err
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a plan and works out its bill again: what a file says a
// plan costs is not believed. Errors: those of Config.Plan.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var j planJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("dpgm: plan: %w", err)
	}
	if j.Version != planVersion {
		return &param.Error{Path: "dpgm.Plan.version", Value: j.Version, Want: fmt.Sprint(planVersion)}
	}
	c := Config{Schema: j.Schema, Budget: j.Budget, Cluster: j.Cluster, Marginals: j.Marginals, Train: j.Train, Average: j.Average, Seed: j.Seed}
	var err error
	if len(j.Features) > 0 {
		if c.Features, err = rff.UnmarshalKernel(j.Features); err != nil {
			return err
		}
	}
	if c.Model, err = models.UnmarshalDensity(j.Model); err != nil {
		return err
	}
	read, err := c.Plan()
	if err != nil {
		return err
	}
	*p = *read
	return nil
}
