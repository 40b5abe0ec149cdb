package merf

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// Kind is the name of this system's generators in a file.
const Kind = "merf"

// fileHeader is everything a generator consists of but its numbers.
type fileHeader struct {
	Schema    records.Schema       `json:"schema"`
	Generator json.RawMessage      `json:"generator"`
	Latent    int                  `json:"latent"`
	Labels    LabelDraw            `json:"labels"`
	Shares    []float64            `json:"shares"`
	Guarantee accountant.Guarantee `json:"guarantee"`
}

// Encode writes released state, and nothing else.
func (m *Model) Encode() (*artefact.File, error) {
	arch, err := models.MarshalGenerator(m.generator.Architecture)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(fileHeader{Schema: m.schema, Generator: arch, Latent: m.generator.Latent,
		Labels: m.generator.Labels, Shares: m.shares, Guarantee: m.guarantee})
	if err != nil {
		return nil, fmt.Errorf("merf: %w", err)
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
	if err := h.check(); err != nil {
		return nil, err
	}
	arch, err := models.UnmarshalGenerator(h.Generator, system.Decodings(l)...)
	if err != nil {
		return nil, malformed(err)
	}
	m := &Model{schema: h.Schema, generator: GeneratorConfig{Architecture: arch, Latent: h.Latent, Labels: h.Labels},
		backend: l.Backend, shares: h.Shares, guarantee: h.Guarantee}
	if m.backend == nil {
		m.backend = device.CPU()
	}
	return m, m.decodeNet(f)
}

func (h fileHeader) check() error {
	if err := h.Schema.Validate(); err != nil {
		return malformed(err)
	}
	if h.Latent < 1 || h.Latent > maxLatent {
		return malformed(fmt.Errorf("codes of %d coordinates", h.Latent))
	}
	if len(h.Shares) != classesOf(h.Schema) {
		return malformed(fmt.Errorf("proportions of %d classes, not %d", len(h.Shares), classesOf(h.Schema)))
	}
	total := 0.0
	for _, p := range h.Shares {
		if !(p >= 0 && p <= 1) {
			return malformed(fmt.Errorf("a proportion outside [0, 1]"))
		}
		total += p
	}
	if !(math.Abs(total-1) < 1e-6) {
		return malformed(fmt.Errorf("proportions that do not add up to 1"))
	}
	return nil
}

func (m *Model) decodeNet(f *artefact.File) (err error) {
	g := m.generator
	m.net, err = system.ReadNet(f, m.backend, g.Architecture, codeWidth(g.Latent, m.schema), m.schema)
	return err
}
