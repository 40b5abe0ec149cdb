package sets

import (
	"slices"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Condition conditions the model on the items that sets must have. It conditions on items that sets
// must not have only if no set is truncated, because truncation may remove such an item from a
// longer set.
func (m *model) Condition(list []records.Constraint) (synth.Model, []int, float64) {
	have, lack := map[uint32]bool{}, map[uint32]bool{}
	var met []int
	for i, c := range list {
		items, there := c.Items()
		into := have
		if !there {
			if into = lack; m.cuts() {
				continue
			}
		}
		for _, item := range items {
			into[item] = true
		}
		met = append(met, i)
	}
	if len(met) == 0 {
		return m, nil, 1
	}
	for item := range have {
		if lack[item] {
			return m, met, 0
		}
	}
	given, probability := m.sampler.given(have, lack)
	if probability == 0 {
		return m, met, 0
	}
	return &model{schema: m.schema, sampler: given}, met, probability
}

// cuts reports whether the sampler can draw sets longer than the schema allows. Such sets are
// truncated.
func (m *model) cuts() bool { return m.schema.MaxItems() < m.schema.Dim() }

// given sets the probabilities of the items to 1 and 0.
func (p independentItems) given(have, lack map[uint32]bool) (sampler, float64) {
	out, probability := slices.Clone(p), 1.0
	for item := range out {
		q := min(max(p[item], 0), 1)
		switch {
		case have[uint32(item)]:
			out[item] = 1
			probability *= q
		case lack[uint32(item)]:
			out[item] = 0
			probability *= 1 - q
		}
	}
	return out, probability
}

// given keeps the sets of the domain that meet the condition.
func (d *domainWeights) given(have, lack map[uint32]bool) (sampler, float64) {
	all, part := 0.0, 0.0
	w := &weights{domain: d.weights.domain, p: slices.Clone(d.weights.p)}
	for i, set := range d.weights.domain {
		all += w.p[i]
		found := 0
		for _, item := range set {
			if have[item] {
				found++
			}
			if lack[item] {
				found = -1
				break
			}
		}
		if found != len(have) {
			w.p[i] = 0
		}
		part += w.p[i]
	}
	if part == 0 {
		return d, 0
	}
	w.sum()
	return &domainWeights{mwem: d.mwem, weights: w}, part / all
}
