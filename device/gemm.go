package device

import "fmt"

// product is the operation C = α op(A) op(B) + β C, whose operands are accessed by strides.
type product struct {
	m, n, k     int
	transA      bool
	alpha, beta float32
	a, b        []float32
	ar, ak      int // numbers between rows of op(A), and between its columns
	bk, bn      int // numbers between rows of op(B), and between its columns
	c           []float32
	ldc         int
	origin      int // bits of the origin of a sum in whole units, 0 if C holds float32 numbers
	chain       int // largest number of products added up from the origin

	block blocking
}

// Gemm sets C = α op(A) op(B) + β C.
//
// Guarantee: element (i, j) is one chain of multiply-adds that starts at β c and adds aᵢₖ (α bₖⱼ)
// for ascending k. If C has at most four columns and A is not transposed, the element is β c plus
// the sum of eight such chains that start at 0. The result does not depend on the other rows, on
// the level of vector instructions or on the number of workers.
func (c *cpu) Gemm(transA, transB bool, alpha float32, a, b Matrix, beta float32, out Matrix) {
	p := newProduct(transA, transB, alpha, a, b, beta, out)
	if p.m == 0 || p.n == 0 || c.small(&p) {
		return
	}
	j := c.job()
	j.c, j.product = out, p
	switch {
	case p.k == 0 || p.alpha == 0:
		j.do = doGemmNothing
		c.team.run(j, p.m, p.m)
	case j.kernels.gemm.dots(&j.product):
		c.thinDots(j)
	case j.kernels.gemm.turned(&j.product):
		c.thinTurned(j)
	case j.kernels.gemm.shallow(&j.product):
		c.shallow(j)
	case j.kernels.gemm.few(&j.product):
		c.few(j)
	default:
		c.blocked(j)
	}
	c.done(j)
}

func newProduct(transA, transB bool, alpha float32, a, b Matrix, beta float32, out Matrix) product {
	a.check("Gemm: A")
	b.check("Gemm: B")
	p := product{transA: transA, m: a.Rows, k: a.Cols, ar: a.Stride, ak: 1, n: b.Cols,
		bk: b.Stride, bn: 1,
		alpha: alpha, beta: beta, a: a.Data, b: b.Data, c: out.Data, ldc: out.Stride}
	bRows := b.Rows
	if transA {
		p.m, p.k, p.ar, p.ak = a.Cols, a.Rows, 1, a.Stride
	}
	if transB {
		p.n, bRows, p.bk, p.bn = b.Rows, b.Cols, 1, b.Stride
	}
	if bRows != p.k {
		panic(fmt.Sprintf("device: Gemm: %d×%d by %d×%d", p.m, p.k, bRows, p.n))
	}
	out.checkShape("Gemm: C", p.m, p.n)
	return p
}

// doGemmNothing multiplies C by β.
func doGemmNothing(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		j.kernels.scaleOrClear(j.product.beta, j.c.Row(i))
	}
}
