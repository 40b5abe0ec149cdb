package main

import (
	"math"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/tabular"
)

// tablesQuality holds the scores of SDMetrics' quality report on several tables; 1 means identical.
// Package tabular has the definitions. Undefined scores are null.
type tablesQuality struct {
	ColumnShapes     *float64 `json:"column_shapes"`
	ColumnPairTrends *float64 `json:"column_pair_trends"`
	Cardinality      *float64 `json:"cardinality"`
	InterTableTrends *float64 `json:"intertable_trends"`
}

// scoreTables compares generated rows, in parts, with the real ones.
func scoreTables(real *records.Linked, generated []*records.Linked) (q tablesQuality, err error) {
	var j joined
	j.tables, j.up = listTables(real.Tables())
	var shapes, pairs, numbers, across scores
	for i, parent := range j.up {
		j.table, j.parent = i, parent
		own, err := j.compare([]*records.Linked{real}, generated)
		if err != nil {
			return q, err
		}
		for k, s := range own.Shapes {
			switch {
			case k < j.own:
				shapes.add(s.Score)
			case k < j.own+j.counts:
				numbers.add(s.Score)
			}
		}
		for _, p := range own.Pairs {
			a, b := j.schema.ColumnIndex(p.Columns[0]), j.schema.ColumnIndex(p.Columns[1])
			switch {
			case !p.Related || a >= j.own:
			case b < j.own:
				pairs.add(p.Score)
			case b >= j.own+j.counts:
				across.add(p.Score)
			}
		}
	}
	return tablesQuality{shapes.mean(), pairs.mean(), numbers.mean(), across.mean()}, nil
}

// scores is a sum of scores that are not undefined, and their number.
type scores struct {
	sum float64
	n   int
}

func (s *scores) add(score float64) {
	if !math.IsNaN(score) {
		s.sum, s.n = s.sum+score, s.n+1
	}
}

func (s *scores) mean() *float64 {
	if s.n == 0 {
		return nil
	}
	mean := s.sum / float64(s.n)
	return &mean
}

// joined describes the rows of a table with the columns of their parents: its own columns, the
// numbers of rows in each child table, and the columns of the parent.
type joined struct {
	tables        []records.Tables
	up            []int
	table, parent int
	schema        records.Schema
	own, counts   int
}

func (j *joined) compare(real, generated []*records.Linked) (q tabular.Quality, err error) {
	t := j.tables[j.table]
	var columns []records.Column
	add := func(s records.Schema, of string) {
		for _, c := range keptColumns(s) {
			columns = append(columns, scoredAs(c, of+c.Name()))
		}
	}
	add(t.Schema, t.Name+": ")
	j.own, j.counts = len(columns), len(t.Children)
	for _, child := range t.Children {
		columns = append(columns, records.Integer("number of "+child.Name, 0, child.Most))
	}
	if j.parent >= 0 {
		add(j.tables[j.parent].Schema, j.tables[j.parent].Name+": ")
	}
	if j.schema, err = records.NewSchema(columns...); err != nil {
		return q, err
	}
	a, err := j.read(real)
	if err != nil {
		return q, err
	}
	b, err := j.read(generated)
	if err != nil {
		return q, err
	}
	return tabular.Compare(a, b, 0, 0)
}

// scoredAs returns a column of numbers or of levels, with missing values.
func scoredAs(c records.Column, name string) records.Column {
	if !c.IsNumber() {
		return records.Categorical(name, c.Levels()...).WithMissing()
	}
	lo, hi := c.Bounds()
	return records.Numeric(name, lo, max(hi, math.Nextafter(lo, math.Inf(1)))).WithMissing()
}

// read joins the rows of at most mostScored root rows.
func (j *joined) read(parts []*records.Linked) (*tabular.Table, error) {
	b, err := records.NewFrameBuilder(j.schema)
	if err != nil {
		return nil, err
	}
	all, before := lengths(parts), 0
	for _, l := range parts {
		rows, up := l.Table(j.table)
		of := rootsOf(l, j.up)[j.table]
		for k := range rows.Len() {
			if !isScored(before+int(of[k]), all) {
				continue
			}
			row := j.cells(nil, rows, k, j.table)
			for _, child := range j.tables[j.table].Children {
				row = append(row, rows.Number(k, rows.Schema().ColumnIndex("number of "+child.Name)))
			}
			if j.parent >= 0 {
				above, _ := l.Table(j.parent)
				row = j.cells(row, above, int(up[k]), j.parent)
			}
			if err := b.Append(row...); err != nil {
				return nil, err
			}
		}
		before += l.Len()
	}
	return tabular.Read(b.Frame(), nil)
}

// cells appends the cells of a row of a table.
func (j *joined) cells(to []any, rows *records.Frame, row, table int) []any {
	for _, c := range keptColumns(j.tables[table].Schema) {
		to = append(to, cell(rows, row, c))
	}
	return to
}
