package dpgm

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// FixedForm returns a form that is valid for all parts, or the zero value if a part has none. It is
// computed only once, because it needs gradients of every part.
func (g *mixtureGradients) FixedForm() models.FixedForm {
	if g.form == nil {
		form := g.worstForm()
		g.form = &form
	}
	return *g.form
}

func (g *mixtureGradients) worstForm() models.FixedForm {
	form := models.FixedForm{Terms: 1, Reach: 1}
	for _, p := range g.parts {
		of, ok := p.Gradients(device.Batch{}).(models.FixedGradients)
		if !ok {
			return models.FixedForm{}
		}
		_, finishes := of.(models.FixedFinisher)
		if _, asNetwork := p.(models.FixedFinisher); finishes && !asNetwork {
			// A part without records in a batch has no gradients, so its sum could not be started or
			// finished.
			return models.FixedForm{}
		}
		form = form.Worst(of.FixedForm())
	}
	return form
}

// AddFixedSum adds each part's sum to its own block of dst.
func (g *mixtureGradients) AddFixedSum(dst device.Fixed, weights []float32) {
	g.weight = permuted(g.weight, weights, g.order)
	for c, part := range g.grads {
		if part, ok := part.(models.FixedGradients); ok {
			part.AddFixedSum(g.fixedView(dst, c), g.weight[g.bounds[c]:g.bounds[c+1]])
		}
	}
}

// StartFixedSum starts the sums of all parts.
func (g *mixtureGradients) StartFixedSum() {
	for _, p := range g.parts {
		if f, ok := p.(models.FixedFinisher); ok {
			f.StartFixedSum()
		}
	}
}

// FinishFixedSum finishes the sums of all parts, even of parts without a record.
func (g *mixtureGradients) FinishFixedSum(dst device.Fixed) {
	for c, p := range g.parts {
		if f, ok := p.(models.FixedFinisher); ok {
			f.FinishFixedSum(g.fixedView(dst, c))
		}
	}
}

// fixedView returns part c's blocks of dst. It keeps the views for later calls, because a training
// loop uses the same dst in every step.
func (g *mixtureGradients) fixedView(dst device.Fixed, c int) device.Fixed {
	if len(g.fixed) == 0 || !sameMemory(g.fixed[0], dst) {
		g.fixed = g.fixed[:0]
		for _, s := range g.spans {
			g.fixed = append(g.fixed, dst.Sub(s.lo, s.hi))
		}
	}
	v := g.fixed[c]
	v.Unit, v.Chain, v.Limit, v.Carry = dst.Unit, dst.Chain, dst.Limit, nil
	if dst.Carry != nil {
		v.Carry = dst.Sub(g.spans[c].lo, g.spans[c].hi).Carry
	}
	return v
}

// sameMemory reports whether two sums, of which neither is empty, begin at the same place.
func sameMemory(a, b device.Fixed) bool {
	if a.Mem != nil || b.Mem != nil {
		return a.Mem == b.Mem
	}
	return &a.Units[0] == &b.Units[0]
}
