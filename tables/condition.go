package tables

import (
	"maps"
	"slices"

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
	conditions, err := records.Conditions(t.schema, list)
	if err != nil {
		return t, nil, 1
	}
	joint, err := records.JointConditions(t.schema, list)
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
	probability := 1.0
	var met []int
	for _, c := range conditions {
		if !out.affords(nil) {
			continue
		}
		met = append(met, c.Met...)
		p := out.condition(t.attributeOf(c.Column), c)
		if probability *= p; probability == 0 {
			break
		}
	}
	for _, c := range joint {
		if probability == 0 {
			break
		}
		if p, done := out.combine(c); done {
			met = append(met, c.Met)
			probability *= p
		}
	}
	slices.Sort(met)
	return &out, met, probability
}

// mostSpent bounds the time that conditions take, of which a file may hold a thousand. Each makes a
// new model, for which a factor takes as long as factorCells cells. The draw enforces conditions
// that are left out.
const mostSpent, factorCells = 1 << 24, 1 << 9

// affords reports whether there is room and time for the model of another condition, on the given
// attributes if they are more than one.
func (t *model) affords(attributes []int) bool {
	if t.spent += factorCells * float64(len(t.model.Factors)); t.spent > mostSpent {
		return false
	}
	groups := [][]int{attributes}
	for _, f := range t.model.Factors {
		groups = append(groups, f.Attributes)
	}
	cells := graphical.Cells(t.model.Domain, groups)
	if cells <= mostCells {
		t.spent += cells
	}
	return cells <= mostCells
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

// condition conditions attribute j, and returns the probability of the condition.
func (t *model) condition(j int, c records.Condition) float64 {
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
	next, p := t.model.Weighted([]int{j}, weights)
	if !own { // the trend draws a target that meets the condition, given the row
		t.model = next
	}
	return p
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
