package tables

import (
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

// joint is a condition on the codes of several attributes together. Given the groups of a row's
// values, the codes are drawn from the combinations in these groups.
type joint struct {
	attributes []int            // ascending
	within     map[int]combined // by the cell of the groups; the last attribute varies fastest
}

// combined are the combinations in one cell of groups.
type combined struct {
	rows   [][]int // of codes
	choice network.Choice
}

// combine returns the factor of a condition on combinations: for each cell of the columns' groups,
// the probability of an allowed combination given these groups. Other factors are given already.
//
// It changes nothing and reports false in three cases. The model's tree has no room for
// the columns. A column's codes are cells of several values. Or an earlier joint condition has a
// column in common, and the groups of this column hold several codes.
func (t *model) combine(c records.JointCondition, given []graphical.Factor) (f graphical.Factor,
	done bool) {
	order := make([]int, len(c.Columns))
	at := make([]int, len(c.Columns))
	for k, column := range c.Columns {
		order[k], at[k] = k, t.attributeOf(column)
	}
	slices.SortFunc(order, func(a, b int) int { return at[a] - at[b] })
	j := joint{within: map[int]combined{}}
	for _, k := range order {
		a := at[k]
		j.attributes = append(j.attributes, a)
		if t.attributes[a].Cells > 0 || t.trend != nil && a == t.trend.Target {
			return f, false
		}
		bound := slices.ContainsFunc(t.joints, func(o joint) bool {
			return slices.Contains(o.attributes, a)
		})
		if bound && slices.ContainsFunc(t.codes[a], func(codes []int) bool { return len(codes) > 1 }) {
			return f, false
		}
	}
	domain := t.model.Domain
	if domain.Cells(j.attributes) > mostTable || !t.affords(given, j.attributes) {
		return f, false
	}
	weights := make([]float64, int(domain.Cells(j.attributes)))
	parts := make(map[int][]float64, len(weights))
	for _, row := range c.Rows {
		codes, cell, part := make([]int, len(order)), 0, 1.0
		for i, k := range order {
			a := j.attributes[i]
			codes[i] = row[k] // a level's code is its index, and the last code is a missing value
			group := int(t.groups[a].Group[row[k]])
			cell = cell*domain[a] + group
			part *= t.partOf(a, group, row[k])
		}
		if part == 0 {
			continue
		}
		in := j.within[cell]
		in.rows = append(in.rows, codes)
		j.within[cell], parts[cell] = in, append(parts[cell], part)
		weights[cell] = min(weights[cell]+part, 1)
	}
	for cell, list := range parts {
		in := j.within[cell]
		in.choice = network.NewChoice(list)
		j.within[cell] = in
	}
	t.joints = append(slices.Clone(t.joints), j)
	return graphical.Observation(j.attributes, weights), true
}

// partOf returns the fraction of its group that a code has.
func (t *model) partOf(attribute, group, code int) float64 {
	choice := t.choices[attribute][group]
	k, _ := slices.BinarySearch(t.codes[attribute][group], code) // ascending
	below := 0.0
	if k > 0 {
		below = choice[k-1]
	}
	return (choice[k] - below) / choice[len(choice)-1]
}

// draw sets the codes of the columns that are bound together, given the groups of a row.
func (j joint) draw(d graphical.Domain, group func(attribute int) int, codes []int,
	rng *rand.Rand) {
	cell := 0
	for _, a := range j.attributes {
		cell = cell*d[a] + group(a)
	}
	in, there := j.within[cell]
	if !there { // can only result from rounding; the draw enforces the constraint
		return
	}
	for i, code := range in.rows[in.choice.Pick(rng, -1)] {
		codes[j.attributes[i]] = code
	}
}
