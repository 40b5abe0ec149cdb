package device

import (
	"fmt"
	"math"
)

// checkBlocks panics unless the number of rows of m is blocks·block.
func checkBlocks(what string, block, blocks int, m Matrix) {
	m.check(what)
	if block < 0 || block*blocks != m.Rows {
		panic(fmt.Sprintf("device: %s: an operand without %d rows for each block", what, block))
	}
}

// BlockProductNorms sets dst[i] to ‖AᵢᵀDᵢ‖², rounded up.
//
// For blocks of p rows, the product costs p·in·out multiplications and the two Gram matrices cost
// p²·(in+out). The cheaper of the two is computed, in scratch memory that all blocks share.
//
// Source for the Gram matrices: ‖AᵀD‖² = Σ (AAᵀ ∘ DDᵀ); Rochette, Manoel and Tramel, "Efficient
// Per-Example Gradient Computations in Convolutional Neural Networks", 2019, who compare the two
// methods.
func (c *cpu) BlockProductNorms(dst []float64, block int, a, d Matrix) {
	checkBlocks("BlockProductNorms", block, len(dst), a)
	checkBlocks("BlockProductNorms", block, len(dst), d)
	if block == 0 || a.Cols == 0 || d.Cols == 0 {
		clear(dst)
		return
	}
	j := c.job()
	j.sums, j.a, j.b, j.block = dst, a, d, block
	do, cost := doMaterialisedNorms, block*a.Cols*d.Cols
	if gram := block * block * (a.Cols + d.Cols); gram <= cost {
		do, cost = doGramNorms, gram
	}
	c.rows(j, do, len(dst), cost/8)
	c.done(j)
}

// roundoff bounds the relative error of a sum of k products in float32.
func roundoff(k int) float64 { return float64(k+8) * 0x1p-24 }

// underflow bounds the absolute error of a sum of k products in float32 if terms are too small for
// a normal number. Multiplied by a large number, this error can become a norm of any size.
func underflow(k int) float64 { return float64(k+8) * 0x1p-149 }

// blockSizes returns Σ‖aᵢ‖, Σ‖dᵢ‖ and Σ‖aᵢ‖‖dᵢ‖ over the rows of two blocks.
func blockSizes(k *kernels, a, d Matrix) (sa, sd, both float64) {
	for r := range a.Rows {
		x, y := a.Data[r*a.Stride:][:a.Cols], d.Data[r*d.Stride:][:d.Cols]
		na, nd := 0.0, math.Sqrt(k.dot(y, y))
		if len(x) > 1 {
			na = math.Sqrt(k.dot(x, x))
		} else {
			na = math.Abs(float64(x[0])) // such as the 1 of a bias
		}
		sa, sd, both = sa+na, sd+nd, both+float64(na*nd)
	}
	return sa, sd, both
}

func doGramNorms(j *job, lo, hi int) {
	p := j.block
	spare := j.owner.buffer(2 * p * p)
	ga, gd := HostMatrix(p, p, *spare), HostMatrix(p, p, (*spare)[p*p:])
	e, f, r := roundoff(j.a.Cols), roundoff(j.b.Cols), roundoff(p)
	ue, uf := underflow(j.a.Cols), underflow(j.b.Cols)
	t := underflow(p) * math.Sqrt(float64(j.a.Cols)*float64(j.b.Cols))
	for i := lo; i < hi; i++ {
		a, d := j.a.RowRange(i*p, (i+1)*p), j.b.RowRange(i*p, (i+1)*p)
		j.owner.Gemm(false, true, 1, a, a, 0, ga)
		j.owner.Gemm(false, true, 1, d, d, 0, gd)
		// The error of an entry of AAᵀ is at most e‖a‖‖a′‖ + ue. The error of an entry of DDᵀ is at most
		// f‖d‖‖d′‖ + uf. So the error of the sum is at most (e+f+ef)(Σ‖a‖‖d‖)² + (1+f)ue(Σ‖d‖)² +
		// (1+e)uf(Σ‖a‖)² + ue·uf·p².
		//
		// What is added to sums is the float32 product. Its norm is larger by at most rΣ‖a‖‖d‖ + t, as
		// in doMaterialisedNorms, and its square by at most (2r+r²+2t)(Σ‖a‖‖d‖)² + 2t + t².
		sa, sd, sizes := blockSizes(j.kernels, a, d)
		relative := float64((e+f+float64(e*f))*(1+float64(2*(e+f)))) + float64(2*r+float64(r*r)+2*t)
		slack := float64(relative * sizes * sizes)
		tiny := float64((1+f)*ue*sd*sd) + float64((1+e)*uf*sa*sa) +
			float64(ue*uf*float64(p)*float64(p)) + float64(2*t+float64(t*t))
		j.sums[i] = max(j.kernels.dot(ga.Data, gd.Data), 0) + slack + tiny
	}
	j.owner.panels.put(spare)
}

func doMaterialisedNorms(j *job, lo, hi int) {
	p, in, out := j.block, j.a.Cols, j.b.Cols
	spare := j.owner.buffer(in * out)
	g := HostMatrix(in, out, *spare)
	for i := lo; i < hi; i++ {
		a, d := j.a.RowRange(i*p, (i+1)*p), j.b.RowRange(i*p, (i+1)*p)
		j.owner.Gemm(true, false, 1, a, d, 0, g)
		// The error of element (k, l) is at most roundoff·Σ|aₖ||dₗ| + underflow, with the sum over the
		// rows. So the error of the norm is at most roundoff·Σ‖a‖‖d‖ + underflow·√(in·out).
		_, _, sizes := blockSizes(j.kernels, a, d)
		norm := math.Sqrt(j.kernels.dot(g.Data, g.Data)) + float64(roundoff(p)*sizes) +
			float64(underflow(p)*math.Sqrt(float64(in)*float64(out)))
		j.sums[i] = norm * norm
	}
	j.owner.panels.put(spare)
}
