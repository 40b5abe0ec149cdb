package compose

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// grown is what a composition of tables releases beside the models: nothing. The tables are public.
type grown struct {
	tables records.Tables
	draw   []func(known *records.Nonzeros, seed uint64) (*records.Frame, error)
}

// grownFrom returns the release of tables with the given models.
func grownFrom(t records.Tables, of []synth.Model) (g grown, err error) {
	g.tables = t
	for i, m := range of[1:] {
		s, _, own := t.Seen(i)
		f, ok := m.(followingModel)
		if !ok {
			return g, synth.Malformed(fmt.Errorf("a model of table %d that cannot follow its parent", i))
		}
		draw, err := f.After(own, s.RowsPerPerson())
		if err != nil {
			return g, err
		}
		g.draw = append(g.draw, draw)
	}
	return g, nil
}

func (g grown) header() (any, error)   { return linkedJSON{g.tables}, nil }
func (g grown) sections() []synth.Part { return nil }

// sampler starts a draw of rows of the root.
func (g grown) sampler(m *model, d synth.Draw) (synth.Sampler, error) { return m.of[0].Sampler(d) }

func readGrown(f *synth.File, of []synth.Model, _ synth.Loading) (released, error) {
	var j linkedJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	if err := j.Tables.Validate(); err != nil {
		return nil, synth.Malformed(err)
	}
	c := linking{tables: j.Tables}
	if len(of) != len(j.Tables.All()) {
		return nil, synth.Malformed(fmt.Errorf("%d models of %d tables", len(of), len(j.Tables.All())))
	}
	for i, m := range of {
		if !m.Schema().Equal(c.reads(i)) {
			return nil, synth.Malformed(synth.ErrSchema)
		}
	}
	own, err := grownFrom(j.Tables, of)
	return own, synth.Malformed(err)
}

// linkedRoots is the largest number of root rows that are drawn together, and linkedCells that of
// their rows' cells, known columns included, unless one root row may have more.
const (
	linkedRoots = 1 << 14
	linkedCells = 1 << 21
)

// rootsTogether returns the number of root rows that are drawn together.
func rootsTogether(t records.Tables) int {
	cells := 1
	for i := range t.All()[1:] {
		s, _, _ := t.Seen(i)
		cells += s.RowsPerPerson() * len(s.Columns())
	}
	return min(max(linkedCells/cells, 1), linkedRoots)
}

// DrawTables draws n rows of the root of a generator of [Linked], as [synth.Generator.Stream] draws
// them with the same options, and all rows that belong to them. The parts have at most 16,384 root
// rows each, and fewer if these may have many cells, so the memory does not grow with n.
// Constraints and conditions of the options hold for the rows of the root, whose columns say how
// many rows they have in other tables. Constraints of the other tables hold in every row, unless
// the options have [synth.Unconstrained].
//
// Guarantee: drawing is post-processing of the released models.
// Errors: *param.Error for a generator of another system; see [synth.Generator.Sample].
func DrawTables(ctx context.Context, g *synth.Generator, n int, seed uint64,
	opts ...synth.DrawOption) iter.Seq2[*records.Linked, error] {
	return func(yield func(*records.Linked, error) bool) {
		_, own, err := releasedBy[grown](g, "compose.DrawTables.g", linkedKind())
		if err != nil {
			yield(nil, err)
			return
		}
		rng := rand.New(rand.NewPCG(seed, 0x6c696e6b))
		roots, together := g.Schema(), rootsTogether(own.tables)
		var d synth.Draw
		for _, option := range opts {
			option(&d)
		}
		if d.Unconstrained {
			own.tables = unconstrained(own.tables)
		}
		var parts []records.Data
		rows := 0
		flush := func() bool {
			all, err := records.Concat(roots, parts...)
			parts, rows = nil, 0
			if err != nil {
				yield(nil, err)
				return false
			}
			frame, _ := records.AsFrame(all)
			for lo := 0; lo < frame.Len(); lo += together {
				some := frame.Slice(lo, min(lo+together, frame.Len()))
				l, err := records.Grow(own.tables, some, func(i int, known *records.Nonzeros) (*records.Frame,
					error) {
					return own.draw[i](known, rng.Uint64())
				})
				if !yield(l, err) || err != nil {
					return false
				}
			}
			return true
		}
		for part, err := range g.Stream(ctx, n, append(slices.Clone(opts), synth.Seed(rng.Uint64()))...) {
			if err != nil {
				yield(nil, err)
				return
			}
			parts, rows = append(parts, part), rows+part.Len()
			if rows >= together && !flush() {
				return
			}
		}
		if rows > 0 {
			flush()
		}
	}
}

// unconstrained returns the tables without the constraints of those below the root.
func unconstrained(t records.Tables) records.Tables {
	t.Constraints, t.Children = nil, slices.Clone(t.Children)
	for i, c := range t.Children {
		t.Children[i] = unconstrained(c)
	}
	return t
}
