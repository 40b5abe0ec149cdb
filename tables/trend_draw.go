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
	of        *model
	cells     graphical.Domain
	codes     []int          // of a row; -1 for those that are drawn given their group
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
	ended     func() error // of the draw's context
	unmet     int          // rows whose target was set to meet a condition, without regard to the row
}

// newRedraw returns the redraw of rows that a graphical model of t draws. It writes codes. It gives
// up rows early once end returns an error.
func (t *model) newRedraw(m *graphical.Model, codes []int, end func() error) *redraw {
	target := t.trend.Target
	d := &redraw{trend: t.trend, of: t, codes: codes,
		cells: domainOf(trendGroups(t.attributes, t.groups)),
		group: t.groups[target].Group, ordered: t.attributes[target].Ordered(),
		groups: make([]uint16, len(m.Domain)), ended: end}
	d.completed = func(a int) int { return int(d.groups[a]) }
	for _, p := range d.Spread {
		d.intervals = append(d.intervals, network.NewChoice(p))
	}
	total, parts := 0.0, slices.Clone(d.Parts)
	for _, p := range parts[:d.ordered] {
		total += p
		d.below = append(d.below, total)
	}
	if allowed := t.target; allowed != nil {
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
	if len(d.Late) > 0 {
		for a := range m.Domain {
			if !slices.Contains(d.Late, a) {
				d.order = append(d.order, a)
			}
		}
		first := len(d.order)
		d.order = append(d.order, d.Late...)
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

const triesAtOnce = 1 << 4 // after which the context is asked

// next sets the codes of the target and of the columns that it depends on, and returns the groups
// of a row, given drawn rows. With a condition on the target it draws rows until one meets it;
// after mostTries or the end of the draw's context, it keeps the row and draws the target without
// regard to it.
func (d *redraw) next(rows func() (group func(a int) int), rng *rand.Rand) (group func(a int) int) {
	code := 0
	for try := 1; ; try++ {
		group = rows()
		d.early(group, rng)
		code = d.code(group, rng)
		if d.allowed == nil || rng.Float64() < d.allowed[code] {
			break
		}
		if try == mostTries || try%triesAtOnce == 0 && d.ended() != nil {
			code = d.any.Pick(rng, -1)
			d.unmet++
			break
		}
	}
	d.codes[d.Target] = code
	if d.completer == nil {
		return group
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
	return d.completed
}

// early draws the codes of the columns that the target depends on, where a cell is a code.
func (d *redraw) early(group func(a int) int, rng *rand.Rand) {
	d.of.drawTogether(group, d.codes, rng)
	for j, a := range d.of.attributes {
		if d.codes[j] < 0 && hasOwnCells(a) && !slices.Contains(d.Late, j) {
			d.codes[j] = d.of.pick(j, group(j), rng)
		}
	}
}

// cell returns the cell of a column.
func (d *redraw) cell(group func(a int) int, a int) int {
	if hasOwnCells(d.of.attributes[a]) {
		return d.codes[a]
	}
	return group(a)
}

// code draws the target's code given a row. A missing number stays missing.
func (d *redraw) code(group func(a int) int, rng *rand.Rand) int {
	last := len(d.group) - 1
	if d.ordered <= last && group(d.Target) == int(d.group[last]) {
		return last
	}
	score := d.score(d.cells, func(a int) int { return d.cell(group, a) })
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
