package quantiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Model is the released result: the other system's model, the released counts, and the mapping
// back.
type Model struct {
	synth.Wrapped
	schema  records.Schema
	cells   int
	system  string // of the other model
	parts   [][]float64
	columns []column
	back    []back
}

// Schema returns the schema of the synthetic records.
func (m *Model) Schema() records.Schema { return m.schema }

// Sampler starts a draw of records. The caller enforces the constraints of the draw on the records
// that it returns. Draw.Means has no effect on rows.
//
// Errors: all errors of the other model's Sampler.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	d.Given, d.Unconstrained, d.Means = nil, true, false
	of, err := m.Model.Sampler(d)
	if err != nil {
		return synth.Sampler{}, err
	}
	rng := rand.New(rand.NewPCG(d.Seed, 0x72616e6b73))
	var in, out records.Nonzeros
	next := func(n int) (records.Data, error) {
		rows, err := of.Next(n)
		if err != nil {
			return nil, err
		}
		in.Range(rows, 0, rows.Len())
		m.numbers(&in, &out, rng)
		return records.DecodeNonzeros(m.schema, &out)
	}
	return synth.Sampler{Schema: m.schema, Next: next, Unaccepted: of.Unaccepted}, nil
}

// Assign writes the cluster of each record of a batch to dst. The clusters are those of the other
// system, so numbers are first replaced by ranks.
func (m *Model) Assign(b device.Batch, dst []int32) {
	if m.Clusters() == 1 {
		clear(dst)
		return
	}
	own := device.HostMatrix(b.Rows, b.Dense.Cols, make([]float32, b.Rows*b.Dense.Cols))
	for i := range b.Rows {
		copy(own.Row(i), b.Dense.Row(i))
	}
	b.Dense = own
	ranked{columns: m.columns}.replace(&b)
	m.Wrapped.Assign(b, dst)
}

// numbers replaces the coordinates of ranks by coordinates of numbers.
func (m *Model) numbers(in, out *records.Nonzeros, rng *rand.Rand) {
	out.Reset()
	row := make([]float32, len(m.columns))
	known := make([]bool, len(m.columns))
	for i := range in.Rows {
		clear(known)
		m.each(in, i, func(j int, x float32) {
			row[j], known[j] = m.columns[j].scale.Number(m.back[j].rank(x, rng)), true
		})
		places, values := in.Row(i)
		at := 0
		for j, c := range m.columns {
			for ; at < len(places) && int(places[at]) < c.place; at++ {
				out.Append(int(places[at]), values[at])
			}
			if at < len(places) && int(places[at]) == c.place {
				at++
			}
			if known[j] {
				out.Append(c.place, row[j])
			}
		}
		for ; at < len(places); at++ {
			out.Append(int(places[at]), values[at])
		}
		out.End()
	}
	out.Labels = in.Labels
}

// Of returns a generator of the other system's records, whose numbers are ranks on the scale of a
// normal distribution. It has the guarantee of g.
//
// Errors: *param.Error for a generator of another system.
func Of(g *synth.Generator) (*synth.Generator, error) {
	m, ok := g.Model().(*Model)
	if !ok || m == nil {
		return nil, param.New("quantiles.Of.g", g.System(), "a generator of package quantiles")
	}
	return synth.NewGenerator(m.system, m.Model, g.Guarantee()), nil
}

type modelJSON struct {
	System string          `json:"system"`
	Model  json.RawMessage `json:"model"`
	Schema records.Schema  `json:"schema"`
	Cells  int             `json:"cells"`
}

const (
	sectionParts = "quantiles.parts"
	sectionBack  = "quantiles.back"
)

// Encode writes the other system's model, the counts and the mapping back.
//
// Errors: all errors of the other model's Encode.
func (m *Model) Encode() (*synth.File, error) {
	f, err := m.Model.Encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.system, err)
	}
	var parts []float64
	var ranks []float32
	for j := range m.columns {
		parts, ranks = append(parts, m.parts[j]...), append(ranks, m.back[j]...)
	}
	out, err := synth.NewFile(modelJSON{m.system, f.Header, m.schema, m.cells},
		synth.Part64(sectionParts, &parts, len(parts)), synth.Part32(sectionBack, &ranks, len(ranks)))
	if err == nil {
		out.Kind = systemName
		out.Sections = append(out.Sections, f.Sections...)
	}
	return out, err
}

func readModel(f *synth.File, l synth.Loading, of synth.Systems) (synth.Model, error) {
	var j modelJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	ranks, err := Ranks(j.Schema)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	if j.Cells < leastCells || j.Cells > mostCells {
		return nil, synth.Malformed(fmt.Errorf("%d cells; want %d to %d", j.Cells, leastCells, mostCells))
	}
	m := &Model{schema: j.Schema, cells: j.Cells, system: j.System}
	if err := m.read(f); err != nil {
		return nil, err
	}
	inner, err := of.ReadModel(&synth.File{Kind: j.System, Header: j.Model,
		Sections: f.Sections[2:]}, l)
	if err != nil {
		return nil, err
	}
	if !inner.Schema().Equal(ranks) {
		return nil, synth.Malformed(fmt.Errorf("a model of other records: %w", synth.ErrSchema))
	}
	m.Wrapped = synth.Wrapped{Model: inner}
	return m, nil
}

// read reads the counts and the mapping back.
func (m *Model) read(f *synth.File) error {
	if len(f.Sections) < 2 {
		return synth.Malformed(errors.New("a file without counts or the mapping back"))
	}
	attributes := attributesOf(m.schema, m.cells)
	codes := 0
	for _, a := range attributes {
		codes += a.Codes
	}
	var parts []float64
	var ranks []float32
	if err := f.Load(synth.Part64(sectionParts, &parts, codes)); err != nil {
		return err
	}
	own := &synth.File{Sections: f.Sections[1:]}
	n := len(attributes) * knots
	if err := own.Load(synth.Part32(sectionBack, &ranks, n)); err != nil {
		return err
	}
	for _, p := range parts {
		if !(p >= 0 && p <= 2) {
			return synth.Malformed(errors.New("a fraction outside [0, 2]"))
		}
	}
	for i, x := range ranks {
		if !(x >= 0 && x <= 1) || i%knots > 0 && x < ranks[i-1] {
			return synth.Malformed(errors.New("quantiles that do not ascend from 0 to 1"))
		}
	}
	for j, a := range attributes {
		m.parts = append(m.parts, parts[:a.Codes])
		m.back = append(m.back, back(ranks[j*knots:(j+1)*knots]))
		parts = parts[a.Codes:]
	}
	m.columns = columnsOf(attributes, m.parts)
	return nil
}
