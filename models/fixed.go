package models

import "github.com/seed7ba64551/privgen/device"

// FixedGradients are gradients whose weighted sum can be computed in fixed point. One record
// changes the sum by integers that depend on this record alone, whatever the other records and
// their order. If gradients do not implement this interface, private training adds them record by
// record. This costs a pass over all parameters for each record.
type FixedGradients interface {
	Gradients
	// FixedForm states how the sum rounds a record's gradient. It returns the zero FixedForm if no
	// fixed-point sum is available, for example on a backend that is not a device.FixedSummer.
	FixedForm() FixedForm
	// AddFixedSum adds Σ wᵢ gᵢ to dst, with the rules of AddWeightedSum.
	//
	// Guarantee: the vector added for record i is a function of gᵢ and wᵢ alone. Suppose that wᵢ is
	// odd (see device.Odd) and at most C/‖gᵢ‖, where C is the clip norm for which dst.Chain was
	// computed. Then each element of the vector differs from the element of wᵢgᵢ by at most Terms/2
	// units.
	AddFixedSum(dst device.Fixed, weights []float32)
}

// FixedBlockGradients are FixedGradients that distinguish the blocks of Params.
type FixedBlockGradients interface {
	FixedGradients
	BlockGradients
	// AddFixedBlockSums adds Σ weights[b][i]·gᵢ to block b of dst, with the rules of AddFixedSum and
	// AddBlockSums.
	AddFixedBlockSums(dst device.Fixed, weights [][]float32)
}

// FixedFinisher are FixedGradients with a part of the sum that is computed once, after all records
// of a step. Private training calls StartFixedSum before the first AddFixedSum of a step and
// FinishFixedSum after the last.
type FixedFinisher interface {
	FixedGradients
	StartFixedSum()
	// FinishFixedSum adds to dst, which is in host memory, the part that depends on all calls of
	// AddFixedSum since StartFixedSum.
	FinishFixedSum(dst device.Fixed)
}

// FixedForm states how a sum in fixed point rounds one record's gradient.
type FixedForm struct {
	// Terms is the largest number of products rounded for one element of one record's gradient.
	Terms int
	// Reach bounds the partial sums of one record's terms. No partial sum, in any order of the terms,
	// exceeds dst.Limit, even if the terms cancel. dst.Limit is Reach times the clip norm. Records
	// that would exceed this limit get a smaller weight.
	Reach int
}

// Fixed reports whether a sum in fixed point is available.
func (f FixedForm) Fixed() bool { return f.Terms > 0 }

// Worst returns a form that bounds gradients of either form.
func (f FixedForm) Worst(g FixedForm) FixedForm {
	if !f.Fixed() || !g.Fixed() {
		return FixedForm{}
	}
	return FixedForm{max(f.Terms, g.Terms), max(f.Reach, g.Reach)}
}

// fixedForm returns form if the backend computes sums in fixed point, and the zero FixedForm
// otherwise.
func fixedForm(be device.Backend, form FixedForm) FixedForm {
	if _, ok := device.FixedSums(be); !ok {
		return FixedForm{}
	}
	return form
}

// oneTerm is the form of dense layers, in which a record adds one product to each element. It is
// also the form of layers whose gradients are computed record by record.
var oneTerm = FixedForm{Terms: 1, Reach: 1}

// within returns weight, or a smaller weight if terms of the given size would exceed limit. The
// weight scales the record's whole row, so the norm of the row only decreases.
func within(weight float32, size, limit float64) float32 {
	if float64(weight)*size <= limit {
		return weight
	}
	return device.Odd(float32(limit / size))
}
