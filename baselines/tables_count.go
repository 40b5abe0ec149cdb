package baselines

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// histogram counts the rows in each cell, in steps of records.ShareStep.
type histogram struct {
	work   tableMethod
	sums   []*mechanism.FixedSum
	counts []int64 // counts of all sums, one after another
	codes  [][]uint16
	cells  func(codes [][]uint16, shares []int64, counts []int64)
	rest   func(counts []int64) // computes counts that cells leaves out; may be nil
}

// batchRows is the number of rows read at a time. After flushBatches batches the counts are added
// to the sums.
const (
	batchRows    = 4096
	flushBatches = 128
)

// Add counts the records of data.
func (c *histogram) Add(ctx context.Context, data records.Data) error {
	data, weights := records.RowsOf(data)
	shares := make([]int64, 0, batchRows)
	batches := 0
	err := network.EachNonzeros(ctx, data, batchRows, func(lo int, z *records.Nonzeros) {
		codesOf(c.work.attributes, z, c.codes)
		shares = shares[:0]
		for i := range z.Rows {
			shares = append(shares, int64(weights.Of(lo+i)/records.ShareStep))
		}
		c.cells(c.codes, shares, c.counts)
		if batches++; batches%flushBatches == 0 {
			c.flush()
		}
	})
	c.flush()
	return err
}

// flush adds the counts to the sums. This is exact, because the grids divide ShareStep.
func (c *histogram) flush() {
	if c.rest != nil {
		c.rest(c.counts)
	}
	at := 0
	for _, s := range c.sums {
		for i := range s.Dim() {
			if n := c.counts[at+i]; n != 0 {
				s.AddShare(i, float64(n)*records.ShareStep)
				c.counts[at+i] = 0
			}
		}
		at += s.Dim()
	}
}

// Sums returns the counts.
func (c *histogram) Sums() []*mechanism.FixedSum { return c.sums }

func (m tableMethod) newHistogram(sums ...*mechanism.FixedSum) *histogram {
	total := 0
	for _, s := range sums {
		total += s.Dim()
	}
	return &histogram{work: m, sums: sums, counts: make([]int64, total),
		codes: make([][]uint16, len(m.attributes))}
}

// tableGrid returns a grid step that is small compared with the noise, divides ShareStep, and
// leaves room for billions of records.
func tableGrid(std float64) float64 {
	return min(mechanism.GridFor(std)*(1<<18), records.ShareStep)
}

// columnSizes returns the numbers of counts in the release of columns, for the class and for the
// other columns.
func (m tableMethod) columnSizes() (others, class int) {
	for _, a := range m.attributes {
		if a.class() {
			class += a.codes
		} else {
			others += a.codes
		}
	}
	return others, class
}

// columnGrids returns the grids of the two sums.
func (m tableMethod) columnGrids() (others, class float64) {
	std, classStd := m.columnStd(1)
	return tableGrid(std), tableGrid(classStd)
}

// columnCounter returns a counter of the codes of every attribute. Its numbers are private.
func (m tableMethod) columnCounter() *histogram {
	grid, classGrid := m.columnGrids()
	others, class := m.columnSizes()
	sums := []*mechanism.FixedSum{mechanism.NewFixedSum(others, grid)}
	if class > 0 {
		sums = append(sums, mechanism.NewFixedSum(class, classGrid))
	}
	c := m.newHistogram(sums...)
	c.cells = func(codes [][]uint16, shares []int64, counts []int64) {
		first := 0
		for j, a := range m.attributes {
			for i, code := range codes[j] {
				counts[first+int(code)] += shares[i]
			}
			first += a.codes
		}
	}
	return c
}

// candidate is a table that may be measured, with one to three attributes.
type candidate struct {
	attributes []int
	// columns lists the attributes. With n attributes in the table, n+a means attribute a with its
	// coarse groups.
	columns []int
	first   int // index of its first count
	cells   int
	weight  float64 // weight in choices
}

// merged returns, for each cell of the fine table of the same attributes, the cell of this table
// that contains it. It returns nil if this table is itself the fine table.
func (c candidate) merged(groups []grouping) []int32 {
	if c.fine() {
		return nil
	}
	cells := []int32{0}
	for k, a := range c.attributes {
		g := groups[a]
		next := make([]int32, 0, len(cells)*g.size)
		for _, cell := range cells {
			for v := range g.size {
				if c.columns[k] == a {
					next = append(next, cell*int32(g.size)+int32(v))
				} else {
					next = append(next, cell*int32(g.coarseSize)+int32(g.coarse[v]))
				}
			}
		}
		cells = next
	}
	return cells
}

// candidates returns the tables of up to order attributes, with single attributes first, then
// pairs, then triples. Pairs with the class precede other pairs, and pairs of close columns precede
// pairs of distant ones. If there are too many triples, it returns only triples with the class, or
// none. It adds each table with the class a second time, with the coarse groups of the other
// attributes. The list is public: it depends on the plan and on released groups.
//
// The domain must be a result of columnsOf.
func (m tableMethod) candidates(domain graphical.Domain) []candidate {
	n := len(m.attributes)
	label := -1
	if m.attributes[n-1].class() {
		label = n - 1
	}
	l := candidateList{method: m, domain: domain, label: label}
	for a := range n {
		l.add(a)
	}
	if m.order >= 2 {
		for a := range max(label, 0) {
			l.add(a, label)
		}
		others := n
		if label >= 0 {
			others--
		}
		for apart := 1; apart < others; apart++ {
			for a := 0; a+apart < others; a++ {
				l.add(a, a+apart)
			}
		}
	}
	if m.order >= 3 && len(l.list)+n*n*n/6 <= mostCandidates && l.fits(3, n) {
		eachGroup(n, 3, func(group []int) { l.add(group...) })
	} else if m.order >= 3 && label >= 0 && len(l.list)+n*n/2 <= mostCandidates {
		eachGroup(label, 2, func(group []int) { l.add(append(group, label)...) })
	}
	for size := 1; size < m.order; size++ {
		eachGroup(max(label, 0), size, func(group []int) { l.addCoarse(append(group, label)...) })
	}
	return l.list
}

// candidateList is a list of tables of bounded size.
type candidateList struct {
	method tableMethod
	domain graphical.Domain
	label  int
	list   []candidate
	total  int
}

// add adds a table, unless the table or the list would become too large.
func (l *candidateList) add(group ...int) { l.addColumns(group, group) }

// addCoarse adds the table of a list of attributes with their coarse groups, if there are any.
func (l *candidateList) addCoarse(group ...int) {
	n := len(l.method.attributes)
	columns := slices.Clone(group)
	for k, a := range group {
		if l.domain[n+a] > 0 {
			columns[k] = n + a
		}
	}
	if !slices.Equal(group, columns) && l.domain.Cells(group) <= mostTable {
		l.addColumns(group, columns)
	}
}

func (l *candidateList) addColumns(group, columns []int) {
	cells := l.domain.Cells(columns)
	if cells > mostTable || float64(l.total)+cells > mostCandidateCells ||
		len(l.list) >= mostCandidates {
		return
	}
	weight := float64(len(group)) / float64(l.method.order)
	if l.label >= 0 && group[len(group)-1] != l.label {
		weight /= l.method.ClassWeight
	}
	l.list = append(l.list,
		candidate{slices.Clone(group), slices.Clone(columns), l.total, int(cells), weight})
	l.total += int(cells)
}

// fits reports whether there is room for all groups of the given size of the first n attributes.
func (l *candidateList) fits(size, n int) bool {
	total := float64(l.total)
	eachGroup(n, size, func(group []int) {
		if cells := l.domain.Cells(group); cells <= mostTable {
			total += cells
		}
	})
	return total <= mostCandidateCells
}

// eachGroup calls visit for every group of the given size of n attributes, in ascending order.
func eachGroup(n, size int, visit func([]int)) {
	group := make([]int, size)
	var fill func(k, from int)
	fill = func(k, from int) {
		if k == size {
			visit(group)
			return
		}
		for a := from; a < n; a++ {
			group[k] = a
			fill(k+1, a+1)
		}
	}
	fill(0, 0)
}

// domainOf returns the number of groups of every attribute.
func domainOf(groups []grouping) graphical.Domain {
	d := make(graphical.Domain, len(groups))
	for i, g := range groups {
		d[i] = g.size
	}
	return d
}

// columnsOf returns the number of groups of every attribute, followed by the number of coarse
// groups of every attribute, which may be 0.
func columnsOf(groups []grouping) graphical.Domain {
	d := domainOf(groups)
	for _, g := range groups {
		d = append(d, g.coarseSize)
	}
	return d
}

// withCoarse appends the coarse groups of rows to their groups. It reuses the buffers.
func withCoarse(groups []grouping, codes [][]uint16, buffers *[][]uint16) [][]uint16 {
	if *buffers == nil {
		*buffers = make([][]uint16, len(groups))
	}
	for j, g := range groups {
		coarse := (*buffers)[j][:0]
		if g.coarseSize > 0 {
			for _, group := range codes[j] {
				coarse = append(coarse, g.coarse[group])
			}
		}
		(*buffers)[j] = coarse
	}
	return slices.Concat(codes, *buffers)
}

// tableCounter returns a counter of the cells of every candidate. Its numbers are private.
func (m tableMethod) tableCounter(groups []grouping) *histogram {
	domain := columnsOf(groups)
	list := m.candidates(domain)
	total := 0
	for _, c := range list {
		total += c.cells
	}
	c := m.newHistogram(mechanism.NewFixedSum(total, tableGrid(1)))
	tables := newCovers(domain, groups, list)
	var buffers [][]uint16
	c.cells = func(codes [][]uint16, shares []int64, counts []int64) {
		for j, g := range groups {
			for i, code := range codes[j] {
				codes[j][i] = g.group[code]
			}
		}
		tables.count(withCoarse(groups, codes, &buffers), shares, counts)
	}
	c.rest = tables.sum
	return c
}

// inParallel calls f with 0, …, n−1, concurrently.
func inParallel(n int, f func(int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := w; i < n; i += workers {
				f(i)
			}
		}()
	}
	wait.Wait()
}

// countCells adds the weight of each row to its cell of a table.
func countCells(d graphical.Domain, attributes []int, codes [][]uint16, shares, counts []int64) {
	switch len(attributes) {
	case 1:
		for i, x := range codes[attributes[0]] {
			counts[x] += shares[i]
		}
	case 2:
		first, second := codes[attributes[0]], codes[attributes[1]]
		size := d[attributes[1]]
		for i, x := range first {
			counts[int(x)*size+int(second[i])] += shares[i]
		}
	default:
		first, second, third := codes[attributes[0]], codes[attributes[1]], codes[attributes[2]]
		size, last := d[attributes[1]], d[attributes[2]]
		for i, x := range first {
			counts[(int(x)*size+int(second[i]))*last+int(third[i])] += shares[i]
		}
	}
}

// expectedNoise returns the expected sum of the absolute values of the noise in a table.
func expectedNoise(cells int, std float64) float64 {
	return math.Sqrt(2/math.Pi) * std * float64(cells)
}
