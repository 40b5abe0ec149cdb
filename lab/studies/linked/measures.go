package main

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/tabular"
)

// list returns the scores in the order of their names.
func list(s evaluate.TableScores, queries, gaps float64) []float64 {
	return []float64{s.Lengths, s.Columns, s.Pairs, s.Parents, s.Steps, s.Starts, s.Ends, queries,
		gaps}
}

var measureNames = []string{"lengths", "columns", "pairs", "parents", "steps", "starts", "ends",
	"queries", "gaps"}

// gapsError is the distance of the distributions of gaps, divided at the sixteenths of the real
// ones; 0 for tables without gaps.
func gapsError(real *records.Linked, drawn []*records.Linked) (distance float64) {
	rows, _ := real.Table(1)
	column := rows.Schema().ColumnIndex("gap of " + real.Tables().Children[0].Gaps)
	if column < 0 {
		return 0
	}
	gaps := func(parts ...*records.Linked) (list []float64) {
		for _, l := range parts {
			f, _ := l.Table(1)
			list = append(list, f.Numbers(column)...)
		}
		list = slices.DeleteFunc(list, func(v float64) bool { return v != v })
		slices.Sort(list)
		return list
	}
	a, b := gaps(real), gaps(drawn...)
	last := [2]float64{}
	for k := range 16 {
		at := [2]float64{1, 1} // the shares below the next sixteenth
		if k < 15 {
			edge := a[(k+1)*len(a)/16]
			for i, list := range [][]float64{a, b} {
				n, _ := slices.BinarySearch(list, edge)
				at[i] = float64(n) / float64(len(list))
			}
		}
		distance += math.Abs(at[0]-last[0]-at[1]+last[1]) / 2
		last = at
	}
	return distance
}

// queryCount is the number of counting queries about the rows of each table.
const queryCount = 1000

// joins answers counting queries about rows joined with those of all tables above them. The
// queries are on one to three columns of any of these tables.
type joins struct {
	real    *records.Linked
	frames  []*records.Frame // of the real rows
	tables  []*tabular.Table
	queries [][]tabular.Query
	answers [][]float64
}

func newJoins(real *records.Linked) (*joins, error) {
	j := &joins{real: real}
	for i := 1; i < len(real.Tables().All()); i++ {
		f, err := joinedRows(i, []*records.Linked{real})
		if err != nil {
			return nil, err
		}
		t, err := tabular.Read(f, nil)
		if err != nil {
			return nil, err
		}
		q := t.Queries(queryCount, 1)
		j.frames, j.tables = append(j.frames, f), append(j.tables, t)
		j.queries, j.answers = append(j.queries, q), append(j.answers, t.Answer(q))
	}
	return j, nil
}

// errors returns the mean absolute error of the answers from generated rows.
func (j *joins) errors(parts []*records.Linked) (float64, error) {
	return j.mean(func(i int) (*tabular.Table, error) {
		f, err := joinedRows(i+1, parts)
		if err != nil {
			return nil, err
		}
		return tabular.Read(f, nil)
	})
}

// again returns the error from root rows drawn from the real ones with replacement.
func (j *joins) again(seed uint64) (float64, error) {
	rng := rand.New(rand.NewPCG(seed, 0x6a6f696e))
	times := make([]int, j.real.Len())
	for range times {
		times[rng.IntN(len(times))]++
	}
	return j.mean(func(i int) (*tabular.Table, error) {
		var rows []int32
		for row, root := range rootsOf(j.real, i+1) {
			for range times[root] {
				rows = append(rows, int32(row))
			}
		}
		return tabular.Read(j.frames[i], rows)
	})
}

func (j *joins) mean(of func(i int) (*tabular.Table, error)) (mean float64, err error) {
	for i, want := range j.answers {
		t, err := of(i)
		if err != nil {
			return 0, err
		}
		for k, got := range t.Answer(j.queries[i]) {
			mean += math.Abs(got-want[k]) / float64(len(want)*len(j.answers))
		}
	}
	return mean, nil
}

// collect reads all parts.
func collect(parts iter.Seq2[*records.Linked, error]) (all []*records.Linked, err error) {
	for l, err := range parts {
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// above lists the numbers of a table and of those above it.
func above(t records.Tables, i int) (list []int) {
	parents := parentsOf(t)
	for ; i >= 0; i = parents[i] {
		list = append(list, i)
	}
	return list
}

// parentsOf returns the number of each table's parent, -1 for the root.
func parentsOf(t records.Tables) (parents []int) {
	var walk func(t records.Tables, parent int)
	walk = func(t records.Tables, parent int) {
		at := len(parents)
		parents = append(parents, parent)
		for _, child := range t.Children {
			walk(child, at)
		}
	}
	walk(t, -1)
	return parents
}

// rootsOf returns the root row of each row of table i.
func rootsOf(l *records.Linked, i int) []int32 {
	rows, _ := l.Table(i)
	of := make([]int32, rows.Len())
	for k := range of {
		of[k] = int32(k)
	}
	for _, at := range above(l.Tables(), i) {
		if _, up := l.Table(at); up != nil {
			for k := range of {
				of[k] = up[of[k]]
			}
		}
	}
	return of
}

// joinedRows joins the rows of table i with those above them. Columns are named "table.column".
func joinedRows(i int, parts []*records.Linked) (*records.Frame, error) {
	t := parts[0].Tables()
	all, path := t.All(), above(t, i)
	var columns []records.Column
	for _, at := range path {
		for _, c := range all[at].Schema.Columns() {
			columns = append(columns, renamed(c, fmt.Sprintf("%s.%s", all[at].Name, c.Name())))
		}
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		return nil, err
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	row := make([]any, 0, len(columns))
	for _, l := range parts {
		rows, _ := l.Table(i)
		for k := range rows.Len() {
			row = row[:0]
			of := k
			for _, at := range path {
				f, up := l.Table(at)
				for _, c := range all[at].Schema.Columns() {
					row = append(row, cellOf(f, of, c))
				}
				if up != nil {
					of = int(up[of])
				}
			}
			if err := b.Append(row...); err != nil {
				return nil, err
			}
		}
	}
	return b.Frame(), nil
}

// renamed returns a column of the same numbers or levels with another name.
func renamed(c records.Column, name string) records.Column {
	if !c.IsNumber() {
		return records.Categorical(name, c.Levels()...).WithMissing()
	}
	lo, hi := c.Bounds()
	if c.LogUnit() > 0 {
		return records.Numeric(name, lo, hi).Logarithmic().WithMissing()
	}
	return records.Numeric(name, lo, hi).WithMissing()
}

func cellOf(f *records.Frame, row int, c records.Column) any {
	k := f.Schema().ColumnIndex(c.Name())
	if v := f.Number(row, k); c.IsNumber() && !math.IsNaN(v) {
		return v
	}
	if l := f.Level(row, k); l >= 0 {
		return c.Levels()[l]
	}
	return nil
}
