package merf

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// fileHeader is everything a generator consists of but its numbers.
type fileHeader struct {
	Schema    records.Schema  `json:"schema"`
	Generator json.RawMessage `json:"generator"`
	Latent    int             `json:"latent"`
	Labels    LabelDraw       `json:"labels"`
	Shares    []float64       `json:"shares"`
}

// Encode writes released state, and nothing else.
//
// Errors: *param.Error for the zero value; an architecture that cannot be written.
func (m *Model) Encode() (*synth.File, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	arch, err := models.MarshalGenerator(m.generator.Architecture)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(fileHeader{Schema: m.schema, Generator: arch, Latent: m.generator.Latent,
		Labels: m.generator.Labels, Shares: m.shares})
	if err != nil {
		return nil, err
	}
	return &synth.File{Header: head, Sections: network.Sections(m.backend, m.net)}, nil
}

// readModel rebuilds a generator. Sizes that the header claims are compared with the bytes there
// are before anything is allocated for them.
func readModel(f *synth.File, l synth.Loading) (synth.Model, error) {
	var h fileHeader
	if err := json.Unmarshal(f.Header, &h); err != nil {
		return nil, malformed(err)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	arch, err := models.UnmarshalGenerator(h.Generator, network.Decodings(l)...)
	if err != nil {
		return nil, malformed(err)
	}
	g := GeneratorConfig{Architecture: arch, Latent: h.Latent, Labels: h.Labels}
	m := &Model{schema: h.Schema, generator: g, backend: l.Backend, shares: h.Shares}
	m.net, err = network.ReadNet(f, m.backend, arch, codeWidth(h.Latent, h.Schema), h.Schema)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (h fileHeader) check() error {
	if err := h.Schema.Validate(); err != nil {
		return malformed(err)
	}
	if h.Latent < 1 || h.Latent > maxLatent {
		return malformed(fmt.Errorf("codes of %d coordinates", h.Latent))
	}
	if len(h.Shares) != classesOf(h.Schema) {
		return malformed(fmt.Errorf("proportions of %d classes, not %d", len(h.Shares),
			classesOf(h.Schema)))
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
