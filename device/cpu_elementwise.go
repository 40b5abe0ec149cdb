package device

import "fmt"

// costOf returns the approximate cost of computing one value of a function, in additions.
func costOf(f Func) int {
	switch f {
	case Identity, ReLU, LeakyReLU:
		return 1
	default:
		return 6
	}
}

// Apply sets dst = f(src).
func (c *cpu) Apply(f Func, dst, src Matrix) {
	f.check()
	src.check("Apply")
	dst.checkShape("Apply", src.Rows, src.Cols)
	j := c.job()
	j.a, j.b, j.f = dst, src, f
	c.each(j, applyRow, costOf(f))
	c.done(j)
}

func applyRow(j *job, dst, src, _ []float32) { j.kernels.apply[j.f](dst, src) }

// BiasApply sets each row of m to f(row + bias).
func (c *cpu) BiasApply(f Func, m, bias Matrix) {
	f.check()
	m.check("BiasApply")
	if bias.Empty() && bias.Rows == 0 {
		c.Apply(f, m, m)
		return
	}
	bias.checkShape("BiasApply", 1, m.Cols)
	if m.Empty() {
		return
	}
	j := c.job()
	j.a, j.b, j.f = m, bias, f
	c.rows(j, doBiasApply, m.Rows, m.Cols*costOf(f))
	c.done(j)
}

func doBiasApply(j *job, lo, hi int) {
	bias, cols, f := j.b.Row(0), j.a.Cols, j.kernels.apply[j.f]
	inStrips(lo, hi, cols, func(lo, hi int) {
		rows := j.a.Slice(lo, hi, 0, cols)
		for at := 0; at < len(rows.Data); at += rows.Stride {
			addTo(j.kernels, rows.Data[at:at+cols], bias)
		}
		if j.f != Identity && rows.contiguous() {
			f(rows.Data, rows.Data) // one call for each row is expensive if rows are short
		} else if j.f != Identity {
			for i := range rows.Rows {
				f(rows.Row(i), rows.Row(i))
			}
		}
	})
}

// Gradient multiplies delta by f′ at the point whose value is out.
func (c *cpu) Gradient(f Func, delta, out Matrix) {
	f.check()
	delta.check("Gradient")
	out.checkShape("Gradient", delta.Rows, delta.Cols)
	if f == Identity {
		return
	}
	j := c.job()
	j.a, j.b, j.f = delta, out, f
	c.each(j, gradientRow, costOf(f))
	c.done(j)
}

func gradientRow(j *job, delta, out, _ []float32) { j.kernels.gradient[j.f](delta, out) }

// Axpy adds α x to y.
func (c *cpu) Axpy(alpha float32, x, y Matrix) {
	y.check("Axpy")
	x.checkShape("Axpy", y.Rows, y.Cols)
	j := c.job()
	j.a, j.b, j.x = y, x, alpha
	c.each(j, axpyRow, 1)
	c.done(j)
}

func axpyRow(j *job, y, x, _ []float32) { j.kernels.axpy(j.x, x, y) }

// Mul sets dst = a ∘ b.
func (c *cpu) Mul(dst, a, b Matrix) { c.binary("Mul", mulRow, dst, a, b) }

// Sub sets dst = a − b.
func (c *cpu) Sub(dst, a, b Matrix) { c.binary("Sub", subRow, dst, a, b) }

func (c *cpu) binary(what string, op rowOp, dst, a, b Matrix) {
	dst.check(what)
	a.checkShape(what, dst.Rows, dst.Cols)
	b.checkShape(what, dst.Rows, dst.Cols)
	j := c.job()
	j.a, j.b, j.c = dst, a, b
	c.each(j, op, 1)
	c.done(j)
}

func mulRow(j *job, dst, a, b []float32) { j.kernels.mul(dst, a, b) }
func subRow(j *job, dst, a, b []float32) { j.kernels.sub(dst, a, b) }

// Fill sets every element to v.
func (c *cpu) Fill(m Matrix, v float32) {
	m.check("Fill")
	j := c.job()
	j.a, j.x = m, v
	c.each(j, fillRow, 1)
	c.done(j)
}

func fillRow(j *job, m, _, _ []float32) {
	if j.x == 0 {
		clear(m) // also for −0
		return
	}
	for n := copy(m, []float32{j.x}); n < len(m); n *= 2 { // faster than one by one
		copy(m[n:], m[:n])
	}
}

// ScaleRows multiplies row i by w[i].
func (c *cpu) ScaleRows(m Matrix, w []float32) {
	m.check("ScaleRows")
	if len(w) != m.Rows {
		panic("device: ScaleRows: want one factor for each row")
	}
	if m.Empty() {
		return
	}
	j := c.job()
	j.a, j.w = m, w
	c.rows(j, doScaleRows, m.Rows, m.Cols)
	c.done(j)
}

func doScaleRows(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		j.kernels.scale(j.w[i], j.a.Row(i))
	}
}

// CosSin sets dst = [scale·cos(src) | scale·sin(src)].
func (c *cpu) CosSin(dst, src Matrix, scale float32) {
	src.check("CosSin")
	dst.checkShape("CosSin", src.Rows, 2*src.Cols)
	if src.Empty() {
		return
	}
	j := c.job()
	j.a, j.b, j.x = dst, src, scale
	c.rows(j, doCosSin, src.Rows, 12*src.Cols)
	c.done(j)
}

func doCosSin(j *job, lo, hi int) {
	n := j.b.Cols
	for i := lo; i < hi; i++ {
		row := j.a.Row(i)
		j.kernels.cosSin(row[:n], row[n:], j.b.Row(i), j.x)
	}
}

// adamRates holds the factors of one step of Adam, which are computed in float64 once per step.
//
// With bias corrections folded in, θ −= step·m / (√v·root + ε), where step = LR/(1−β₁ᵀ) and root =
// 1/√(1−β₂ᵀ).
type adamRates struct {
	beta1, rest1, beta2, rest2, step, root, eps float32
}

// Adam moves p by one step of the Adam optimizer for the gradient g.
func (c *cpu) Adam(p, g, m, v Matrix, s AdamStep) {
	p.check("Adam")
	g.checkShape("Adam", p.Rows, p.Cols)
	m.checkShape("Adam", p.Rows, p.Cols)
	v.checkShape("Adam", p.Rows, p.Cols)
	if s.T < 1 {
		panic(fmt.Sprintf("device: Adam: step %d: steps are counted from 1", s.T))
	}
	if p.Empty() {
		return
	}
	j := c.job()
	j.a, j.b, j.c, j.d, j.adam = p, g, m, v, s.rates()
	if p.contiguous() && g.contiguous() && m.contiguous() && v.contiguous() {
		j.do = doAdamFlat
		c.team.run(j, p.Rows*p.Cols, 1<<13)
	} else {
		c.rows(j, doAdamRows, p.Rows, 4*p.Cols)
	}
	c.done(j)
}

func doAdamFlat(j *job, lo, hi int) {
	j.kernels.adam(j.a.Data[lo:hi], j.b.Data[lo:hi], j.c.Data[lo:hi], j.d.Data[lo:hi], &j.adam, 1)
}

func doAdamRows(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		j.kernels.adam(j.a.Row(i), j.b.Row(i), j.c.Row(i), j.d.Row(i), &j.adam, 1)
	}
}
