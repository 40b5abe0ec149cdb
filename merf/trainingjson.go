package merf

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
)

// generatorJSON is a GeneratorConfig whose architecture is written with its name.
type generatorJSON struct {
	Architecture json.RawMessage `json:"architecture,omitempty"`
	plainGenerator
}

// plainGenerator is a GeneratorConfig without its JSON methods.
type plainGenerator GeneratorConfig

// MarshalJSON writes the configuration. It does not replace zero fields by their defaults.
func (g GeneratorConfig) MarshalJSON() ([]byte, error) {
	j := generatorJSON{plainGenerator: plainGenerator(g)}
	if g.Architecture != nil {
		var err error
		if j.Architecture, err = models.MarshalArchitecture(g.Architecture); err != nil {
			return nil, err
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a configuration that MarshalJSON wrote. A user-defined architecture is an
// error.
func (g *GeneratorConfig) UnmarshalJSON(data []byte) error {
	var j generatorJSON
	err := param.Decode(data, &j)
	if err != nil {
		return fmt.Errorf("merf: generator: %w", err)
	}
	if len(j.Architecture) > 0 && string(j.Architecture) != "null" {
		j.plainGenerator.Architecture, err = models.UnmarshalGenerator(j.Architecture)
	}
	*g = GeneratorConfig(j.plainGenerator)
	return err
}
