package mix

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// fileHeader describes a release without the numbers in its rows. Rows is less than the
// configuration's number of mixtures if an interruption lost some mixtures.
type fileHeader struct {
	Schema records.Schema    `json:"schema"`
	Budget accountant.Budget `json:"budget"`
	Config json.RawMessage   `json:"config"`
	Rows   int               `json:"rows"`
}

// Encode returns a file that contains the release and nothing else.
//
// Errors: *param.Error for the zero value.
func (m *Model) Encode() (*synth.File, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	config, err := m.work.Config()
	if err != nil {
		return nil, err
	}
	c, n := m.work.config, m.rows.Len()
	return synth.NewFile(fileHeader{c.Schema, c.Budget, config, n},
		append(m.rowParts(n), m.centerPart())...)
}

// readModel reads a release from a file. It checks the sizes in the header against the number of
// bytes in the file before it allocates memory.
func readModel(f *synth.File, _ synth.Loading) (synth.Model, error) {
	var h fileHeader
	if err := f.Decode(&h); err != nil {
		return nil, err
	}
	c, err := readConfig(synth.SavedPlan{Schema: h.Schema, Budget: h.Budget, Config: h.Config})
	if err == nil {
		err = c.decided()
	}
	if err != nil {
		return nil, synth.Malformed(err)
	}
	m := &Model{work: newWork(c.Config)}
	m.rows = m.work.newRows(0, 0)
	if err := m.restore(f); err != nil {
		return nil, err
	}
	if m.rows.Len() == 0 {
		return nil, synth.Malformed(fmt.Errorf("the release has no mixtures; want at least one"))
	}
	if c.Centers.wanted() {
		if err := f.Load(m.centerPart()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// decided checks that a configuration is complete.
func (c Config) decided() error {
	if err := c.validate(); err != nil {
		return err
	}
	w := newWork(c)
	if w.degree() < 1 || !positive(w.std) || c.Centers.wanted() && c.Centers.NoiseMultiplier == 0 {
		return fmt.Errorf("the release has no degree or no noise; want both")
	}
	return nil
}

// restore reads the rows of a file; f may be nil.
func (m *Model) restore(f *synth.File) error {
	if f == nil {
		return nil
	}
	var h fileHeader
	if err := f.Decode(&h); err != nil {
		return err
	}
	if h.Rows < 0 || h.Rows > m.work.config.Mixtures {
		return synth.Malformed(fmt.Errorf("%d rows; the plan has %d mixtures", h.Rows,
			m.work.config.Mixtures))
	}
	return f.Load(m.rowParts(h.Rows)...)
}

// rowParts returns the file's parts for n rows: features, labels and, with ByClass, the class of
// each row.
func (m *Model) rowParts(n int) []synth.Part {
	return []synth.Part{
		synth.FloatsPart("features", &m.rows.features, n*m.rows.dim),
		synth.FloatsPart("labels", &m.rows.labels, n*m.rows.classes),
		{Name: "parts",
			Save: func() (b []byte, err error) {
				for _, part := range m.parts {
					b = binary.LittleEndian.AppendUint32(b, uint32(part))
				}
				return b, nil
			},
			Load: func(b []byte) error { return m.readParts(b, n) }},
	}
}

func (m *Model) readParts(b []byte, rows int) error {
	if !m.work.config.ByClass {
		return nil
	}
	if len(b)%4 != 0 || len(b)/4 != rows {
		return fmt.Errorf("%d bytes for the classes of %d rows; want 4 bytes for each row", len(b), rows)
	}
	for word := range slices.Chunk(b, 4) {
		part := binary.LittleEndian.Uint32(word)
		if part >= uint32(m.work.config.parts()) {
			return fmt.Errorf("a row of class %d; there are %d classes", part, m.work.config.parts())
		}
		m.parts = append(m.parts, int32(part))
	}
	return nil
}

// centerPart returns the file's part that holds the centres, one after another.
func (m *Model) centerPart() synth.Part {
	c := m.work.config
	return synth.Part{Name: "mean records",
		Save: func() ([]byte, error) { return synth.Floats(slices.Concat(m.centers...)), nil },
		Load: func(b []byte) error {
			flat, err := synth.ReadFloats[float32](b, c.parts()*c.dim())
			m.centers = slices.AppendSeq(m.centers, slices.Chunk(flat, c.dim()))
			return err
		}}
}
