package mix

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/release"
)

// Kind is the name of this system in a file.
const Kind = "mix"

// fileHeader is everything a release consists of but its numbers.
type fileHeader struct {
	Plan      json.RawMessage      `json:"plan"`
	Rows      int                  `json:"rows"`
	Guarantee accountant.Guarantee `json:"guarantee"`
}

const (
	featureSection = "features"
	labelSection   = "labels"
	centerSection  = "mean records"
)

// Encode writes what was released, and nothing else.
func (m *Model) Encode() (*artefact.File, error) {
	plan, err := m.plan.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("mix: %w", err)
	}
	head, err := json.Marshal(fileHeader{Plan: plan, Rows: m.rows.Len(), Guarantee: m.guarantee})
	if err != nil {
		return nil, fmt.Errorf("mix: %w", err)
	}
	var centers []float32
	for _, c := range m.centers {
		centers = append(centers, c...)
	}
	return &artefact.File{Kind: Kind, Header: head, Sections: []artefact.Section{
		{Name: featureSection, Data: artefact.Floats32(m.rows.features)},
		{Name: labelSection, Data: artefact.Floats32(m.rows.labels)},
		{Name: centerSection, Data: artefact.Floats32(centers)},
	}}, nil
}

// Decode reads a release back.
//
// Errors: artefact.ErrFormat for whatever Encode would not have written. Sizes that the header claims are compared
// with the bytes there are before anything is allocated for them.
func Decode(f *artefact.File, _ release.Loading) (*Model, error) {
	var h fileHeader
	if err := json.Unmarshal(f.Header, &h); err != nil {
		return nil, malformed(err)
	}
	m := &Model{plan: new(Plan), guarantee: h.Guarantee}
	if err := json.Unmarshal(h.Plan, m.plan); err != nil {
		return nil, malformed(err)
	}
	c := m.plan.Config
	if h.Rows != c.Mixtures {
		return nil, malformed(fmt.Errorf("%d rows of a plan for %d", h.Rows, c.Mixtures))
	}
	m.rows = &Rows{dim: c.dim(), classes: c.Schema.Classes()}
	var err error
	if m.rows.features, err = numbers(f, featureSection, h.Rows, m.rows.dim); err != nil {
		return nil, err
	}
	if m.rows.labels, err = numbers(f, labelSection, h.Rows, m.rows.classes); err != nil {
		return nil, err
	}
	if !c.Centers.wanted() {
		return m, nil
	}
	centers, err := numbers(f, centerSection, c.parts(), c.dim())
	if err != nil {
		return nil, err
	}
	for part := range c.parts() {
		m.centers = append(m.centers, centers[part*c.dim():(part+1)*c.dim()])
	}
	return m, nil
}

// numbers reads a section of rows×cols numbers.
func numbers(f *artefact.File, name string, rows, cols int) ([]float32, error) {
	data, err := f.Section(name)
	if err != nil {
		return nil, err
	}
	if cols > 0 && rows > math.MaxInt/4/cols {
		return nil, malformed(fmt.Errorf("%d×%d numbers", rows, cols))
	}
	return artefact.ReadFloats32(data, rows*cols)
}

func malformed(err error) error { return fmt.Errorf("%w: %w", artefact.ErrFormat, err) }
