package mix

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Model is a release: its rows and the public parameters of its plan. A generator of this package
// returns it as gen.Model().(*mix.Model). It is safe for concurrent use.
type Model struct {
	work    *work
	rows    *Rows
	parts   []int32     // part of every row, with ByClass; otherwise nil
	centers [][]float32 // released mean records; nil if there are none
}

// made returns an error for the zero value.
func (m *Model) made() error {
	if m == nil || m.work == nil {
		return mistake("Model", nil, "a model returned by a plan's Fit or loaded from a file")
	}
	return nil
}

// Rows returns the released mixtures. These are all mixtures of the plan, except mixtures that
// interruptions lost. The rows belong to the model: clone them before changing them.
func (m *Model) Rows() *Rows {
	if m.made() != nil {
		return new(Rows)
	}
	return m.rows
}

// add appends rows with their parts.
func (m *Model) add(rows *Rows, parts []int32) {
	m.rows.features = append(m.rows.features, rows.features...)
	m.rows.labels = append(m.rows.labels, rows.labels...)
	if m.work.config.ByClass {
		m.parts = append(m.parts, parts...)
	}
}

// of returns the indices of the rows of a part.
func (m *Model) of(part int) (list []int) {
	for i := range m.rows.Len() {
		if m.parts == nil || int(m.parts[i]) == part {
			list = append(list, i)
		}
	}
	return list
}

// Schema returns the schema of drawn records, which describes released rows as vectors or images.
// It is also for use with [Project]. The coordinates of mixed binary records can
// be any number in [0, 1]. Projected records are vectors of any sign, bounded by the clip norm.
func (m *Model) Schema() records.Schema {
	if m.made() != nil {
		return records.Schema{}
	}
	c := m.work.config
	s := c.Schema
	switch {
	case c.Projection.wanted():
		s = records.Interval(c.dim(), -c.ClipNorm, c.ClipNorm).WithLabels(s.ClassNames()...)
	case s.IsImage():
		s = network.MeansOf(s)
	case s.IsBinary():
		s = records.Interval(s.Dim(), 0, 1).WithLabels(s.ClassNames()...)
	}
	return s
}

// Sampler starts a draw. It returns the released mixtures in random order, clamped to the domain
// and labelled by their largest label coordinate. Mixtures repeat if more are requested than were
// released.
//
// Guarantee: post-processing. Errors: *param.Error for the zero value, and for a class without
// released rows.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	if err := m.made(); err != nil {
		return synth.Sampler{}, err
	}
	rows := m.eligible(d)
	if len(rows) == 0 {
		return synth.Sampler{}, param.New("synth.OfClass", d.Class,
			"a class with released rows")
	}
	rng, at, schema := rand.New(rand.NewPCG(d.Seed, 0x6d6978)), 0, m.Schema()
	return synth.Sampler{Schema: schema, Next: func(n int) (records.Data, error) {
		part := make([]int32, n)
		for k := range part {
			if at%len(rows) == 0 {
				rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			}
			part[k] = rows[at%len(rows)]
			at++
		}
		return m.rows.take(part).table(schema)
	}}, nil
}

// eligible returns the indices of the rows that a draw may return.
func (m *Model) eligible(d synth.Draw) (rows []int32) {
	for i := range m.rows.Len() {
		if d.Class < 0 || m.rows.class(i) == d.Class {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// take returns a copy of the given rows.
func (r *Rows) take(rows []int32) *Rows {
	out := &Rows{dim: r.dim, classes: r.classes}
	for _, i := range rows {
		out.features = append(out.features, r.Features(int(i))...)
		out.labels = append(out.labels, r.Labels(int(i))...)
	}
	return out
}
