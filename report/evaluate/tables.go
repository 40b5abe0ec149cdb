package evaluate

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TableScores compares rows of several tables with the real ones. Each score is the mean total
// variation distance between tables of counts of one kind. Columns of numbers are divided at the
// sixteenths of the real rows. The scores are not private.
type TableScores struct {
	Lengths float64 `json:"lengths"` // numbers of rows of a parent's row
	Columns float64 `json:"columns"` // single columns of the tables below the root
	Pairs   float64 `json:"pairs"`   // two columns of a row
	Parents float64 `json:"parents"` // a column of a row and one of its parent's row
	Steps   float64 `json:"steps"`   // a column of a row and of the row before; tables in order only
	Starts  float64 `json:"starts"`  // a column of the first row of a parent; tables in order only
	Ends    float64 `json:"ends"`    // a column of the last row of a parent; tables in order only
}

// scoreKinds are the kinds of counts, in the order of the fields of TableScores.
const (
	ofLengths = iota
	ofColumns
	ofPairs
	ofParents
	ofSteps
	ofStarts
	ofEnds
	kindsOfCounts
)

// CompareTables compares generated rows, which come in parts, with the real rows of the same
// tables.
//
// Errors: those of the parts; *param.Error for rows of other tables.
func CompareTables(real *records.Linked, generated iter.Seq2[*records.Linked,
	error]) (s TableScores,
	err error) {
	c, err := newTableCounter(real)
	if err != nil {
		return s, err
	}
	var got tableCounts
	for l, err := range generated {
		if err != nil {
			return s, err
		}
		if !l.Tables().Equal(real.Tables()) {
			return s, param.New("evaluate.CompareTables.generated", l.Tables().Name,
				"rows of the real tables")
		}
		c.count(&got, l, nil)
	}
	return c.scores(got), nil
}

// ResampledTables compares the real rows with rows of the root that are drawn from them with
// replacement, with all that belongs to them: what sampling alone costs.
//
// Errors: *param.Error without rows.
func ResampledTables(real *records.Linked, seed uint64) (s TableScores, err error) {
	c, err := newTableCounter(real)
	if err != nil {
		return s, err
	}
	rng := rand.New(rand.NewPCG(seed, 0x7461626c))
	times := make([]float64, real.Len())
	for range times {
		times[rng.IntN(len(times))]++
	}
	var got tableCounts
	c.count(&got, real, times)
	return c.scores(got), nil
}

// tableCounts holds all tables of counts, by kind, and by the numbers of the table and of one or
// two columns.
type tableCounts [kindsOfCounts]map[[3]int]pairCount

// pairCount counts pairs of codes.
type pairCount map[[2]int]float64

func (t *tableCounts) add(kind int, of [3]int, a, b int, n float64) {
	if t[kind] == nil {
		t[kind] = map[[3]int]pairCount{}
	}
	counts := t[kind][of]
	if counts == nil {
		counts = pairCount{}
		t[kind][of] = counts
	}
	counts[[2]int{a, b}] += n
}

// A tableCounter counts the rows of tables.
type tableCounter struct {
	tables  []records.Tables
	parents []int
	codes   [][]cellCoder // of the columns of each table
	want    tableCounts
}

func newTableCounter(real *records.Linked) (*tableCounter, error) {
	if real.Len() == 0 {
		return nil, param.New("evaluate.CompareTables.real", "no rows", "rows of several tables")
	}
	c := &tableCounter{}
	c.list(real.Tables(), -1)
	for i := range c.tables {
		rows, _ := real.Table(i)
		c.codes = append(c.codes, codersOf(rows))
	}
	c.count(&c.want, real, nil)
	return c, nil
}

// list appends a table and its children.
func (c *tableCounter) list(t records.Tables, parent int) {
	at := len(c.tables)
	c.tables, c.parents = append(c.tables, t), append(c.parents, parent)
	for _, child := range t.Children {
		c.list(child, at)
	}
}

// count counts all rows. times says how often each row of the root counts; nil means once.
func (c *tableCounter) count(to *tableCounts, l *records.Linked, times []float64) {
	weights := make([][]float64, len(c.tables))
	for i, parent := range c.parents {
		rows, up := l.Table(i)
		weights[i] = make([]float64, rows.Len())
		for r := range weights[i] {
			switch {
			case parent >= 0:
				weights[i][r] = weights[parent][up[r]]
			case times != nil:
				weights[i][r] = times[r]
			default:
				weights[i][r] = 1
			}
		}
		if parent < 0 {
			continue
		}
		above, _ := l.Table(parent)
		lengths := make([]int, above.Len())
		for r, n := range weights[i] {
			lengths[up[r]]++
			c.row(to, i, rows, above, up, r, n)
		}
		for p, length := range lengths {
			to.add(ofLengths, [3]int{i}, length, 0, weights[parent][p])
		}
	}
}

// row counts one row n times.
func (c *tableCounter) row(to *tableCounts, i int, rows, above *records.Frame, up []int32, r int,
	n float64) {
	first := r == 0 || up[r] != up[r-1]
	last := r+1 == rows.Len() || up[r+1] != up[r]
	for j, own := range c.codes[i] {
		of := [3]int{i, j}
		v := own.code(rows, r)
		to.add(ofColumns, of, v, 0, n)
		for k, other := range c.codes[i][:j] {
			to.add(ofPairs, [3]int{i, j, k}, v, other.code(rows, r), n)
		}
		for k, other := range c.codes[c.parents[i]] {
			to.add(ofParents, [3]int{i, j, k}, v, other.code(above, int(up[r])), n)
		}
		if !c.tables[i].Ordered {
			continue
		}
		if first {
			to.add(ofStarts, of, v, 0, n)
		} else {
			to.add(ofSteps, of, v, own.code(rows, r-1), n)
		}
		if last {
			to.add(ofEnds, of, v, 0, n)
		}
	}
}

// scores returns the mean distances from the real counts.
func (c *tableCounter) scores(got tableCounts) TableScores {
	var mean [kindsOfCounts]float64
	for kind, tables := range c.want {
		for of, want := range tables {
			mean[kind] += want.distance(got[kind][of]) / float64(len(tables))
		}
	}
	return TableScores{mean[ofLengths], mean[ofColumns], mean[ofPairs], mean[ofParents],
		mean[ofSteps], mean[ofStarts], mean[ofEnds]}
}

// distance returns the total variation distance of two tables of counts, 1 if one is empty.
func (p pairCount) distance(o pairCount) float64 {
	a, b := p.total(), o.total()
	if a == 0 || b == 0 {
		return 1
	}
	sum := 0.0
	for k, n := range p {
		sum += math.Abs(n/a - o[k]/b)
	}
	for k, n := range o {
		if p[k] == 0 {
			sum += n / b
		}
	}
	return sum / 2
}

func (p pairCount) total() (sum float64) {
	for _, n := range p {
		sum += n
	}
	return sum
}

// A cellCoder turns the cells of a column into one of few codes.
type cellCoder struct {
	column int
	number bool
	edges  []float64 // of numbers
}

func codersOf(f *records.Frame) (list []cellCoder) {
	for j, c := range f.Schema().Columns() {
		own := cellCoder{column: j, number: c.IsNumber()}
		if c.Kind() == records.IdentifierColumn {
			continue
		}
		if own.number {
			numbers := slices.DeleteFunc(f.Numbers(j), func(v float64) bool { return v != v })
			slices.Sort(numbers)
			for k := 1; k < 16 && len(numbers) > 0; k++ {
				own.edges = append(own.edges, numbers[k*len(numbers)/16])
			}
			own.edges = slices.Compact(own.edges)
		}
		list = append(list, own)
	}
	return list
}

// code returns 0 for a missing value, and otherwise a positive number.
func (c cellCoder) code(f *records.Frame, row int) int {
	if !c.number {
		return f.Level(row, c.column) + 1
	}
	v := f.Number(row, c.column)
	if math.IsNaN(v) {
		return 0
	}
	at, found := slices.BinarySearch(c.edges, v)
	if found {
		at++
	}
	return at + 1
}
