package baselines

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Condition conditions the model on the values that single columns may have, and on combinations of
// levels. The factors of groups and the choices within groups are weighted by the fraction of each
// code's values that is allowed. Numbers are drawn from the allowed parts of their cell.
// Combinations are conditioned on in tables_joint.go.
func (t *tableModel) Condition(list []records.Constraint) (synth.Model, []int, float64) {
	conditions, err := records.Conditions(t.schema, list)
	if err != nil {
		return t, nil, 1
	}
	joint, err := records.JointConditions(t.schema, list)
	if err != nil || len(conditions)+len(joint) == 0 {
		return t, nil, 1
	}
	out := *t
	out.codes, out.choices = slices.Clone(t.codes), slices.Clone(t.choices)
	out.spans = slices.Clone(t.spans)
	probability := 1.0
	var met []int
	for _, c := range conditions {
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

// attributeOf returns the index of a column's attribute. The class has the last index.
func (t *tableModel) attributeOf(column int) int {
	for j, b := range t.schema.Blocks() {
		if b.Column == column {
			return j
		}
	}
	return len(t.attributes) - 1 // the class
}

// condition conditions attribute j, and returns the probability of the condition.
func (t *tableModel) condition(j int, c records.Condition) float64 {
	a, g := t.attributes[j], t.groups[j]
	if !a.class() && !a.block.OneHot {
		t.spans[j] = c.Spans
	}
	weights := make([]float64, g.size)
	t.choices[j] = slices.Clone(t.choices[j])
	for group, codes := range t.codes[j] {
		parts, all, some := make([]float64, len(codes)), 0.0, 0.0
		below := 0.0
		for k, code := range codes {
			part := t.choices[j][group][k] - below // a Choice holds cumulative sums
			below = t.choices[j][group][k]
			parts[k] = part * a.allowed(code, c)
			all, some = all+part, some+parts[k]
		}
		if some > 0 {
			weights[group] = min(some/all, 1)
			t.choices[j][group] = network.NewChoice(parts)
		}
	}
	var p float64
	t.model, p = t.model.Weighted([]int{j}, weights)
	return p
}

// allowed returns the fraction of a code's values that a condition allows.
func (a attribute) allowed(code int, c records.Condition) float64 {
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	if a.class() {
		return is(c.Levels[code])
	}
	if a.block.OneHot {
		if code >= len(c.Levels) {
			return is(c.Missing)
		}
		return is(c.Levels[code])
	}
	last := a.codes - 1
	if a.missing {
		if code == last {
			return is(c.Missing)
		}
		last--
	}
	if a.cells > 0 && code > 0 && code < last {
		part := 0.0
		for _, s := range a.within(code, c.Spans) {
			part += (s[1] - s[0]) * float64(a.cells)
		}
		return min(part, 1)
	}
	x := float32(code) / float32(last)
	return is(slices.ContainsFunc(c.Spans,
		func(s records.Span) bool { return s.Lo <= x && x <= s.Hi }))
}

// within returns the parts of a cell whose numbers round to a float32 in one of the spans.
func (a attribute) within(code int, spans []records.Span) (parts [][2]float64) {
	from, to := float64(code-1)/float64(a.cells), float64(code)/float64(a.cells)
	for _, s := range spans {
		lo := (float64(math.Nextafter32(s.Lo, -1)) + float64(s.Lo)) / 2
		hi := (float64(math.Nextafter32(s.Hi, 2)) + float64(s.Hi)) / 2
		if lo, hi = max(lo, from), min(hi, to); lo < hi {
			parts = append(parts, [2]float64{lo, hi})
		}
	}
	return parts
}

// draw returns a random number, uniform in the parts of a cell that are in spans, or in the whole
// cell if spans is nil.
func (a attribute) draw(code int, spans []records.Span, rng *rand.Rand) float32 {
	u := rng.Float64()
	if spans == nil {
		return float32((float64(code-1) + u) / float64(a.cells))
	}
	parts := a.within(code, spans)
	width := 0.0
	for _, p := range parts {
		width += p[1] - p[0]
	}
	u *= width
	for i, p := range parts {
		if w := p[1] - p[0]; u < w || i == len(parts)-1 {
			return float32(p[0] + min(u, w))
		} else {
			u -= w
		}
	}
	return float32(float64(code-1) / float64(a.cells)) // no part of the cell is allowed
}
