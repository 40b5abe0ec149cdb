package tables

import (
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/mechanism"
)

// candidate is a table that may be measured, with one to mostFlags attributes.
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
func (c candidate) merged(groups []marginal.Grouping) []int32 {
	if c.fine() {
		return nil
	}
	cells := []int32{0}
	for k, a := range c.attributes {
		g := groups[a]
		next := make([]int32, 0, len(cells)*g.Size)
		for _, cell := range cells {
			for v := range g.Size {
				if c.columns[k] == a {
					next = append(next, cell*int32(g.Size)+int32(v))
				} else {
					next = append(next, cell*int32(g.CoarseSize)+int32(g.Coarse[v]))
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
// attributes, and tables of more than three flags. The list is public: it depends on the plan and
// on released groups.
//
// The domain must be a result of columnsOf.
func (m method) candidates(domain graphical.Domain) []candidate {
	n := len(m.attributes)
	label := m.goal()
	l := candidateList{method: m, domain: domain, label: label}
	var others []int
	for a := range n {
		l.add(a)
		if a != label {
			others = append(others, a)
		}
	}
	// with adds the tables of the label and of the given number of other attributes.
	with := func(add func(...int), size int) {
		marginal.EachGroup(len(others), size, func(group []int) {
			list := make([]int, 0, size+1)
			for _, k := range group {
				list = append(list, others[k])
			}
			list = append(list, label)
			slices.Sort(list)
			add(list...)
		})
	}
	if m.order >= 2 {
		if label >= 0 {
			with(l.add, 1)
		}
		for apart := 1; apart < len(others); apart++ {
			for a := 0; a+apart < len(others); a++ {
				l.add(others[a], others[a+apart])
			}
		}
	}
	if m.order >= 3 && len(l.list)+n*n*n/6 <= mostCandidates && l.fits(3, n) {
		marginal.EachGroup(n, 3, func(group []int) { l.add(group...) })
	} else if m.order >= 3 && label >= 0 && len(l.list)+n*n/2 <= mostCandidates {
		with(l.add, 2)
	}
	for size := 1; size < m.order && label >= 0; size++ {
		with(l.addCoarse, size)
	}
	if m.order >= 3 {
		l.addFlags()
	}
	return l.list
}

// mostFlags is the largest number of flags of a table, and mostFlagTables that of tables of more
// than three flags.
const mostFlags, mostFlagTables = 8, 2048

// addFlags adds the tables of four and more attributes of two values each, up to the first size of
// which there are too many. Their few cells hold what tables of three columns do not show, such as
// a parity.
func (l *candidateList) addFlags() {
	var flags []int
	for a := range l.method.attributes {
		if l.domain[a] == 2 {
			flags = append(flags, a)
		}
	}
	room := mostFlagTables + 0.5
	for size := 4; size <= min(mostFlags, len(flags)); size++ {
		room -= combin.GeneralizedBinomial(float64(len(flags)), float64(size))
		if room < 0 {
			return
		}
		marginal.EachGroup(len(flags), size, func(group []int) {
			var list []int
			for _, k := range group {
				list = append(list, flags[k])
			}
			l.add(list...)
		})
	}
}

// candidateList is a list of tables of bounded size.
type candidateList struct {
	method method
	domain graphical.Domain
	label  int
	list   []candidate
	total  int
}

// add adds a table, unless the table or the list would become too large, or all its columns are
// known before a row is drawn.
func (l *candidateList) add(group ...int) {
	if len(group) == 1 || group[len(group)-1] >= l.method.known {
		l.addColumns(group, group)
	}
}

// addCoarse adds the table of a list of attributes with their coarse groups, if there are any.
func (l *candidateList) addCoarse(group ...int) {
	n := len(l.method.attributes)
	columns := slices.Clone(group)
	for k, a := range group {
		if l.domain[n+a] > 0 && a != l.label {
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
	weight := min(float64(len(group))/float64(l.method.order), 1)
	if l.label >= 0 && !slices.Contains(group, l.label) {
		weight /= l.method.classWeight
	}
	l.list = append(l.list,
		candidate{slices.Clone(group), slices.Clone(columns), l.total, int(cells), weight})
	l.total += int(cells)
}

// fits reports whether there is room for all groups of the given size of the first n attributes.
func (l *candidateList) fits(size, n int) bool {
	total := float64(l.total)
	marginal.EachGroup(n, size, func(group []int) {
		if cells := l.domain.Cells(group); cells <= mostTable {
			total += cells
		}
	})
	return total <= mostCandidateCells
}

// domainOf returns the number of groups of every attribute.
func domainOf(groups []marginal.Grouping) graphical.Domain {
	d := make(graphical.Domain, len(groups))
	for i, g := range groups {
		d[i] = g.Size
	}
	return d
}

// columnsOf returns the number of groups of every attribute, followed by the number of coarse
// groups of every attribute, which may be 0.
func columnsOf(groups []marginal.Grouping) graphical.Domain {
	d := domainOf(groups)
	for _, g := range groups {
		d = append(d, g.CoarseSize)
	}
	return d
}

// withCoarse appends the coarse groups of rows to their groups. It reuses the buffers.
func withCoarse(groups []marginal.Grouping, codes [][]uint16, buffers *[][]uint16) [][]uint16 {
	if *buffers == nil {
		*buffers = make([][]uint16, len(groups))
	}
	for j, g := range groups {
		coarse := (*buffers)[j][:0]
		if g.CoarseSize > 0 {
			for _, group := range codes[j] {
				coarse = append(coarse, g.Coarse[group])
			}
		}
		(*buffers)[j] = coarse
	}
	return slices.Concat(codes, *buffers)
}

// counter returns a counter of the cells of every candidate. Its numbers are private.
func (m method) counter(groups []marginal.Grouping) *marginal.Histogram {
	domain := columnsOf(groups)
	list := m.candidates(domain)
	total := 0
	for _, c := range list {
		total += c.cells
	}
	covers := newCovers(domain, groups, list)
	var buffers [][]uint16
	cells := func(codes [][]uint16, shares, counts []int64) {
		for j, g := range groups {
			for i, code := range codes[j] {
				codes[j][i] = g.Group[code]
			}
		}
		covers.count(withCoarse(groups, codes, &buffers), shares, counts)
	}
	return marginal.NewHistogram(m.attributes, cells,
		mechanism.NewFixedSum(total, marginal.TableGrid(1))).Completed(covers.sum)
}
