package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// drawn fits a system and draws as many root rows as there are, in parts.
func drawn(ctx context.Context, system string, real *records.Linked, b accountant.Budget,
	seed uint64, each func(*records.Linked)) error {
	common := tables.Common{Nominal: real.Len(), Seed: seed}
	switch system {
	case "linked":
		p, err := compose.Linked{Tables: real.Tables(), Of: tables.AIM{Common: common},
			Each: tables.AIM{Common: common}}.PlanFor(real.Schema(), b)
		if err != nil {
			return err
		}
		g, err := p.Fit(ctx, real)
		if err != nil {
			return err
		}
		for l, err := range compose.DrawTables(ctx, g, real.Len(), seed) {
			if err != nil {
				return err
			}
			each(l)
		}
		return nil
	case "independent":
		return independent(ctx, real, b, common, each)
	case "chain":
		return chain(real, b, seed, each)
	}
	return fmt.Errorf("no such system")
}

// flat fits a system to the rows of a table joined with those of its parent, and counts rows that it
// draws. They belong to nobody, so nothing is known of lengths and steps.
func flat(ctx context.Context, real *records.Linked, b accountant.Budget, codes [][]coder,
	seed uint64) (counted, error) {
	t := real.Tables()
	if len(t.Children) != 1 || len(t.Children[0].Children) > 0 || t.Schema.Kind() == 0 {
		return nil, fmt.Errorf("a joined table is for one table below a root with columns")
	}
	parents, _ := real.Table(0)
	rows, up := real.Table(1)
	joined := t
	joined.Children = append([]records.Tables(nil), t.Children...)
	joined.Children[0].Ordered = false
	s, known, own := joined.Seen(0)
	all, err := records.Grow(joined, parents, func(int, *records.Nonzeros) (*records.Frame, error) {
		f, err := records.Concat(own, rows)
		if err != nil {
			return nil, err
		}
		out, _ := records.AsFrame(f)
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	c := tables.Common{Nominal: real.Len(), Seed: seed}
	p, err := tables.AIM{Common: c}.PlanFor(s, b)
	if err != nil {
		return nil, err
	}
	g, err := p.Fit(ctx, all.Seen(0))
	if err != nil {
		return nil, err
	}
	drawn, err := g.Sample(ctx, len(up), synth.Seed(seed))
	if err != nil {
		return nil, err
	}
	f, _ := records.AsFrame(drawn)
	out := counted{}
	at := func(c coder, shift int) coder { c.column += shift; return c }
	for r := range f.Len() {
		for j, c := range codes[1] {
			name, v := fmt.Sprint(1, " ", j), at(c, known).code(f, r)
			out.add("columns", name, v, 0, 1)
			for k, d := range codes[1][:j] {
				out.add("pairs", fmt.Sprint(name, " ", k), v, at(d, known).code(f, r), 1)
			}
			for k, d := range codes[0] {
				out.add("parent", fmt.Sprint(name, " ", k), v, d.code(f, r), 1)
			}
		}
	}
	return out, nil
}

// independent fits a system to each table alone, and draws rows that do not depend on their parents
// or on each other. Only the numbers of rows are known to the parents. Each of n tables has ε/√n.
func independent(ctx context.Context, real *records.Linked, b accountant.Budget, c tables.Common,
	each func(*records.Linked)) error {
	n := len(real.Tables().Names())
	b.Epsilon /= math.Sqrt(float64(n))
	var of []*synth.Generator
	for i := range n {
		rows, _ := real.Table(i)
		var data records.Data = records.WithUnit(rows, records.UnitUser)
		if i > 0 {
			s, _, _ := real.Tables().Seen(i - 1)
			keys := make([]int32, rows.Len())
			for r := range keys {
				keys[r] = int32(rootOf(real, real.Tables(), i, r))
			}
			persons, err := records.GroupBy(rows, keys, s.RowsPerPerson())
			if err != nil {
				return err
			}
			data = persons
		}
		p, err := tables.AIM{Common: c}.PlanFor(data.Schema(), b)
		if err != nil {
			return err
		}
		g, err := p.Fit(ctx, data)
		if err != nil {
			return err
		}
		of = append(of, g)
	}
	return grow(ctx, real, of[0], each, func(i int, known *records.Nonzeros) (records.Data, error) {
		return of[i+1].Sample(ctx, known.Rows)
	})
}

// grow draws as many root rows as there are, and the others by a function.
func grow(ctx context.Context, real *records.Linked, roots *synth.Generator,
	each func(*records.Linked),
	draw func(i int, known *records.Nonzeros) (records.Data, error)) error {
	drawn, err := roots.Sample(ctx, real.Len())
	if err != nil {
		return err
	}
	frame, _ := records.AsFrame(drawn)
	l, err := records.Grow(real.Tables(), frame, func(i int, known *records.Nonzeros) (*records.Frame,
		error) {
		d, err := draw(i, known)
		if err != nil {
			return nil, err
		}
		f, _ := records.AsFrame(d)
		return f, nil
	})
	if err == nil {
		each(l)
	}
	return err
}

// chain is a first-order Markov chain for one ordered table of one column of levels. It counts the
// first values and the pairs of neighbours, of each root at most Most in all, with Laplace noise of
// half of ε; and the lengths with the other half.
func chain(real *records.Linked, b accountant.Budget, seed uint64,
	each func(*records.Linked)) error {
	t := real.Tables()
	if len(t.Children) != 1 || !t.Children[0].Ordered || len(t.Children[0].Schema.Columns()) != 1 {
		return fmt.Errorf("a chain is for one table of one column")
	}
	most := t.Children[0].Most
	levels := len(t.Children[0].Schema.Columns()[0].Levels())
	noise := distuv.Laplace{Scale: 2 / b.Epsilon, Src: rand.NewPCG(seed, 2)}
	lengths := make([]float64, most+1)
	counts := make([][]float64, levels+1) // the last row for first values
	for i := range counts {
		counts[i] = make([]float64, levels)
	}
	rows, up := real.Table(1)
	roots, _ := real.Table(0)
	for r := range roots.Len() {
		lengths[int(roots.Number(r, 0))]++
	}
	for r := range rows.Len() {
		before := levels
		if r > 0 && up[r] == up[r-1] {
			before = rows.Level(r-1, 0)
		}
		counts[before][rows.Level(r, 0)]++
	}
	for i := range lengths {
		lengths[i] = max(lengths[i]+noise.Rand(), 0)
	}
	noise.Scale *= float64(most)
	for _, row := range counts {
		for k := range row {
			row[k] = max(row[k]+noise.Rand(), 1e-9)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	b2, err := records.NewFrameBuilder(t.Full())
	if err != nil {
		return err
	}
	size := distuv.NewCategorical(lengths, rng)
	for range real.Len() {
		if err := b2.Append(int(size.Rand())); err != nil {
			return err
		}
	}
	next := make([]distuv.Categorical, len(counts))
	for i, row := range counts {
		next[i] = distuv.NewCategorical(row, rng)
	}
	_, known, own := t.Seen(0)
	names := own.Columns()[0].Levels()
	l, err := records.Grow(t, b2.Frame(), func(_ int, z *records.Nonzeros) (*records.Frame, error) {
		out, err := records.NewFrameBuilder(own)
		if err != nil {
			return nil, err
		}
		s, _, _ := t.Seen(0)
		block := s.Blocks()[known-1] // the value before, the last of the known columns
		for r := range z.Rows {
			before := levels
			places, _ := z.Row(r)
			for _, at := range places {
				if k := int(at) - block.Offset; k >= 0 && k < levels {
					before = k
				}
			}
			if err := out.Append(names[int(next[before].Rand())]); err != nil {
				return nil, err
			}
		}
		return out.Frame(), nil
	})
	if err == nil {
		each(l)
	}
	return err
}

// again returns how often each of n rows is drawn, in n draws with replacement.
func again(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 4))
	times := make([]float64, n)
	for range n {
		times[rng.IntN(n)]++
	}
	return times
}
