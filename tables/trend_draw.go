package tables

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/network"
)

// redraw replaces the target's value and the late columns of rows that a graphical model drew. It
// is not safe for concurrent use.
type redraw struct {
	*trend
	intervals []network.Choice // of residuals, for each range
	domain    graphical.Domain
	group     []uint16       // of the target's codes
	below     []float64      // fraction of records up to each of them
	allowed   []float64      // of each code's values, relative to the largest; nil for all
	any       network.Choice // of an allowed code
	ordered   int
	order     []int // of the attributes of completer's rows
	row       []uint16
	groups    []uint16 // of the last row, if it was completed
	completed func(a int) int
	completer *graphical.Completer
}

// newRedraw returns the redraw of rows of a model. A condition allows a fraction of the values of
// each of the target's codes; nil means no condition.
func newRedraw(t *trend, m *graphical.Model, a marginal.Attribute, g marginal.Grouping,
	allowed []float64) *redraw {
	d := &redraw{trend: t, domain: m.Domain, group: g.Group, ordered: a.Ordered(),
		groups: make([]uint16, len(m.Domain))}
	d.completed = func(a int) int { return int(d.groups[a]) }
	for _, p := range t.Spread {
		d.intervals = append(d.intervals, network.NewChoice(p))
	}
	total, parts := 0.0, slices.Clone(t.Parts)
	for _, p := range parts[:d.ordered] {
		total += p
		d.below = append(d.below, total)
	}
	if allowed != nil {
		largest, some := slices.Max(allowed), 0.0
		for code, p := range allowed {
			d.allowed = append(d.allowed, p/largest)
			parts[code] *= p
			some += parts[code]
		}
		if !(some > 0) {
			copy(parts, allowed)
		}
		d.any = network.NewChoice(parts)
	}
	if len(t.Late) > 0 {
		for a := range m.Domain {
			if !slices.Contains(t.Late, a) {
				d.order = append(d.order, a)
			}
		}
		first := len(d.order)
		d.order = append(d.order, t.Late...)
		d.completer = reordered(m, d.order).Completer(first)
		d.row = make([]uint16, len(d.order))
	}
	return d
}

// fractions returns the fraction of rows with each code of an attribute: by the model for its
// groups, which know the sums of counts, and by the first release within each group.
func fractions(m *graphical.Model, target int, g marginal.Grouping) []float64 {
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

// mostTries is the largest number of rows that are drawn for one whose target meets a condition.
const mostTries = 1 << 12

// next returns the target's code and the groups of a row, given drawn rows. With a condition on the
// target it draws rows until one meets it; after mostTries, it keeps the row and draws the target
// without regard to it.
func (d *redraw) next(rows func() (group func(a int) int), rng *rand.Rand) (code int,
	group func(a int) int) {
	for try := 1; ; try++ {
		group = rows()
		code = d.code(group, rng)
		if d.allowed == nil || rng.Float64() < d.allowed[code] {
			break
		}
		if try == mostTries {
			code = d.any.Pick(rng, -1)
			break
		}
	}
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
	return code, d.completed
}

// code draws the target's code given a row. A missing number stays missing.
func (d *redraw) code(group func(a int) int, rng *rand.Rand) int {
	last := len(d.group) - 1
	if d.ordered <= last && group(d.Target) == int(d.group[last]) {
		return last
	}
	score := d.score(d.domain, group)
	k := d.intervals[d.rangeOf(score)].Pick(rng, -1)
	score += (float64(k)+rng.Float64())*d.width() - trendReach*d.Scale
	u := 0.5 * math.Erfc(-score/math.Sqrt2) * d.below[d.ordered-1]
	return min(sort.SearchFloat64s(d.below, u), d.ordered-1)
}

// reordered returns the factors of a model with its attributes in another order, without a tree.
func reordered(m *graphical.Model, order []int) *graphical.Model {
	out, values := &graphical.Model{}, make([]int, len(order))
	for _, a := range order {
		out.Domain = append(out.Domain, m.Domain[a])
	}
	for _, f := range m.Factors {
		to := graphical.Factor{Theta: make([]float64, len(f.Theta))}
		for k, a := range order {
			if slices.Contains(f.Attributes, a) {
				to.Attributes = append(to.Attributes, k)
			}
		}
		for cell, x := range f.Theta {
			for _, a := range slices.Backward(f.Attributes) {
				values[a], cell = cell%m.Domain[a], cell/m.Domain[a]
			}
			at := 0
			for _, k := range to.Attributes {
				at = at*out.Domain[k] + values[order[k]]
			}
			to.Theta[at] = x
		}
		out.Factors = append(out.Factors, to)
	}
	return out
}

// before removes the trend if one of the columns of a condition is drawn after the target. The
// graphical model alone then draws the rows.
func (t *model) before(columns ...int) {
	if t.trend != nil && slices.ContainsFunc(columns, func(c int) bool {
		return slices.Contains(t.trend.Late, t.attributeOf(c))
	}) {
		t.trend = nil
	}
}
