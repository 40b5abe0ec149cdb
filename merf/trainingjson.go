package merf

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/models"
)

// generatorJSON is a GeneratorConfig with its architecture under its name.
type generatorJSON struct {
	Architecture json.RawMessage `json:"architecture,omitempty"`
	Latent       int             `json:"latent,omitempty"`
	Steps        int             `json:"steps,omitempty"`
	Batch        int             `json:"batch,omitempty"`
	LR           float64         `json:"lr,omitempty"`
	Decay        float64         `json:"decay,omitempty"`
	Average      float64         `json:"average,omitempty"`
	Weights      Weighting       `json:"weights"`
	Floor        float64         `json:"floor,omitempty"`
	Shrink       bool            `json:"shrink,omitempty"`
	Labels       LabelDraw       `json:"labels"`
	Seed         uint64          `json:"seed,string"`
}

// MarshalJSON writes the configuration, defaults left out.
func (g GeneratorConfig) MarshalJSON() ([]byte, error) {
	j := generatorJSON{nil, g.Latent, g.Steps, g.Batch, g.LR, g.Decay, g.Average, g.Weights, g.Floor,
		g.Shrink, g.Labels, g.Seed}
	if g.Architecture != nil {
		var err error
		if j.Architecture, err = models.MarshalGenerator(g.Architecture); err != nil {
			return nil, err
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote; an architecture that is not package models' own is an
// error.
func (g *GeneratorConfig) UnmarshalJSON(data []byte) error {
	var j generatorJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("merf: generator: %w", err)
	}
	*g = GeneratorConfig{nil, j.Latent, j.Steps, j.Batch, j.LR, j.Decay, j.Average,
		j.Weights, j.Floor, j.Shrink, j.Labels, j.Seed}
	if len(j.Architecture) == 0 || string(j.Architecture) == "null" {
		return nil
	}
	a, err := models.UnmarshalGenerator(j.Architecture)
	if err != nil {
		return err
	}
	g.Architecture = a
	return nil
}
