package mix

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Model is what a run releases: the rows, and the plan that made them, whose numbers are public. It is safe for
// concurrent use.
type Model struct {
	plan      *Plan
	rows      *Rows
	centers   [][]float32 // released mean records; nil without
	guarantee accountant.Guarantee
}

// Guarantee says what was promised, to whom, and what it does not cover.
func (m *Model) Guarantee() accountant.Guarantee { return m.guarantee }

// Plan is what was carried out.
func (m *Model) Plan() *Plan { return m.plan }

// Rows are the released mixtures. They are the model's own: clone them before changing any.
func (m *Model) Rows() *Rows { return m.rows }

// Centers are the released mean records, one for each part; nil where none were asked for. They are the model's own.
func (m *Model) Centers() [][]float32 { return m.centers }

// Schema is the schema of released rows as records. Projected records are vectors of any sign, bounded by the clip
// norm.
func (m *Model) Schema() records.Schema {
	c := m.plan.Config
	s := c.Schema
	switch {
	case c.Projection.wanted():
		s = records.Interval(c.dim(), -c.ClipNorm, c.ClipNorm).WithLabels(s.ClassNames()...)
	case s.IsImage():
		s = records.Image(s.Height(), s.Width()).WithLabels(s.ClassNames()...)
	case s.IsBinary() || s.Sparse():
		s = records.Interval(s.Dim(), 0, 1).WithLabels(s.ClassNames()...)
	}
	return s
}

// Draw says which rows are wanted.
type Draw = release.Draw

// All draws from all rows, in an order from a fresh seed.
func All() Draw { return release.All() }

// DrawSchema is Schema for every draw.
func (m *Model) DrawSchema(Draw) records.Schema { return m.Schema() }

// Chunks hands out n released rows as records, projected to the domain and labelled by their largest label
// coordinate, in random order. More rows than were released come around again: there is nothing further to draw
// without spending.
//
// Errors: ctx.Err(); a class without rows; clusters, of which there are none.
func (m *Model) Chunks(ctx context.Context, n int, d Draw) iter.Seq2[records.Data, error] {
	return system.Chunks(ctx, n, func() (func(int) (records.Data, error), error) {
		rows, err := m.eligible(n, d)
		if err != nil {
			return nil, err
		}
		rng, at := rand.New(rand.NewPCG(d.Seed, 0x6d6978)), 0
		return func(n int) (records.Data, error) {
			part := make([]int32, n)
			for k := range part {
				if at%len(rows) == 0 {
					rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
				}
				part[k] = rows[at%len(rows)]
				at++
			}
			return m.rows.take(part).Table(m.Schema())
		}, nil
	})
}

// eligible lists the rows a draw may hand out.
func (m *Model) eligible(n int, d Draw) ([]int32, error) {
	var errs []error
	if n < 0 {
		errs = append(errs, &param.Error{Path: "n", Value: n, Want: "the number of records, zero or more"})
	}
	if d.Cluster != -1 && d.Cluster != 0 {
		errs = append(errs, mistake("Draw.Cluster", d.Cluster, "none: mixtures have no clusters"))
	}
	if d.Class < -1 || d.Class >= m.rows.classes {
		errs = append(errs, mistake("Draw.Class", d.Class, "one of the schema's classes, or -1 for all"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var rows []int32
	for i := range m.rows.Len() {
		if d.Class < 0 || m.rows.Class(i) == d.Class {
			rows = append(rows, int32(i))
		}
	}
	if len(rows) == 0 && n > 0 {
		return nil, mistake("Draw.Class", d.Class, "a class of which rows were released")
	}
	return rows, nil
}

// take copies some rows.
func (r *Rows) take(rows []int32) *Rows {
	out := &Rows{dim: r.dim, classes: r.classes}
	for _, i := range rows {
		out.features = append(out.features, r.Features(int(i))...)
		out.labels = append(out.labels, r.Labels(int(i))...)
	}
	return out
}
