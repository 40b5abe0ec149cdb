package mix

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

const planVersion = 1

type planJSON struct {
	Version         int               `json:"version"`
	Schema          records.Schema    `json:"schema"`
	Budget          accountant.Budget `json:"budget"`
	Sampling        samplingJSON      `json:"sampling"`
	Mixtures        int               `json:"mixtures"`
	ClipNorm        float64           `json:"clip_norm"`
	ByClass         bool              `json:"by_class,omitempty"`
	Centers         Centers           `json:"centers,omitzero"`
	Projection      Projection        `json:"projection,omitzero"`
	LabelShare      float64           `json:"label_share"`
	Criterion       Criterion         `json:"criterion"`
	NoiseMultiplier float64           `json:"noise_multiplier"`
	Epsilon         accountant.Bound  `json:"epsilon"` // of the whole plan, for the reader
}

// samplingJSON is a sampling under the name of its type.
type samplingJSON struct {
	Kind    string `json:"kind"`
	Records int    `json:"records"`
	Degree  int    `json:"degree"`
}

func (j samplingJSON) sampling() (Sampling, error) {
	for _, s := range []Sampling{Poisson{j.Records, j.Degree}, PoissonReplaceOne{j.Records, j.Degree},
		WithoutReplacement{j.Records, j.Degree}} {
		if s.kind() == j.Kind {
			return s, nil
		}
	}
	return nil, mistake("Config.Sampling", j.Kind, "Poisson, PoissonReplaceOne or WithoutReplacement")
}

// MarshalJSON writes the plan: its public parameters with degree and noise decided. Errors: *param.Error for a
// plan that Config.Plan has not made.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	c := p.Config
	n, degree := c.Sampling.public()
	return json.Marshal(planJSON{Version: planVersion, Schema: c.Schema, Budget: c.Budget,
		Sampling: samplingJSON{c.Sampling.kind(), n, degree},
		Mixtures: c.Mixtures, ClipNorm: c.ClipNorm, ByClass: c.ByClass, Centers: c.Centers, Projection: c.Projection, LabelShare: c.LabelShare,
		Criterion: c.Criterion, NoiseMultiplier: c.NoiseMultiplier, Epsilon: p.Total})
}

// UnmarshalJSON reads a plan and works out its bill again: what a file says a plan costs is not believed.
// Errors: those of Config.Plan.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var j planJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("mix: plan: %w", err)
	}
	if j.Version != planVersion {
		return mistake("Plan.version", j.Version, fmt.Sprint(planVersion))
	}
	s, err := j.Sampling.sampling()
	if err != nil {
		return err
	}
	c := Config{Schema: j.Schema, Budget: j.Budget, Sampling: s, Mixtures: j.Mixtures, ClipNorm: j.ClipNorm,
		ByClass: j.ByClass, Centers: j.Centers,
		Projection: j.Projection, LabelShare: j.LabelShare, Criterion: j.Criterion, NoiseMultiplier: j.NoiseMultiplier}
	read, err := c.Plan()
	if err != nil {
		return err
	}
	*p = *read
	return nil
}
