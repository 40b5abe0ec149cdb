package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing/fstest"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// scored returns the scores of the rows that a system draws, as many of the root as there are.
func scored(ctx context.Context, system string, j *joins, b accountant.Budget,
	seed uint64) ([]float64, error) {
	if system == "again" {
		s, err := evaluate.ResampledTables(j.real, seed)
		if err != nil {
			return nil, err
		}
		queries, err := j.again(seed)
		return list(s, queries, 0), err
	}
	drawn, err := drawn(ctx, system, j.real, b, seed)
	if err != nil {
		return nil, err
	}
	parts, err := collect(drawn)
	if err != nil {
		return nil, err
	}
	s, err := evaluate.CompareTables(j.real, func(yield func(*records.Linked, error) bool) {
		for _, l := range parts {
			if !yield(l, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	queries, err := j.errors(parts)
	return list(s, queries, gapsError(j.real, parts)), err
}

// drawn fits a system and draws as many root rows as there are, in parts.
func drawn(ctx context.Context, system string, real *records.Linked, b accountant.Budget,
	seed uint64) (iter.Seq2[*records.Linked, error], error) {
	common := tables.Common{Nominal: real.Len(), Seed: seed}
	if folder, ok := strings.CutPrefix(system, "read:"); ok {
		name := strings.ReplaceAll(folder, "RUN", fmt.Sprint(seed))
		return whole(records.CSV{}.ReadTables(os.DirFS(name), real.Tables()))
	}
	switch system {
	case "linked":
		p, err := compose.Linked{Tables: real.Tables(), Of: tables.AIM{Common: common},
			Each: tables.AIM{Common: common}}.PlanFor(real.Schema(), b)
		if err != nil {
			return nil, err
		}
		g, err := p.Fit(ctx, real)
		if err != nil {
			return nil, err
		}
		return compose.DrawTables(ctx, g, real.Len(), seed), nil
	case "sorted":
		return sortedTimes(ctx, real, b, common)
	case "independent":
		return independent(ctx, real, b, common)
	case "chain":
		return chain(real, b, seed)
	case "flat":
		return flat(ctx, real, b, common)
	}
	return nil, fmt.Errorf("no such system")
}

// sortedTimes fits rows whose times are columns like others, and puts drawn rows in their order.
func sortedTimes(ctx context.Context, real *records.Linked, b accountant.Budget,
	c tables.Common) (iter.Seq2[*records.Linked, error], error) {
	t := real.Tables()
	t.Children = slices.Clone(t.Children)
	t.Children[0].Gaps = ""
	plain, err := again([]*records.Linked{real}, t)
	if err != nil {
		return nil, err
	}
	parts, err := drawn(ctx, "linked", plain, b, c.Seed)
	if err != nil {
		return nil, err
	}
	all, err := collect(parts)
	if err != nil {
		return nil, err
	}
	return whole(again(all, real.Tables()))
}

// again reads rows as those of another description.
func again(parts []*records.Linked, t records.Tables) (*records.Linked, error) {
	folder := fstest.MapFS{}
	err := records.CSV{}.WriteTables(func(name string) (io.WriteCloser, error) {
		return &memory{name: name, folder: folder}, nil
	}, func(yield func(*records.Linked, error) bool) {
		for _, l := range parts {
			if !yield(l, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return records.CSV{}.ReadTables(folder, t)
}

// memory is a file in memory.
type memory struct {
	bytes.Buffer
	name   string
	folder fstest.MapFS
}

func (m *memory) Close() error {
	m.folder[m.name] = &fstest.MapFile{Data: m.Bytes()}
	return nil
}

// whole yields all rows at once.
func whole(l *records.Linked, err error) (iter.Seq2[*records.Linked, error], error) {
	return func(yield func(*records.Linked, error) bool) { yield(l, nil) }, err
}

// flat fits a system to the rows of a table joined with those of its parent. Rows that it draws
// belong to nobody: those with the same columns of a parent become the rows of as many parents as
// their number of rows says.
func flat(ctx context.Context, real *records.Linked, b accountant.Budget,
	c tables.Common) (iter.Seq2[*records.Linked, error], error) {
	t := real.Tables()
	if len(t.Children) != 1 || len(t.Children[0].Children) > 0 || t.Schema.Kind() == 0 {
		return nil, fmt.Errorf("a joined table is for one table below a root with columns")
	}
	parents, _ := real.Table(0)
	rows, up := real.Table(1)
	joined := t
	joined.Children = append([]records.Tables(nil), t.Children...)
	joined.Children[0].Ordered = false
	s, _, _ := joined.Seen(0)
	all, err := records.Grow(joined, parents, func(int, *records.Nonzeros) (*records.Frame, error) {
		return rows, nil
	})
	if err != nil {
		return nil, err
	}
	p, err := tables.AIM{Common: c}.PlanFor(s, b)
	if err != nil {
		return nil, err
	}
	g, err := p.Fit(ctx, all.Seen(0))
	if err != nil {
		return nil, err
	}
	drawn, err := g.Sample(ctx, len(up), synth.Seed(c.Seed))
	if err != nil {
		return nil, err
	}
	return whole(unjoined(t, drawn))
}

// unjoined makes parents of joined rows.
func unjoined(t records.Tables, drawn records.Data) (*records.Linked, error) {
	f, _ := records.AsFrame(drawn)
	n := len(t.Full().Columns())
	b := newBuilder(t)
	roots := 0
	open := map[string]struct{ root, left int }{}
	for r := range f.Len() {
		values := make([]any, len(f.Schema().Columns()))
		key := ""
		for j := range values {
			values[j] = f.Value(r, j)
			if j < n {
				key += f.Value(r, j) + "\x00"
			}
		}
		at := open[key]
		if at.left == 0 {
			at.root, at.left = roots, int(max(f.Number(r, n-1), 1))
			roots++
			b.add(0, []string{fmt.Sprint(at.root)}, values[:n-1]...)
		}
		b.add(1, []string{fmt.Sprint(at.root)}, values[n:]...)
		at.left--
		open[key] = at
	}
	return b.link(nil)
}

// independent fits a system to each table alone, and draws rows that do not depend on their parents
// or on each other. Only the numbers of rows are known to the parents. Each of n tables has ε/√n.
func independent(ctx context.Context, real *records.Linked, b accountant.Budget,
	c tables.Common) (iter.Seq2[*records.Linked, error], error) {
	n := len(real.Tables().All())
	b.Epsilon /= math.Sqrt(float64(n))
	var of []*synth.Generator
	for i := range n {
		rows, _ := real.Table(i)
		var data records.Data = records.WithUnit(rows, records.UnitUser)
		if i > 0 {
			s, _, _ := real.Tables().Seen(i - 1)
			keys := make([]int32, rows.Len())
			for r := range keys {
				keys[r] = int32(rootOf(real, i, r))
			}
			persons, err := records.GroupBy(rows, keys, s.RowsPerPerson())
			if err != nil {
				return nil, err
			}
			data = persons
		}
		p, err := tables.AIM{Common: c}.PlanFor(data.Schema(), b)
		if err != nil {
			return nil, err
		}
		g, err := p.Fit(ctx, data)
		if err != nil {
			return nil, err
		}
		of = append(of, g)
	}
	return grow(ctx, real, of[0], func(i int, known *records.Nonzeros) (records.Data, error) {
		return of[i+1].Sample(ctx, known.Rows)
	})
}

// grow draws as many root rows as there are, and the others by a function.
func grow(ctx context.Context, real *records.Linked, roots *synth.Generator,
	draw func(i int, known *records.Nonzeros) (records.Data, error)) (
	iter.Seq2[*records.Linked, error], error) {
	drawn, err := roots.Sample(ctx, real.Len())
	if err != nil {
		return nil, err
	}
	frame, _ := records.AsFrame(drawn)
	return whole(records.Grow(real.Tables(), frame, func(i int, known *records.Nonzeros) (
		*records.Frame, error) {
		d, err := draw(i, known)
		if err != nil {
			return nil, err
		}
		f, _ := records.AsFrame(d)
		return f, nil
	}))
}

// chain is a first-order Markov chain for one ordered table of one column of levels. It counts the
// first values and the pairs of neighbours, of each root at most Most in all, with Laplace noise of
// half of ε; and the lengths with the other half.
func chain(real *records.Linked, b accountant.Budget, seed uint64) (
	iter.Seq2[*records.Linked, error], error) {
	t := real.Tables()
	if len(t.Children) != 1 || !t.Children[0].Ordered || len(t.Children[0].Schema.Columns()) != 1 {
		return nil, fmt.Errorf("a chain is for one table of one column")
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
		return nil, err
	}
	size := distuv.NewCategorical(lengths, rng)
	for range real.Len() {
		if err := b2.Append(int(size.Rand())); err != nil {
			return nil, err
		}
	}
	next := make([]distuv.Categorical, len(counts))
	for i, row := range counts {
		next[i] = distuv.NewCategorical(row, rng)
	}
	_, known, own := t.Seen(0)
	names := own.Columns()[0].Levels()
	return whole(records.Grow(t, b2.Frame(), func(_ int, z *records.Nonzeros) (*records.Frame, error) {
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
	}))
}

// rootOf returns the row of the root that row r of table i belongs to.
func rootOf(l *records.Linked, i, r int) int {
	for i > 0 {
		_, up := l.Table(i)
		i, r = parentOf(l.Tables(), i), int(up[r])
	}
	return r
}

// parentOf returns the number of the table above table i.
func parentOf(t records.Tables, i int) int {
	at, parent := 0, -1
	var walk func(t records.Tables, above int)
	walk = func(t records.Tables, above int) {
		own := at
		if at++; own == i {
			parent = above
		}
		for _, c := range t.Children {
			walk(c, own)
		}
	}
	walk(t, -1)
	return parent
}
