package mix

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// fileHeader is everything a release consists of but its numbers. There are fewer rows than the
// configuration has mixtures where an interruption lost some.
type fileHeader struct {
	Schema records.Schema    `json:"schema"`
	Budget accountant.Budget `json:"budget"`
	Config json.RawMessage   `json:"config"`
	Rows   int               `json:"rows"`
}

const (
	featureSection = "features"
	labelSection   = "labels"
	partSection    = "parts"
	centerSection  = "mean records"
)

// Encode writes what was released, and nothing else.
func (m *Model) Encode() (*synth.File, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	config, err := m.work.Config()
	if err != nil {
		return nil, err
	}
	c := m.work.config
	head, err := json.Marshal(fileHeader{c.Schema, c.Budget, config, m.rows.Len()})
	if err != nil {
		return nil, err
	}
	var centers []float32
	for _, c := range m.centers {
		centers = append(centers, c...)
	}
	parts := make([]byte, 0, 4*len(m.parts))
	for _, part := range m.parts {
		parts = binary.LittleEndian.AppendUint32(parts, uint32(part))
	}
	return &synth.File{Header: head, Sections: []synth.Section{
		{Name: featureSection, Data: synth.Floats32(m.rows.features)},
		{Name: labelSection, Data: synth.Floats32(m.rows.labels)},
		{Name: partSection, Data: parts},
		{Name: centerSection, Data: synth.Floats32(centers)},
	}}, nil
}

// readModel reads a release back. Sizes that the header claims are compared with the bytes there
// are before anything is allocated for them.
func readModel(f *synth.File, _ synth.Loading) (synth.Model, error) {
	var h fileHeader
	if err := json.Unmarshal(f.Header, &h); err != nil {
		return nil, malformed(err)
	}
	c, _, err := readConfig(synth.SavedPlan{Schema: h.Schema, Budget: h.Budget, Config: h.Config})
	if err == nil {
		err = c.decided()
	}
	if err != nil {
		return nil, malformed(err)
	}
	m := &Model{work: newWork(c)}
	m.rows = m.work.newRows(0, 0)
	if err := m.restore(f); err != nil {
		return nil, err
	}
	if m.rows.Len() == 0 {
		return nil, malformed(fmt.Errorf("a release without mixtures"))
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

// decided checks a configuration in which nothing is left open.
func (c Config) decided() error {
	if err := c.Validate(); err != nil {
		return err
	}
	w := newWork(c)
	if w.degree() < 1 || !positive(w.std) || c.Centers.wanted() && c.Centers.NoiseMultiplier == 0 {
		return fmt.Errorf("a release without its degree or its noise")
	}
	return nil
}

// restore adds the rows of a file.
func (m *Model) restore(f *synth.File) error {
	if f == nil {
		return nil
	}
	var h struct {
		Rows int `json:"rows"`
	}
	if err := json.Unmarshal(f.Header, &h); err != nil {
		return malformed(err)
	}
	if h.Rows < 0 || h.Rows > m.work.config.Mixtures {
		return malformed(fmt.Errorf("%d rows of a plan for %d", h.Rows, m.work.config.Mixtures))
	}
	rows := &Rows{dim: m.rows.dim, classes: m.rows.classes}
	var err error
	if rows.features, err = numbers(f, featureSection, h.Rows, rows.dim); err != nil {
		return err
	}
	if rows.labels, err = numbers(f, labelSection, h.Rows, rows.classes); err != nil {
		return err
	}
	parts, err := m.readParts(f, h.Rows)
	if err != nil {
		return err
	}
	m.add(rows, parts)
	return nil
}

// readParts reads of which part every row is, where parts are mixed apart.
func (m *Model) readParts(f *synth.File, rows int) (parts []int32, err error) {
	if !m.work.config.ByClass {
		return nil, nil
	}
	data, err := f.Section(partSection)
	if err != nil {
		return nil, err
	}
	if len(data)%4 != 0 || len(data)/4 != rows {
		return nil, malformed(fmt.Errorf("%d bytes for the parts of %d rows", len(data), rows))
	}
	for ; len(data) > 0; data = data[4:] {
		part := binary.LittleEndian.Uint32(data)
		if part >= uint32(m.work.config.parts()) {
			return nil, malformed(fmt.Errorf("a row of part %d of %d", part, m.work.config.parts()))
		}
		parts = append(parts, int32(part))
	}
	return parts, nil
}

// numbers reads a section of rows×cols numbers.
func numbers(f *synth.File, name string, rows, cols int) ([]float32, error) {
	data, err := f.Section(name)
	if err != nil {
		return nil, err
	}
	if cols > 0 && rows > math.MaxInt/4/cols {
		return nil, malformed(fmt.Errorf("%d×%d numbers", rows, cols))
	}
	return synth.ReadFloats32(data, rows*cols)
}

func malformed(err error) error { return fmt.Errorf("%w: %w", synth.ErrFormat, err) }
