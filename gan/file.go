package gan

import (
	"encoding/json"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// modelHeader describes a model without the parameters of its network.
type modelHeader struct {
	Schema       records.Schema  `json:"schema"`
	Generator    json.RawMessage `json:"generator"`
	Latent       int             `json:"latent"`
	IgnoreLabels bool            `json:"ignore_labels,omitempty"`
}

// Encode returns a file that contains released state and nothing else.
//
// Errors: *param.Error for the zero value; an error for an architecture that cannot be written.
func (m *Model) Encode() (*synth.File, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	c := m.config
	arch, err := models.MarshalArchitecture(c.Generator)
	if err != nil {
		return nil, err
	}
	h := modelHeader{c.Schema, arch, c.Latent, c.IgnoreLabels}
	return synth.NewFile(h, network.Parts(m.backend, m.net)...)
}

// readModel rebuilds a model. It checks the sizes in the header against the number of bytes in the
// file before it allocates memory.
//
// Errors: synth.ErrFormat for a file that Encode cannot have written.
func readModel(f *synth.File, l synth.Loading) (synth.Model, error) {
	var h modelHeader
	if err := f.Decode(&h); err != nil {
		return nil, err
	}
	arch, err := models.UnmarshalGenerator(h.Generator, network.Decodings(l)...)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	c := Config{Schema: h.Schema, Generator: arch, Latent: h.Latent, IgnoreLabels: h.IgnoreLabels}
	if err := c.checkReleased(); err != nil {
		return nil, synth.Malformed(err)
	}
	m := &Model{config: c, backend: l.Backend}
	m.net, err = network.ReadNet(0, 1, f, l, arch, codeWidth(c.Latent, c.classes()), c.Schema)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// checkReleased checks the part of a configuration that a model's file contains.
func (c Config) checkReleased() error {
	if err := c.Schema.Validate(); err != nil {
		return err
	}
	var k param.Checker
	c.validateLatent(&k)
	return k.Err()
}
