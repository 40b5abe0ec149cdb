package tables

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
)

// A trend draws the number to be predicted given the rest of a row. The row's score is a sum of
// weights, one for each of the row's cells in some tables of one or two columns. The number's own
// score, which is a normal quantile of its rank, is the row's score plus a residual. All fields are
// released, or computed from what is released.
type trend struct {
	Target  int         `json:"target"`  // attribute
	Parts   []float64   `json:"parts"`   // fractions of the target's codes
	Tables  [][]int     `json:"tables"`  // attributes of each table
	Weights []float64   `json:"weights"` // of the cells of all tables, one table after the other
	Late    []int       `json:"late"`    // attributes that are drawn after the target; ascending
	Edges   []float64   `json:"edges"`   // between the ranges of row scores; ascending
	Scale   float64     `json:"scale"`   // standard deviation of residuals
	Spread  [][]float64 `json:"spread"`  // fractions of residuals in each range of row scores
}

const (
	mostTrendColumns = 128
	mostLate         = 4       // drawn after the target one row at a time
	mostLateCells    = 1 << 18 // of all of them; a table of these is made for each row
	mostTrendCells   = 1200    // cells of all columns' own tables; solving takes their cube
	mostOwnCodes     = 32      // of a column whose codes are not merged into groups
	mostPairSide     = 10      // groups of a column in a table of two, if it has many cells
	mostPairCells    = 200     // of such a table otherwise
	trendRanges      = 8       // of row scores
	trendResiduals   = 24      // intervals of residuals
	trendReach       = 4.0     // largest residual, in standard deviations
	mostScore        = 3.0
	leastTotal       = 1e-300
)

// trendGroups returns the groups of values that a trend has weights for: those of the graphical
// model, or each code for itself if there are few.
func trendGroups(attributes []marginal.Attribute, groups []marginal.Grouping) []marginal.Grouping {
	out := slices.Clone(groups)
	for k, a := range attributes {
		if !hasOwnCells(a) {
			continue
		}
		g := marginal.Grouping{Group: make([]uint16, a.Codes), Part: groups[k].Part, Size: a.Codes}
		for code := range g.Group {
			g.Group[code] = uint16(code)
		}
		out[k] = g
	}
	return out
}

// hasOwnCells reports whether each code of a column is a cell of a trend.
func hasOwnCells(a marginal.Attribute) bool { return a.Codes <= mostOwnCodes && !a.Target }

// sides returns the numbers of groups of two columns in a table of both. Neighbours are merged if
// the table would have more than mostPairCells cells.
func sides(a, b int) (int, int) {
	return min(a, max(mostPairCells/b, mostPairSide)), min(b, max(mostPairCells/a, mostPairSide))
}

// tableCells returns the number of cells of a trend's table.
func tableCells(d graphical.Domain, table []int) int {
	if len(table) == 1 {
		return d[table[0]]
	}
	a, b := sides(d[table[0]], d[table[1]])
	return a * b
}

// tablesCells returns the number of cells of all tables.
func tablesCells(d graphical.Domain, list [][]int) (n int) {
	for _, t := range list {
		n += tableCells(d, t)
	}
	return n
}

// size returns the number of sums of a pass: of the cells of tables or, without tables, of the
// counts of residuals.
func (t *trend) size(d graphical.Domain, list [][]int) int {
	if len(list) == 0 {
		return (len(t.Edges) + 1) * trendResiduals
	}
	return tablesCells(d, list)
}

// tableCell returns the cell of a row in a table.
func tableCell(d graphical.Domain, table []int, group func(a int) int) int {
	if len(table) == 1 {
		return group(table[0])
	}
	first, second := d[table[0]], d[table[1]]
	a, b := sides(first, second)
	return group(table[0])*a/first*b + group(table[1])*b/second
}

// score returns the score of a row.
func (t *trend) score(d graphical.Domain, group func(a int) int) (sum float64) {
	first := 0
	for _, table := range t.Tables {
		sum += t.Weights[first+tableCell(d, table, group)]
		first += tableCells(d, table)
	}
	return sum
}

// scores returns the normal quantiles of the middle ranks of codes, given the fraction of each. A
// missing number has the last code and the score 0.
func scores(a marginal.Attribute, part []float64) []float64 {
	out := make([]float64, len(part))
	total, below := 0.0, 0.0
	for _, p := range part[:a.Ordered()] {
		total += p
	}
	for code, p := range part[:a.Ordered()] {
		middle := min((below+p/2)/max(total, leastTotal), 1)
		out[code] = min(max(math.Sqrt2*math.Erfinv(2*middle-1), -mostScore), mostScore)
		below += p
	}
	return out
}

// width returns the width of an interval of residuals.
func (t *trend) width() float64 { return 2 * trendReach * t.Scale / trendResiduals }

// interval returns the interval of a residual.
func (t *trend) interval(residual float64) int {
	return int(min(max((residual+trendReach*t.Scale)/t.width(), 0), trendResiduals-1))
}

// rangeOf returns the range of a row's score.
func (t *trend) rangeOf(score float64) int {
	k, _ := slices.BinarySearch(t.Edges, score)
	return k
}

// validTables reports whether tables are of one or two attributes other than the target and others
// that are left out.
func validTables(d graphical.Domain, list [][]int, without ...int) bool {
	for _, table := range list {
		if len(table) < 1 || len(table) > 2 || len(table) == 2 && table[0] >= table[1] {
			return false
		}
		for _, a := range table {
			if a < 0 || a >= len(d) || slices.Contains(without, a) {
				return false
			}
		}
	}
	return len(list) <= mostTrendColumns*mostTrendColumns
}

// valid reports whether a plan for the attributes may have the trend, before it has residuals or
// with them.
func (t *trend) valid(attributes []marginal.Attribute, d graphical.Domain, whole bool) bool {
	if t == nil || t.Target < 0 || t.Target >= len(d) || !attributes[t.Target].Target ||
		len(d) > mostTrendColumns || len(t.Tables) > len(d) || len(t.Late) > mostLate ||
		len(t.Parts) != attributes[t.Target].Codes || !within(t.Parts, 0, 2) {
		return false
	}
	for k, a := range t.Late {
		if a < 0 || a >= len(d) || a == t.Target || k > 0 && a <= t.Late[k-1] {
			return false
		}
	}
	const largest = 1e9
	if d.Cells(t.Late) > mostLateCells || !validTables(d, t.Tables, append(t.Late, t.Target)...) ||
		len(t.Weights) != tablesCells(d, t.Tables) || !within(t.Weights, -largest, largest) ||
		len(t.Edges) >= trendRanges || !within(t.Edges, -largest, largest) ||
		!slices.IsSorted(t.Edges) || !(t.Scale >= leastScale && t.Scale <= mostScore) {
		return false
	}
	if !whole {
		return t.Spread == nil
	}
	for _, p := range t.Spread {
		if len(p) != trendResiduals || !within(p, 0, 1) || !(slices.Max(p) > 0) {
			return false
		}
	}
	return len(t.Spread) == len(t.Edges)+1
}

// within reports whether all numbers are from lo to hi, and none is NaN.
func within(list []float64, lo, hi float64) bool {
	return !slices.ContainsFunc(list, func(x float64) bool { return !(x >= lo && x <= hi) })
}
