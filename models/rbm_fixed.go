package models

import (
	"math"
	"math/bits"

	"github.com/seed7ba64551/privgen/device"
)

// shares is the exact sum Σwᵢ of weights that are odd float32 numbers (see device.Odd), as an
// integer of 128 bits.
type shares struct{ high, low uint64 }

// shareBits is the number of binary digits of a share after the point, in units of the sum. A
// weight is at most the clip norm, which is below 2²² units, so a share has at most 86 bits.
const shareBits = 64

// add adds w/unit·2^shareBits. If this number is not an integer, or is too large, add returns false
// and adds nothing.
func (s *shares) add(w, unit float32) (fits bool) {
	if w == 0 {
		return true
	}
	fraction, exponent := math.Frexp(float64(w) / float64(unit))
	shift := exponent - 24 + shareBits
	if shift < 0 || shift > 63 {
		return false
	}
	m := uint64(fraction * (1 << 24))
	var carry uint64
	s.low, carry = bits.Add64(s.low, m<<shift, 0)
	s.high += m>>(64-shift) + carry
	return true
}

// units returns the sum in units. The result has up to three float64 roundings.
func (s *shares) units() float64 {
	return math.Ldexp(float64(s.high), 64-shareBits) + math.Ldexp(float64(s.low), -shareBits)
}

// FixedForm counts two kinds of rounding. First, each element of wᵢv′ᵢh′ᵢᵀ is rounded by at most
// half a unit. Second, FinishFixedSum once adds the rounded term (Σw)·N′. If a record is added or
// removed, this term changes by wᵢN′ with an error of less than 2 units. The error comes from two
// roundings to whole units and from float64. The float64 error is below 2⁻⁵⁰ of a term below 2⁴⁸
// units.
func (n *rbm) FixedForm() FixedForm { return fixedForm(n.be, FixedForm{Terms: 4, Reach: 1}) }

// StartFixedSum sets the sum of weights to 0.
func (n *rbm) StartFixedSum() { n.total = shares{} }

// AddFixedSum adds −Σ wᵢ v′ᵢh′ᵢᵀ to the three blocks of dst, and Σw to the sum of weights.
func (n *rbm) AddFixedSum(dst device.Fixed, weights []float32) {
	be, ok := device.FixedSums(n.be)
	if !ok || n.rows == 0 {
		return
	}
	n.dropNonFinite(weights)
	vv := n.vv[:n.rows]
	n.visibleNorms(vv)
	for i, w := range weights[:n.rows] {
		// Hidden units are at most 1, so no element of v′h′ᵀ exceeds ‖v′‖.
		w = within(w, math.Sqrt(vv[i]+1), dst.Limit)
		if n.negated[i] = -w; !n.total.add(w, dst.Unit) {
			n.negated[i] = 0
		}
	}
	negated, h, work := n.negated[:n.rows], n.units(n.hidden), n.units(n.work)
	be.AddFixedRows(negated, h, dst.Block(rbmHidden))
	be.ScaleOdd(work, h, negated)
	if n.x.sparse == nil {
		be.AddFixedProduct(n.x.dense, work, dst.Block(rbmWeights))
		be.AddFixedRows(negated, n.x.dense, dst.Block(rbmVisible))
		return
	}
	be.AddFixedSparse(n.x.sparse, work, dst.Block(rbmWeights))
	column, visible := n.work.Slice(0, n.rows, 0, 1), dst.Block(rbmVisible)
	be.Fill(column, 1)
	be.ScaleOdd(column, column, negated)
	visible.Rows, visible.Cols = visible.Cols, 1
	be.AddFixedSparse(n.x.sparse, column, visible)
}

// FinishFixedSum adds (Σw)·N′.
func (n *rbm) FinishFixedSum(dst device.Fixed) {
	total := n.total.units()
	n.total = shares{}
	if total == 0 {
		return
	}
	last := n.arch.Hidden
	inner, border := toHost(n.be, n.chains.inner, nil), toHost(n.be, n.chains.border, nil)
	lo := 0
	for k := range n.visible.Dim {
		lo = addRounded(dst, lo, inner.Row(k)[:last], total)
	}
	for k := range n.visible.Dim {
		lo = addRounded(dst, lo, inner.Row(k)[last:], total)
	}
	addRounded(dst, lo, border.Row(0)[:last], total)
}

// addRounded adds total times x, rounded, to the elements of dst that begin at lo. It returns the
// index after the last of these elements.
func addRounded(dst device.Fixed, lo int, x []float32, total float64) int {
	for i, v := range x {
		r := math.RoundToEven(total * float64(v))
		if dst.Carry != nil {
			dst.Carry[lo+i] += r
		} else {
			dst.Units[lo+i] += int32(int64(r))
		}
	}
	return lo + len(x)
}
