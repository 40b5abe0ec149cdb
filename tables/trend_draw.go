package tables

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

// trendDrawer draws scores of the target.
type trendDrawer struct {
	*trend
	choices []network.Choice // of intervals, for each range
}

func (t *trend) drawer() trendDrawer {
	d := trendDrawer{trend: t}
	for _, p := range t.Spread {
		d.choices = append(d.choices, network.NewChoice(p))
	}
	return d
}

// scoreOf draws the target's score, given the score of a row.
func (d trendDrawer) scoreOf(score float64, rng *rand.Rand) float64 {
	k := d.choices[d.rangeOf(score)].Pick(rng, -1)
	return score + (float64(k)+rng.Float64())*d.width() - trendReach*d.Scale
}

// redraw replaces the target's value and the late columns of rows that a graphical model drew. It
// is not safe for concurrent use.
type redraw struct {
	trendDrawer
	domain    graphical.Domain
	group     []uint16  // of the target's codes
	below     []float64 // fraction of records up to each of them
	ordered   int
	order     []int // of the attributes of completer's rows
	row       []uint16
	groups    []uint16 // of late attributes
	completer *graphical.Completer
}

func newRedraw(t *trend, m *graphical.Model, a marginal.Attribute, g marginal.Grouping) *redraw {
	d := &redraw{trendDrawer: t.drawer(), domain: m.Domain, group: g.Group, ordered: a.Ordered(),
		groups: make([]uint16, len(m.Domain))}
	total := 0.0
	for _, p := range targetFractions(m, t.Target, g)[:d.ordered] {
		total += p
		d.below = append(d.below, total)
	}
	if len(t.Late) > 0 {
		for a := range m.Domain {
			if !slices.Contains(t.Late, a) {
				d.order = append(d.order, a)
			}
		}
		d.completer = reordered(m, append(d.order, t.Late...)).Completer(len(d.order))
		d.order = append(d.order, t.Late...)
		d.row = make([]uint16, len(d.order))
	}
	return d
}

// targetFractions returns the fraction of rows with each code of an attribute: by the model for its
// groups, which know the sums of counts, and by the first release within each group.
func targetFractions(m *graphical.Model, target int, g marginal.Grouping) []float64 {
	groups, sums := m.Marginal([]int{target}), make([]float64, g.Size)
	for code, p := range g.Part {
		sums[g.Group[code]] += p
	}
	out := make([]float64, len(g.Part))
	for code, p := range g.Part {
		if k := g.Group[code]; sums[k] > 0 {
			out[code] = groups[k] * p / sums[k]
		}
	}
	return out
}

// next returns the target's code and the groups of a row, given those of a drawn row. A missing
// number stays missing, with the code -1.
func (d *redraw) next(group func(a int) int, rng *rand.Rand) (code int, _ func(a int) int) {
	if d.ordered < len(d.group) && group(d.Target) == int(d.group[len(d.group)-1]) {
		return -1, group
	}
	score := d.scoreOf(d.score(d.domain, group), rng)
	u := 0.5 * math.Erfc(-score/math.Sqrt2) * d.below[d.ordered-1]
	code = min(sort.SearchFloat64s(d.below, u), d.ordered-1)
	if d.completer == nil {
		return code, group
	}
	for k, a := range d.order {
		d.row[k] = uint16(group(a))
		if a == d.Target {
			d.row[k] = d.group[code]
		}
	}
	d.completer.Complete(rng, d.row)
	for k, a := range d.order {
		d.groups[a] = d.row[k]
	}
	return code, func(a int) int { return int(d.groups[a]) }
}

// reordered returns the model with its attributes in another order.
func reordered(m *graphical.Model, order []int) *graphical.Model {
	domain, position := make(graphical.Domain, len(order)), make([]int, len(order))
	for k, a := range order {
		domain[k], position[a] = m.Domain[a], k
	}
	var factors []graphical.Factor
	for _, f := range m.Factors {
		to := graphical.Factor{Theta: make([]float64, len(f.Theta))}
		for _, a := range f.Attributes {
			to.Attributes = append(to.Attributes, position[a])
		}
		slices.Sort(to.Attributes)
		values := make([]int, len(order))
		for cell, x := range f.Theta {
			for k := len(f.Attributes) - 1; k >= 0; k-- {
				n := m.Domain[f.Attributes[k]]
				values[position[f.Attributes[k]]], cell = cell%n, cell/n
			}
			at := 0
			for _, a := range to.Attributes {
				at = at*domain[a] + values[a]
			}
			to.Theta[at] = x
		}
		factors = append(factors, to)
	}
	return graphical.NewModel(domain, factors)
}

// untrended removes the trend from out if a condition is on the target or on a column that is drawn
// after it. The graphical model alone then draws the rows, since the trend cannot draw the columns
// before the target given the target.
func (t *model) untrended(out *model, single []records.Condition, joint []records.JointCondition) {
	if t.trend == nil {
		return
	}
	var columns []int
	for _, c := range single {
		columns = append(columns, c.Column)
	}
	for _, c := range joint {
		columns = append(columns, c.Columns...)
	}
	for _, c := range columns {
		if a := t.attributeOf(c); a == t.trend.Target || slices.Contains(t.trend.Late, a) {
			out.trend = nil
		}
	}
}
