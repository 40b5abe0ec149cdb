package mix

import (
	"context"
	"iter"
	"math/rand/v2"
	"sync"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Model is what a run releases: the rows, and the plan that made them, whose numbers are
// public. It is safe for concurrent use.
type Model struct {
	plan      *Plan
	rows      *Rows
	centers   [][]float32 // released mean records; nil without
	guarantee accountant.Guarantee

	once       sync.Once
	population *population // of tables and sets, once it was wanted
}

// Guarantee says what was promised, to whom, and what it does not cover.
func (m *Model) Guarantee() accountant.Guarantee { return m.guarantee }

// Plan is what was carried out.
func (m *Model) Plan() *Plan { return m.plan }

// Rows are the released mixtures. They are the model's own: clone them before changing any.
func (m *Model) Rows() *Rows { return m.rows }

// Centers are the released mean records, one for each part; nil where none were asked for. They
// are the model's own.
func (m *Model) Centers() [][]float32 { return m.centers }

// Schema is the schema of the records drawn: that of the real ones where those are tables or
// sets, and that of the rows otherwise.
func (m *Model) Schema() records.Schema {
	if m.plan.Config.decoded() {
		return m.plan.Config.Schema
	}
	return m.RowSchema()
}

// RowSchema is the schema of released rows as vectors or images: what [Rows.Table] and [Project]
// take. Coordinates of binary records, sets and encoded rows of tables are any number in [0, 1].
// Projected records are vectors of any sign, bounded by the clip norm.
func (m *Model) RowSchema() records.Schema {
	c := m.plan.Config
	s := c.Schema
	switch {
	case c.Projection.wanted():
		s = records.Interval(c.dim(), -c.ClipNorm, c.ClipNorm).WithLabels(s.ClassNames()...)
	case s.IsImage():
		s = records.Image(s.Height(), s.Width()).WithLabels(s.ClassNames()...)
	case s.IsBinary() || s.Kind() == records.MixedTable:
		s = records.Interval(s.Dim(), 0, 1).WithLabels(s.ClassNames()...)
	}
	return s
}

// Draw says which records are wanted. Class asks for one class; Means for the probability of
// every item of a set, and in tables for the most probable level of each column instead of a
// drawn one.
type Draw = release.Draw

// All draws from everything that was released, from a fresh seed.
func All() Draw { return release.All() }

// DrawSchema is the schema of the records of a draw: means of sets are vectors.
func (m *Model) DrawSchema(d Draw) records.Schema {
	s := m.Schema()
	if !d.Means || !s.Sparse() {
		return s
	}
	return system.MeansOf(s)
}

// Chunks generates n records in pieces of bounded size.
//
// Rows of tables and sets are drawn anew, from class frequencies, means and correlations that are
// estimated from the released mixtures on the first call; there is no end to them. How close they
// come depends on the mixtures: frequencies and means are told apart from noise long before
// correlations are, and what cannot be told is drawn independently. Records without labels are
// taken to have been as many as the plan's sampling says. Sets longer than the square of the clip
// norm count for less than others.
//
// Vectors and images are the released mixtures themselves, projected to the domain and labelled
// by their largest label coordinate, in random order. More than were released come around again:
// there is nothing further to draw without spending.
//
// Guarantee: post-processing.
// Errors: ctx.Err(); a class that does not exist or without rows; clusters, of which there are
// none.
func (m *Model) Chunks(ctx context.Context, n int, d Draw) iter.Seq2[records.Data, error] {
	return system.Chunks(ctx, n, func() (func(int) (records.Data, error), error) {
		if err := m.check(n, d); err != nil {
			return nil, err
		}
		if m.plan.Config.decoded() {
			return m.estimated().drawing(d).next, nil
		}
		return m.handOut(n, d)
	})
}

// estimated is what the rows say of the records, worked out once.
func (m *Model) estimated() *population {
	m.once.Do(func() { m.population = newPopulation(m) })
	return m.population
}

// handOut gives released rows in random order.
func (m *Model) handOut(n int, d Draw) (func(int) (records.Data, error), error) {
	rows := m.eligible(d)
	if len(rows) == 0 && n > 0 {
		return nil, mistake("Draw.Class", d.Class, "a class of which rows were released")
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
		return m.rows.take(part).Table(m.RowSchema())
	}, nil
}

func (m *Model) check(n int, d Draw) error {
	var k param.Checker
	k.OK(n >= 0, "n", n, "the number of records, zero or more")
	k.OK(d.Cluster == -1 || d.Cluster == 0, "mix.Draw.Cluster", d.Cluster,
		"none: mixtures have no clusters")
	k.OK(d.Class >= -1 && d.Class < m.rows.classes, "mix.Draw.Class", d.Class,
		"one of the schema's classes, or -1 for all")
	return k.Err()
}

// eligible lists the rows a draw may hand out.
func (m *Model) eligible(d Draw) (rows []int32) {
	for i := range m.rows.Len() {
		if d.Class < 0 || m.rows.Class(i) == d.Class {
			rows = append(rows, int32(i))
		}
	}
	return rows
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
