package bundle

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/synth"
)

// A Model describes one of several models in the header of a file.
type Model struct {
	System   string          `json:"system"`
	Model    json.RawMessage `json:"model"` // the model's own header
	Sections int             `json:"sections"`
}

// Encode returns the descriptions and the sections of models of the given systems.
//
// Errors: all errors of the models' Encode.
func Encode(systems []string, models []synth.Model) (list []Model, sections []synth.Section,
	err error) {
	for i, of := range models {
		f, err := of.Encode()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", systems[i], err)
		}
		list = append(list, Model{systems[i], f.Header, len(f.Sections)})
		sections = append(sections, f.Sections...)
	}
	return list, sections, nil
}

// Decode returns the models that Encode described, and their systems.
//
// Errors: synth.ErrFormat; all errors of the systems that read the models.
func Decode(list []Model, sections []synth.Section, l synth.Loading, of synth.Systems) (
	systems []string, models []synth.Model, err error) {
	for _, inner := range list {
		own, rest, err := cut(sections, inner.Sections)
		if err != nil {
			return nil, nil, err
		}
		sections = rest
		m, err := of.ReadModel(&synth.File{Kind: inner.System, Header: inner.Model, Sections: own}, l)
		if err != nil {
			return nil, nil, err
		}
		systems, models = append(systems, inner.System), append(models, m)
	}
	return systems, models, nil
}
