package sgd

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// configJSON is the JSON form of a Config; the clipping policy is stored with its type.
type configJSON struct {
	ClipNorm            float64   `json:"clip_norm,omitempty"`
	Clip                *clipJSON `json:"clip,omitempty"`
	SamplingProbability float64   `json:"sampling_probability"`
	Bands               int       `json:"bands,omitempty"`
	RandomAllocation    bool      `json:"random_allocation,omitempty"`
	Shuffled            bool      `json:"shuffled,omitempty"`
	Steps               int       `json:"steps"`
	NoiseMultiplier     float64   `json:"noise_multiplier"`
	Optimizer           Optimizer `json:"optimizer"`
	NominalBatch        float64   `json:"nominal_batch,omitempty"`
	MicroBatch          int       `json:"micro_batch,omitempty"`
}

// clipJSON holds exactly one of the policies.
type clipJSON struct {
	DPNorm    *DPNorm    `json:"dp_norm,omitempty"`
	Quantile  *Quantile  `json:"quantile,omitempty"`
	Normalize *Normalize `json:"normalize,omitempty"`
	Groups    *Groups    `json:"groups,omitempty"`
}

// MarshalJSON writes the configuration.
func (c Config) MarshalJSON() ([]byte, error) {
	clip, err := tagClip(c.Clip)
	if err != nil {
		return nil, err
	}
	return json.Marshal(configJSON{c.ClipNorm, clip, c.SamplingProbability, c.Bands,
		c.RandomAllocation, c.Shuffled, c.Steps, c.NoiseMultiplier, c.Optimizer, c.NominalBatch,
		c.MicroBatch})
}

func tagClip(c Clip) (*clipJSON, error) {
	switch c := c.(type) {
	case nil:
		return nil, nil
	case DPNorm:
		return &clipJSON{DPNorm: &c}, nil
	case Quantile:
		return &clipJSON{Quantile: &c}, nil
	case Normalize:
		return &clipJSON{Normalize: &c}, nil
	case Groups:
		return &clipJSON{Groups: &c}, nil
	}
	return nil, fmt.Errorf("sgd: a clipping policy of type %T cannot be written: want DPNorm, "+
		"Quantile, Normalize or Groups", c)
}

// UnmarshalJSON reads a configuration that MarshalJSON wrote. It does not check the numbers; see
// Validate.
//
// Errors: an error for JSON of another form.
func (c *Config) UnmarshalJSON(data []byte) error {
	var j configJSON
	if err := param.Decode(data, &j); err != nil {
		return fmt.Errorf("sgd: reading a configuration: %w", err)
	}
	clip, err := j.Clip.policy()
	if err != nil {
		return err
	}
	*c = Config{j.ClipNorm, clip, j.SamplingProbability, j.Bands, j.RandomAllocation, j.Shuffled,
		j.Steps, j.NoiseMultiplier, j.Optimizer, j.NominalBatch, j.MicroBatch}
	return nil
}

func (j *clipJSON) policy() (Clip, error) {
	if j == nil {
		return nil, nil
	}
	found := given(given(given(given(nil, j.DPNorm), j.Quantile), j.Normalize), j.Groups)
	if len(found) != 1 {
		return nil, fmt.Errorf("sgd: %d clipping policies in clip: want one of dp_norm, quantile, "+
			"normalize and groups", len(found))
	}
	return found[0], nil
}

// given appends a policy if there is one.
func given[C Clip](list []Clip, c *C) []Clip {
	if c != nil {
		list = append(list, *c)
	}
	return list
}
