package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// shapeOf returns a column's score as text; "" without one.
func shapeOf(r *Report, column string) string {
	if r.Quality == nil {
		return ""
	}
	for _, s := range r.Quality.Synthetic.Shapes {
		if s.Column == column {
			return s.Metric + " " + number4(s.Score)
		}
	}
	return ""
}

// row is a line of a table of scores.
type row struct {
	Name               string
	Synthetic, HeldOut Number
}

func qualityRows(q *Quality) []row {
	held := QualityScores{ColumnShapes: none, ColumnPairTrends: none, AllPairs: none, Score: none}
	if q.HeldOut != nil {
		held = *q.HeldOut
	}
	s := q.Synthetic
	return []row{{"Overall score", s.Score, held.Score},
		{"Column Shapes", s.ColumnShapes, held.ColumnShapes},
		{"Column Pair Trends, of pairs that are related", s.ColumnPairTrends, held.ColumnPairTrends},
		{"Pair trends, of all pairs", s.AllPairs, held.AllPairs}}
}

// worst is the number of lines in the tables of the worst scores.
const worst = 10

func worstPairs(q *Quality) []Pair {
	list := slices.DeleteFunc(slices.Clone(q.Synthetic.Pairs),
		func(p Pair) bool { return p.Score.IsNone() })
	slices.SortStableFunc(list, func(a, b Pair) int { return cmp.Compare(a.Score, b.Score) })
	return list[:min(worst, len(list))]
}

func worstGroups(t *ThreeWay) []Group { return t.Groups[:min(worst, len(t.Groups))] }

// heatMost is the largest number of columns in a heat map.
const heatMost = 30

// heatColumns returns the columns of the heat map in the order of the schema: all of them, or the
// columns with the worst pairs.
func heatColumns(q *Quality) []string {
	var all []string
	least := map[string]Number{}
	for _, s := range q.Synthetic.Shapes {
		all = append(all, s.Column)
		least[s.Column] = 2
	}
	if len(all) <= heatMost {
		return all
	}
	for _, p := range q.Synthetic.Pairs {
		for _, c := range p.Columns {
			if p.Score < least[c] {
				least[c] = p.Score
			}
		}
	}
	kept := slices.Clone(all)
	slices.SortStableFunc(kept, func(a, b string) int { return cmp.Compare(least[a], least[b]) })
	kept = kept[:heatMost]
	return slices.DeleteFunc(all, func(c string) bool { return !slices.Contains(kept, c) })
}

func heatNames(q *Quality) string {
	var parts []string
	columns := heatColumns(q)
	for i, c := range columns {
		parts = append(parts, fmt.Sprintf("%d\u00a0=\u00a0%s", i+1, c))
	}
	text := strings.Join(parts, ", ") + "."
	if n := len(q.Synthetic.Shapes); n > len(columns) {
		text += fmt.Sprintf(" Of %d columns, the %d with the worst pairs are drawn.", n, len(columns))
	}
	return text
}
