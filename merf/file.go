package merf

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// fileHeader describes a generator without the parameters of its networks.
type fileHeader struct {
	Schema    records.Schema  `json:"schema"`
	Generator json.RawMessage `json:"generator"`
	Networks  int             `json:"networks,omitempty"` // 1 if absent
	Latent    int             `json:"latent"`
	Shares    []float64       `json:"shares"`
}

// Encode returns a file of the model, which contains released state only.
//
// Errors: *param.Error for the zero value; an error for an architecture that cannot be written.
func (m *Model) Encode() (*synth.File, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	arch, err := models.MarshalArchitecture(m.generator.Architecture)
	if err != nil {
		return nil, err
	}
	h := fileHeader{Schema: m.schema, Generator: arch, Latent: m.generator.Latent,
		Shares: m.shares}
	if len(m.nets) > 1 {
		h.Networks = len(m.nets)
	}
	var parts []synth.Part
	for i, net := range m.nets {
		parts = append(parts, network.PartsOf(i, m.backend, net)...)
	}
	return synth.NewFile(h, parts...)
}

// readModel rebuilds a model from a file. It checks the sizes in the header against the number of
// bytes in the file before it allocates memory.
func readModel(f *synth.File, l synth.Loading) (synth.Model, error) {
	var h fileHeader
	if err := f.Decode(&h); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, synth.Malformed(err)
	}
	arch, err := models.UnmarshalGenerator(h.Generator, network.Decodings(l)...)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	g := GeneratorConfig{Architecture: arch, Latent: h.Latent}
	m := &Model{schema: h.Schema, generator: g, backend: l.Backend, shares: h.Shares}
	codes := codesOf(l.Backend, h.Latent, h.Schema)
	n := max(h.Networks, 1)
	for i := range n {
		net, err := network.ReadNet(i, n, f, l, arch, codes.Width(), h.Schema)
		if err != nil {
			return nil, err
		}
		m.nets = append(m.nets, net)
	}
	return m, nil
}

func (h fileHeader) check() error {
	var k param.Checker
	const path = "merf.Model."
	k.Add(h.Schema.Validate())
	k.OK(h.Networks >= 0 && h.Networks <= maxGenerators, path+"networks", h.Networks,
		fmt.Sprintf("a number of networks up to %d", maxGenerators))
	k.OK(h.Latent >= 1 && h.Latent <= maxLatent, path+"latent", h.Latent,
		"a positive number of coordinates, at most 2^20")
	k.OK(len(h.Shares) == classesOf(h.Schema), path+"shares", len(h.Shares),
		"one proportion for each class")
	total := 0.0
	for _, p := range h.Shares {
		k.OK(p >= 0 && p <= 1, path+"shares", p, "proportions in [0, 1]")
		total += p
	}
	k.OK(math.Abs(total-1) < 1e-6, path+"shares", total, "proportions that add up to 1")
	return k.Err()
}
