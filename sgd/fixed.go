package sgd

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// fixedSum is the sum of a step's clipped gradients in fixed point. It holds Σ rᵢ for vectors rᵢ of
// whole units, each a function of record i's own gradient, and the addition is exact. So adding or
// removing record i changes the sum by exactly rᵢ, for every batch and every division into
// micro-batches. It remains to prove ‖rᵢ‖ ≤ bound:
//
// (1) The terms of record i are wᵢgᵢ with rows made odd (see device.Odd). This changes each term by
// a relative error of at most 2⁻²². The clip factor aims at a norm that is smaller than the target
// by 2⁻²⁰ of it.
//
// (2) Each of P elements is then rounded to whole units, once for each term. This changes an
// element by at most terms·unit/2, and the vector by at most terms·unit/2·√P. The target norm is
// the bound minus this change, that is the bound times 1 − shrink, with shrink =
// terms·unit·√P/(2·bound).
//
// (3) A chain of float32 multiply-adds is exact (see device.FixedSummer) while it stays below 2²²
// units. A record adds at most bound/unit + terms/2 to any element. Only the first and the last
// record of a chain can have some of their terms outside it; such a record adds at most
// reach·bound/unit + terms/2. A chain of n products holds terms of at most n records.
//
// (4) The total of an element stays below 2³¹ units for a number of records up to most. Before more
// records are added, the totals are carried over to float64 numbers, which hold 2⁵³ units exactly.
type fixedSum struct {
	be   device.FixedSummer
	form models.FixedForm
	one  device.Params // gradient of one record, if records are added one by one

	sum     device.Fixed // in the memory of the backend
	host    device.Fixed // sum itself, or what collect took from it; it has no carry of its own
	size    int
	rows    int // number of records in sum, without those in carry
	most    int
	shrink  float64
	carry   []float64
	carried bool
	dirty   bool // whether a unit may be nonzero

	reported, measured []float64   // squared norms of one example's rows, and of its gradient
	ones               [][]float32 // the rows' weights for each block
	kept               []float32   // the rows' weights
	w                  []float32
}

// A chain of leastChain products is fast enough. Chains longer than longChain are no faster.
// Between these two lengths, plan uses only units that reduce the target by at most mostShrink.
const leastChain, longChain, mostShrink = 8, 48, 0x1p-7

// plan chooses the unit and the length of chains for sums of sensitivity bound.
func (f *fixedSum) plan(bound float64) {
	_, exponent := math.Frexp(bound)
	f.sum.Chain = 0
	for k := 2; k < 22; k++ {
		unit := math.Ldexp(1, exponent-1+k-22)
		chain, shrink := f.chain(bound/unit), f.shrinkage(bound/unit)
		if f.sum.Chain >= leastChain && (shrink > mostShrink || f.sum.Chain >= longChain) {
			break
		}
		f.sum.Unit, f.sum.Chain, f.shrink = float32(unit), chain, shrink
	}
	f.sum.Limit = float64(f.form.Reach) * bound
	f.host.Unit = f.sum.Unit
	f.most = int((1<<31 - 1) / (bound/float64(f.sum.Unit) + float64(f.form.Terms)/2))
}

// chain returns the number of products in a chain that (3) allows, for a bound in units.
func (f *fixedSum) chain(bound float64) int {
	half := float64(f.form.Terms) / 2
	left := 1<<22 - 1 - 2*(float64(f.form.Reach)*bound+half)
	return max(int(left/(bound+half)), 0)
}

// shrinkage returns the value of shrink in (2), for a bound in units.
func (f *fixedSum) shrinkage(bound float64) float64 {
	return float64(f.form.Terms) * math.Sqrt(float64(f.size)) / (2 * bound) * (1 + 0x1p-40)
}

// begin clears the sum for a step of the given sensitivity.
func (f *fixedSum) begin(bound float64) {
	f.plan(bound)
	if f.dirty {
		f.collect()
		clear(f.host.Units)
	}
	f.dirty = true
	if f.carried {
		clear(f.carry)
	}
	f.rows, f.carried, f.host.Carry = 0, false, nil
}

// collect moves the units of a device to the host.
func (f *fixedSum) collect() {
	if f.sum.Mem != nil {
		f.host.Take(f.sum, 0, f.size)
	}
}

// clear zeroes the released units lo to hi−1 while they are still in the processor's cache. Call
// released after all units are cleared.
func (f *fixedSum) clear(lo, hi int) { clear(f.host.Units[lo:hi]) }

// released records that every unit was cleared.
func (f *fixedSum) released() { f.dirty = false }

// room carries the sum over if adding the given number of records could overflow it.
func (f *fixedSum) room(records int) {
	if f.rows += records; f.rows <= f.most {
		return
	}
	if f.carry == nil {
		f.carry = make([]float64, f.size)
	}
	f.collect()
	for i, v := range f.host.Units {
		f.carry[i] += float64(v)
	}
	clear(f.host.Units)
	f.rows, f.carried, f.host.Carry = records, true, f.carry
}

// weight returns a clip factor for rows of the sum, or of one in floating point if f is nil.
func (f *fixedSum) weight(factor float64) float32 {
	if f == nil {
		return weight(factor)
	}
	return device.Odd(weight(factor * (1 - f.shrink)))
}

// newFixedSum returns the fixed-point sum for the trainer's network. The network computes it, or
// this file adds record by record. For networks in the separate memory of a device without
// fixed-point sums, newFixedSum returns nil.
func newFixedSum(be device.Backend, net models.Network, grouped bool) *fixedSum {
	p, apart := net.Params(), net.Params().Flat.Mem != nil
	summer, ok := device.FixedSums(be)
	ok = ok && apart == (be.New(1, 1).Mem != nil)
	if apart && !ok {
		return nil
	}
	f := &fixedSum{form: formOf(net.Gradients(device.Batch{}), grouped), size: p.Len()}
	if !apart && (!ok || !f.form.Fixed()) {
		summer, _ = device.FixedSums(device.CPU())
		f.form = models.FixedForm{}
	}
	f.be, f.sum = summer, device.NewFixed(summer, p.Shapes...)
	if f.host = f.sum; apart {
		f.host = device.NewFixed(device.CPU(), p.Shapes...)
	}
	if !f.form.Fixed() {
		f.sumAlone(p)
	}
	return f
}

// makeRoom allocates the buffers for examples that are added one by one.
func (f *fixedSum) makeRoom(p device.Params) {
	f.one = device.NewParams(f.be, p.Shapes...)
	f.measured, f.w = make([]float64, 1), make([]float32, 1)
	f.ones = make([][]float32, len(p.Shapes))
}

func formOf(g models.Gradients, grouped bool) models.FixedForm {
	fixed, ok := g.(models.FixedGradients)
	if _, blocks := g.(models.FixedBlockGradients); !ok || grouped && !blocks {
		return models.FixedForm{}
	}
	return fixed.FixedForm()
}

// alone reports whether records are added one by one.
func (f *fixedSum) alone() bool { return f != nil && f.one.Flat.Cols > 0 }

// gradient stores the gradient of one example, the weighted sum of the gradients of its rows, in
// f.one and returns its squared norm. For a single row, it returns the larger of the measured norm
// and the norm that the network reports, or NaN. Among several rows, the rows whose norms are not
// finite are left out.
func (f *fixedSum) gradient(g models.Gradients, shares []float32) float64 {
	f.be.Fill(f.one.Flat, 0)
	f.reported = grow(f.reported, len(shares))
	g.SquaredNorms(f.reported)
	if len(shares) > 1 {
		shares = f.without(shares, f.reported)
	}
	g.AddWeightedSum(f.one, shares)
	f.be.RowSquaredNorms(f.measured[:1], f.one.Flat)
	if len(shares) > 1 {
		return f.measured[0]
	}
	return max(f.reported[0], f.measured[0])
}

// blockGradient is like gradient, block by block: it sets norms[b][0] to the squared norm of
// block b. The slices of norms must have room for all rows.
func (f *fixedSum) blockGradient(g models.BlockGradients, norms [][]float64, shares []float32) {
	f.be.Fill(f.one.Flat, 0)
	g.BlockSquaredNorms(norms)
	single := len(shares) == 1
	if !single {
		f.reported = grow(f.reported, len(shares))
		clear(f.reported)
		for _, block := range norms {
			for i, s := range block {
				f.reported[i] += s
			}
		}
		shares = f.without(shares, f.reported)
	}
	for b := range f.ones {
		f.ones[b] = shares
	}
	g.AddBlockSums(f.one, f.ones)
	for b := range norms {
		lo, hi := f.one.Range(b)
		f.be.RowSquaredNorms(f.measured[:1], f.one.Flat.Slice(0, 1, lo, hi))
		if single {
			f.measured[0] = max(norms[b][0], f.measured[0])
		}
		norms[b][0] = f.measured[0]
	}
}

// addOne adds f.one times weight to the sum.
func (f *fixedSum) addOne(weight float32) { f.addRange(weight, 0, f.size) }

func (f *fixedSum) addBlocks(weights [][]float32) {
	for b := range weights {
		lo, hi := f.one.Range(b)
		f.addRange(weights[b][0], lo, hi)
	}
}

func (f *fixedSum) addRange(weight float32, lo, hi int) {
	f.w[0] = weight
	b := device.FixedBlock{Rows: 1, Cols: hi - lo, Unit: f.sum.Unit, Chain: f.sum.Chain}
	if f.sum.Mem != nil {
		b.Mem = f.sum.Mem.Offset(lo)
	} else {
		b.Units = f.sum.Units[lo:hi]
	}
	f.be.AddFixedRows(f.w, f.one.Flat.Slice(0, 1, lo, hi), b)
}
