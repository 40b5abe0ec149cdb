package compose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// released is what a composition releases beside the models of its parts, and how records are drawn
// from both.
type released interface {
	// sampler starts a draw from the models, as Sampler of [synth.Model] does.
	sampler(m *model, d synth.Draw) (synth.Sampler, error)
	// header returns the composition's part of the header of a file, which embeds the models.
	header() (any, error)
	// sections returns the numbers in a file. They precede those of the models.
	sections() []synth.Part
}

// A describer is a released value whose records have another schema than those of the parts.
type describer interface{ schema() records.Schema }

// A viewer is a released value that changes what the parts read.
type viewer interface {
	viewed(b device.Batch) device.Batch
}

// model is the released result of a composition.
type model struct {
	released
	kind    kind
	systems []string // of the models
	of      []synth.Model
}

// Schema returns the schema of the synthetic records.
func (m *model) Schema() records.Schema {
	if d, ok := m.released.(describer); ok {
		return d.schema()
	}
	return m.of[0].Schema()
}

// Sampler starts a draw of records. The caller enforces the constraints of the draw.
//
// Errors: all errors of the parts' Sampler.
func (m *model) Sampler(d synth.Draw) (synth.Sampler, error) { return m.sampler(m, d) }

// clusters returns the clusters of the only part; nil if it has none, or if there are more parts.
func (m *model) clusters() synth.Mixture {
	if len(m.of) == 1 {
		if of, ok := m.of[0].(synth.Mixture); ok {
			return of
		}
	}
	return nil
}

// Clusters returns the number of clusters of a composition of one part.
func (m *model) Clusters() int {
	if of := m.clusters(); of != nil {
		return of.Clusters()
	}
	return 1
}

// Weights returns the probabilities of the clusters.
func (m *model) Weights() []float64 {
	if of := m.clusters(); of != nil {
		return of.Weights()
	}
	return []float64{1}
}

// Assign writes the cluster of each record of a batch to dst.
func (m *model) Assign(b device.Batch, dst []int32) {
	of := m.clusters()
	if of == nil || of.Clusters() == 1 {
		clear(dst)
		return
	}
	if v, ok := m.released.(viewer); ok {
		b = v.viewed(b)
	}
	of.Assign(b, dst)
}

// Part returns the generator of part i of a composition, counted from 0: its records without what
// the composition does with them. It has the guarantee of g.
//
// Errors: *param.Error for a generator that is no composition, and for a part that it does not
// have.
func Part(g *synth.Generator, i int) (*synth.Generator, error) {
	m, ok := g.Model().(*model)
	if !ok {
		return nil, param.New("compose.Part.g", g.System(), "a generator of package compose")
	}
	if i < 0 || i >= len(m.of) {
		return nil, param.New("compose.Part.i", i, fmt.Sprintf("0 to %d", len(m.of)-1))
	}
	return synth.NewGenerator(m.systems[i], m.of[i], g.Guarantee()), nil
}

// releasedBy returns what a generator has released beside the models of its parts.
//
// Errors: *param.Error for a generator of another kind.
func releasedBy[R released](g *synth.Generator, path string, k kind) (*model, R, error) {
	if m, ok := g.Model().(*model); ok {
		if r, ok := m.released.(R); ok {
			return m, r, nil
		}
	}
	var none R
	return nil, none, param.New(path, g.System(), "a generator of "+k.config)
}

// modelsJSON is the header of a generator of any composition: its parts' models and its own
// release.
type modelsJSON struct {
	Models   []modelJSON     `json:"models"`
	Released json.RawMessage `json:"released"`
}

type modelJSON struct {
	System   string          `json:"system"`
	Model    json.RawMessage `json:"model"` // the model's own header
	Sections int             `json:"sections"`
}

// Encode writes the models and what is released beside them.
//
// Errors: all errors of the models' Encode; settings of a user-defined type.
func (m *model) Encode() (*synth.File, error) {
	var j modelsJSON
	var sections []synth.Section
	for i, of := range m.of {
		f, err := of.Encode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.systems[i], err)
		}
		j.Models = append(j.Models, modelJSON{m.systems[i], f.Header, len(f.Sections)})
		sections = append(sections, f.Sections...)
	}
	header, err := m.header()
	if err != nil {
		return nil, err
	}
	if j.Released, err = json.Marshal(header); err != nil {
		return nil, err
	}
	out, err := synth.NewFile(j, m.sections()...)
	if err != nil {
		return nil, err
	}
	out.Kind = m.kind.name
	out.Sections = append(out.Sections, sections...)
	return out, nil
}

// readModel reads a model that Encode wrote.
func (k kind) readModel(f *synth.File, l synth.Loading, of synth.Systems) (*model, error) {
	var j modelsJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	if err := k.checkParts(len(j.Models)); err != nil {
		return nil, err
	}
	n := 0
	for _, inner := range j.Models {
		if inner.Sections < 0 || inner.Sections > len(f.Sections)-n {
			return nil, synth.Malformed(errors.New("a part with missing sections"))
		}
		n += inner.Sections
	}
	own, left := cut(f.Sections, len(f.Sections)-n)
	var words map[string]json.RawMessage
	if err := param.Decode(j.Released, &words); err != nil {
		return nil, synth.Malformed(err)
	}
	tries, _ := strconv.Atoi(string(words["tries"])) // of labels
	m, part := &model{kind: k}, l
	part.Limits, _ = l.Limits.Share(len(j.Models) * max(tries/usualTries, 1))
	draws := len(j.Models) // labels keep a sampler for each class, and list an agreement for each
	draws += bytes.Count(words["agreement"], []byte(","))
	part.Limits.Values = max(network.Values(l.Limits)/int64(draws), 1)
	for _, inner := range j.Models {
		var sections []synth.Section
		sections, left = cut(left, inner.Sections)
		read, err := of.ReadModel(&synth.File{Kind: inner.System, Header: inner.Model,
			Sections: sections}, part)
		if err != nil {
			return nil, err
		}
		m.systems, m.of = append(m.systems, inner.System), append(m.of, read)
	}
	var err error
	m.released, err = k.release(&synth.File{Header: j.Released, Sections: own}, m.of, l)
	return m, err
}

// cut divides sections after the first n.
func cut(sections []synth.Section, n int) (first, rest []synth.Section) {
	return sections[:n:n], sections[n:]
}
