package tables

import (
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Condition conditions the model on the values that single columns may have, and on combinations of
// levels. The factors of groups and the choices within groups are weighted by the fraction of each
// code's values that is allowed. Numbers are drawn from the allowed parts of their cell.
// Combinations are conditioned on in tables_joint.go.
func (t *model) Condition(list []records.Constraint) (synth.Model, []int, float64) {
	conditions, joint, err := records.Conditions(t.schema, list)
	if err != nil || len(conditions)+len(joint) == 0 {
		return t, nil, 1
	}
	out := *t
	for _, c := range conditions {
		out.before(c.Column)
	}
	for _, c := range joint {
		out.before(c.Columns...)
	}
	out.codes, out.choices = slices.Clone(t.codes), slices.Clone(t.choices)
	out.spans, out.parts = slices.Clone(t.spans), slices.Clone(t.parts)
	if !out.affords(nil) {
		return t, nil, 1
	}
	var given []graphical.Factor
	var met []int
	var target []float64 // the trend draws a target that meets its condition, given the row
	for _, c := range conditions {
		j := t.attributeOf(c.Column)
		weights := out.condition(j, c)
		if met = append(met, c.Met...); t.trend != nil && j == t.trend.Target {
			target = weights
			continue
		}
		given = append(given, graphical.Observation([]int{j}, weights))
	}
	for _, c := range joint {
		if f, done := out.combine(c, given); done {
			met, given = append(met, c.Met), append(given, f)
		}
	}
	slices.Sort(met)
	probability := 1.0
	if len(given) > 0 {
		out.model, probability = t.model.Given(given...)
	}
	if target != nil {
		law := out.model.Marginal([]int{t.trend.Target})
		probability *= min(floats.Dot(law, target), 1)
	}
	return &out, met, probability
}

// mostGiven bounds the cells of a model under conditions, beside which there are the model without
// them and, for rows of a class, a third. mostSpent bounds the time to see whether there is room
// for the joint conditions of a file, which takes as long for a factor as work on factorCells
// cells. The draw enforces conditions that are left out.
const mostGiven, mostSpent, factorCells = mostCells / 2, 1 << 24, 1 << 9

// affords reports whether there is room for a model with some more factors, and time to know.
func (t *model) affords(given []graphical.Factor, more ...[]int) bool {
	list := slices.Concat(t.model.Factors, given)
	if t.spent += factorCells * float64(len(list)); t.spent > mostSpent {
		return false
	}
	for _, f := range list {
		more = append(more, f.Attributes)
	}
	return graphical.Cells(t.model.Domain, more) <= mostGiven
}

// attributeOf returns the index of a column's attribute. The class has the last index.
func (t *model) attributeOf(column int) int {
	for j, b := range t.schema.Blocks() {
		if b.Column == column {
			return j
		}
	}
	return len(t.attributes) - 1 // the class
}

// condition conditions the choices within the groups of attribute j, and returns the probability of
// the condition given each group.
func (t *model) condition(j int, c records.Condition) []float64 {
	a, g := t.attributes[j], t.groups[j]
	t.parts[j] = maps.Clone(t.parts[j])
	if !a.Class() && !a.Block.OneHot {
		t.spans[j] = c.Spans
	}
	weights := make([]float64, g.Size)
	own := t.trend != nil && j == t.trend.Target
	if own {
		t.target = make([]float64, a.Codes)
	}
	t.choices[j] = slices.Clone(t.choices[j])
	for group, codes := range t.codes[j] {
		parts, all, some := make([]float64, len(codes)), 0.0, 0.0
		below := 0.0
		for k, code := range codes {
			part := t.choices[j][group][k] - below // a Choice holds cumulative sums
			below = t.choices[j][group][k]
			allowed := t.allowed(j, code, c)
			if parts[k] = part * allowed; own {
				t.target[code] = allowed
			}
			all, some = all+part, some+parts[k]
		}
		if some > 0 {
			weights[group] = min(some/all, 1)
			t.choices[j][group] = network.NewChoice(parts)
		}
	}
	return weights
}

// allowed returns the fraction of a code's values that a condition allows. It conditions the parts
// of a divided cell.
func (t *model) allowed(j, code int, c records.Condition) float64 {
	parts := t.parts[j][code]
	if parts == nil {
		return t.attributes[j].Allowed(code, c)
	}
	within, fraction := parts.Within(c.Spans)
	t.parts[j][code] = within
	return fraction
}
