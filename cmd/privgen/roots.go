package main

import (
	"math"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// roots sums up each row of the first of several tables together with everything that belongs to
// it, as one row of a flat table. So a report on flat tables compares whole root rows: how their
// parts agree, whether a classifier tells them apart, and the risk of a root.
//
// The columns are those of the first table; for each table below, the number of rows; for each of
// its columns, the mean of numbers or the most frequent level; and for tables in order, how far a
// row is from the row before: the mean absolute difference, or the share of equal levels.
type roots struct {
	tables []records.Tables
	up     []int // the number of each table's parent
	schema records.Schema
	rows   *records.FrameBuilder
}

// mostScored is the number of root rows that are compared, spread evenly over all of them.
const mostScored = 50_000

// isScored reports whether one of all root rows is compared.
func isScored(root, all int) bool {
	return all <= mostScored || root*mostScored/all < (root+1)*mostScored/all
}

// lengths returns the number of root rows.
func lengths(parts []*records.Linked) (n int) {
	for _, l := range parts {
		n += l.Len()
	}
	return n
}

// summedUp returns a row for each root row that is compared.
func summedUp(parts ...*records.Linked) (*records.Frame, error) {
	r, err := newRoots(parts[0].Tables())
	before, all := 0, lengths(parts)
	for _, l := range parts {
		if err == nil {
			err = r.add(l, before, all)
		}
		before += l.Len()
	}
	if err != nil {
		return nil, err
	}
	return r.rows.Frame(), nil
}

func newRoots(t records.Tables) (*roots, error) {
	r := &roots{}
	r.tables, r.up = listTables(t)
	columns := keptColumns(t.Schema)
	most := make([]int, len(r.tables))
	for i, table := range r.tables {
		if most[i] = 1; i == 0 {
			continue
		}
		most[i] = most[r.up[i]] * table.Most
		columns = append(columns, records.Integer("number of "+table.Name, 0, most[i]))
		for _, c := range keptColumns(table.Schema) {
			columns = append(columns, summaries(c, table.Name+": "+c.Name(), table.Ordered)...)
		}
	}
	var err error
	if r.schema, err = records.NewSchema(columns...); err != nil {
		return nil, err
	}
	r.rows, err = records.NewFrameBuilder(r.schema)
	return r, err
}

// listTables returns a table and those below it, in the order of Tables.All, and the number of
// the parent of each, -1 for the first.
func listTables(t records.Tables) (tables []records.Tables, up []int) {
	var list func(t records.Tables, parent int)
	list = func(t records.Tables, parent int) {
		at := len(tables)
		tables, up = append(tables, t), append(up, parent)
		for _, child := range t.Children {
			list(child, at)
		}
	}
	list(t, -1)
	return tables, up
}

// keptColumns returns the columns that can be summed up: all but identifiers and hashed texts.
func keptColumns(s records.Schema) (kept []records.Column) {
	for _, c := range s.Columns() {
		if c.Kind() != records.IdentifierColumn && c.Kind() != records.HashedColumn {
			kept = append(kept, c)
		}
	}
	return kept
}

// summaries returns the columns that sum up a column.
func summaries(c records.Column, name string, ordered bool) (out []records.Column) {
	lo, hi := c.Bounds()
	switch {
	case !c.IsNumber():
		out = append(out, records.Categorical(name+", most frequent", c.Levels()...))
		if ordered {
			out = append(out, records.Numeric(name+", as before", 0, 1))
		}
		lo, hi = 0, 0
	case c.Kind() == records.DatetimeColumn:
		from, to := c.Times()
		out = append(out, records.Datetime(name+", mean", from, to, c.Precision()))
	default:
		out = append(out, records.Numeric(name+", mean", lo, hi))
	}
	if ordered && hi > lo {
		out = append(out, records.Numeric(name+", steps", 0, hi-lo))
	}
	for i := range out {
		out[i] = out[i].WithMissing()
	}
	return out
}

// add adds the root rows of l, the first of which is number before of all.
func (r *roots) add(l *records.Linked, before, all int) error {
	frames := make([]*records.Frame, len(r.tables))
	first := make([][]int, len(r.tables)) // of the rows of each root, and their end
	for i, of := range rootsOf(l, r.up) {
		frames[i], _ = l.Table(i)
		first[i] = make([]int, l.Len()+1)
		for _, root := range of {
			first[i][root+1]++
		}
		for k := range l.Len() {
			first[i][k+1] += first[i][k]
		}
	}
	for root := range l.Len() {
		if !isScored(before+root, all) {
			continue
		}
		var row []any
		for i, t := range r.tables {
			lo, hi := first[i][root], first[i][root+1]
			if i > 0 {
				row = append(row, hi-lo)
			}
			for _, c := range keptColumns(t.Schema) {
				k := frames[i].Schema().ColumnIndex(c.Name())
				_, up := l.Table(i)
				switch {
				case i > 0:
					row = append(row, summary{frames[i], k, up, lo, hi}.values(c, t.Ordered)...)
				case cell(frames[0], root, c) == nil:
					row = append(row, nil)
				default:
					row = append(row, frames[0].Value(root, k))
				}
			}
		}
		if err := r.rows.Append(row...); err != nil {
			return err
		}
	}
	return nil
}

// rootsOf returns the root row that each row of each table belongs to; up has the number of the
// parent of each table.
func rootsOf(l *records.Linked, up []int) (of [][]int32) {
	for i, parent := range up {
		rows, parents := l.Table(i)
		own := make([]int32, rows.Len())
		for k := range own {
			if own[k] = int32(k); i > 0 {
				own[k] = of[parent][parents[k]]
			}
		}
		of = append(of, own)
	}
	return of
}

// cell returns a number or the text of a level, nil if it is missing.
func cell(f *records.Frame, row int, c records.Column) any {
	k := f.Schema().ColumnIndex(c.Name())
	if v := f.Number(row, k); c.IsNumber() && !math.IsNaN(v) {
		return v
	}
	if l := f.Level(row, k); l >= 0 {
		return c.Levels()[l]
	}
	return nil
}

// summary is about rows lo … hi-1 of a column.
type summary struct {
	rows   *records.Frame
	column int
	up     []int32
	lo, hi int
}

// values returns the cells of the columns of summaries.
func (s summary) values(c records.Column, ordered bool) []any {
	mean, steps := s.numbers(), s.steps(math.Abs)
	if !c.IsNumber() {
		mean, steps = s.mode(c), s.steps(func(x float64) float64 {
			if x == 0 {
				return 1
			}
			return 0
		})
	} else if v, ok := mean.(float64); ok && c.Kind() == records.DatetimeColumn {
		mean = time.Unix(int64(v), 0)
	}
	lo, hi := c.Bounds()
	if !ordered || c.IsNumber() && !(hi > lo) {
		return []any{mean}
	}
	return []any{mean, steps}
}

// at returns a number, or the index of a level.
func (s summary) at(row int) float64 {
	if l := s.rows.Level(row, s.column); l >= 0 {
		return float64(l)
	}
	return s.rows.Number(row, s.column)
}

// numbers returns the mean of the numbers, nil without numbers.
func (s summary) numbers() any {
	sum, n := 0.0, 0
	for row := s.lo; row < s.hi; row++ {
		if v := s.at(row); !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return nil
	}
	return sum / float64(n)
}

// steps returns the mean of a function of the differences from the row before, nil without one.
func (s summary) steps(f func(float64) float64) any {
	sum, n := 0.0, 0
	for row := s.lo + 1; row < s.hi; row++ {
		if d := s.at(row) - s.at(row-1); s.up[row] == s.up[row-1] && !math.IsNaN(d) {
			sum, n = sum+f(d), n+1
		}
	}
	if n == 0 {
		return nil
	}
	return sum / float64(n)
}

// mode returns the most frequent level, the first of several; nil without levels.
func (s summary) mode(c records.Column) any {
	levels := c.Levels()
	counts, most := make([]int, len(levels)), -1
	for row := s.lo; row < s.hi; row++ {
		l := s.rows.Level(row, s.column)
		if l < 0 || l >= len(levels) {
			continue
		}
		if counts[l]++; most < 0 || counts[l] > counts[most] || counts[l] == counts[most] && l < most {
			most = l
		}
	}
	if most < 0 {
		return nil
	}
	return levels[most]
}
