package gan

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// Kind is the name of this system's generators in a file.
const Kind = "gan"

// fileHeader is everything a generator consists of but its numbers.
type fileHeader struct {
	Schema       records.Schema       `json:"schema"`
	Generator    json.RawMessage      `json:"generator"`
	Latent       int                  `json:"latent"`
	IgnoreLabels bool                 `json:"ignoreLabels,omitempty"`
	ClassWeights []float64            `json:"classWeights,omitempty"`
	Guarantee    accountant.Guarantee `json:"guarantee"`
}

// Encode writes released state, and nothing else.
func (m *Model) Encode() (*artefact.File, error) {
	arch, err := models.MarshalGenerator(m.config.Generator)
	if err != nil {
		return nil, err
	}
	c := m.config
	head, err := json.Marshal(fileHeader{c.Schema, arch, c.Latent, c.IgnoreLabels, c.ClassWeights, m.guarantee})
	if err != nil {
		return nil, fmt.Errorf("gan: %w", err)
	}
	return &artefact.File{Kind: Kind, Header: head, Sections: system.Sections(m.backend, m.net)}, nil
}

// Decode rebuilds a generator.
//
// Errors: artefact.ErrFormat for whatever Encode would not have written. Sizes that the header claims are compared
// with the bytes there are before anything is allocated for them.
func Decode(f *artefact.File, l release.Loading) (*Model, error) {
	var h fileHeader
	if err := json.Unmarshal(f.Header, &h); err != nil {
		return nil, malformed(err)
	}
	arch, err := models.UnmarshalGenerator(h.Generator, system.Decodings(l)...)
	if err != nil {
		return nil, malformed(err)
	}
	m := &Model{config: Config{Schema: h.Schema, Generator: arch, Latent: h.Latent, IgnoreLabels: h.IgnoreLabels, ClassWeights: h.ClassWeights},
		backend: l.Backend, guarantee: h.Guarantee}
	if m.backend == nil {
		m.backend = device.CPU()
	}
	if err := m.checkHeader(); err != nil {
		return nil, err
	}
	return m, m.decodeNet(f)
}

func (m *Model) checkHeader() error {
	c := m.config
	if err := c.Schema.Validate(); err != nil {
		return malformed(err)
	}
	if c.Latent < 1 || c.Latent > maxLatent {
		return malformed(fmt.Errorf("codes of %d coordinates", c.Latent))
	}
	var k param.Checker
	c.validateLabels(&k)
	if k.Err() != nil {
		return malformed(k.Err())
	}
	return nil
}

func (m *Model) decodeNet(f *artefact.File) (err error) {
	c := m.config
	m.net, err = system.ReadNet(f, m.backend, c.Generator, codeWidth(c.Latent, c.classes()), c.Schema)
	return err
}

func malformed(err error) error { return fmt.Errorf("%w: %w", artefact.ErrFormat, err) }
