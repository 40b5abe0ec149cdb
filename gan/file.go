package gan

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

const (
	sectionParams = "parameters"
	sectionState  = "state"
)

// Encode writes released state, and nothing else.
func (m *Model) Encode() (*artefact.File, error) {
	arch, err := models.MarshalDecoding(m.config.Generator)
	if err != nil {
		return nil, err
	}
	c := m.config
	head, err := json.Marshal(fileHeader{c.Schema, arch, c.Latent, c.IgnoreLabels, c.ClassWeights, m.guarantee})
	if err != nil {
		return nil, fmt.Errorf("gan: %w", err)
	}
	return &artefact.File{Kind: Kind, Header: head, Sections: []artefact.Section{
		{Name: sectionParams, Data: floats(m.backend, m.net.Params())}, {Name: sectionState, Data: m.net.AppendState(nil)}}}, nil
}

func floats(be device.Backend, p device.Params) []byte {
	flat := make([]float32, p.Len())
	be.Download(flat, p.Flat)
	return artefact.Floats32(flat)
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
	var others []models.DecodingArchitecture
	for _, a := range l.Architectures {
		if d, ok := a.(models.DecodingArchitecture); ok {
			others = append(others, d)
		}
	}
	arch, err := models.UnmarshalDecoding(h.Generator, append(others, l.Decodings...)...)
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
	var k system.Checker
	c.validateLabels(&k)
	if k.Err() != nil {
		return malformed(k.Err())
	}
	return nil
}

func (m *Model) decodeNet(f *artefact.File) error {
	data, err := f.Section(sectionParams)
	if err != nil {
		return err
	}
	state, err := f.Section(sectionState)
	if err != nil {
		return err
	}
	c := m.config
	if s, ok := c.Generator.(models.DecodingSizer); ok {
		params, bytes := s.DecodingSize(codeWidth(c.Latent, c.classes()), heads(c.Schema))
		if params > math.MaxInt32 || params*4 != int64(len(data)) || bytes != int64(len(state)) {
			return malformed(fmt.Errorf("%d and %d bytes for %d parameters and %d bytes of state", len(data), len(state), params, bytes))
		}
	}
	if m.net, err = c.newGenerator(m.backend); err != nil {
		return malformed(err)
	}
	if m.net.Dim() != c.Schema.Dim() {
		return malformed(fmt.Errorf("records of %d coordinates for a schema of %d", m.net.Dim(), c.Schema.Dim()))
	}
	flat, err := artefact.ReadFloats32(data, m.net.Params().Len())
	if err != nil {
		return err
	}
	m.backend.Upload(m.net.Params().Flat, flat)
	if err := m.net.SetState(state); err != nil {
		return malformed(err)
	}
	return nil
}

func malformed(err error) error { return fmt.Errorf("%w: %w", artefact.ErrFormat, err) }
