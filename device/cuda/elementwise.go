//go:build cuda && cgo

package cuda

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
)

// wantFunc panics unless f is an element-wise function.
func wantFunc(f device.Func) {
	if _, err := f.MarshalText(); err != nil {
		panic("cuda: " + f.String() + " is not an element-wise function")
	}
}

// Apply sets dst = f(src).
func (g *gpu) Apply(f device.Func, dst, src device.Matrix) {
	wantFunc(f)
	g.wantLike("Apply", src, dst)
	if src.Empty() {
		return
	}
	flat(&dst, &src)
	g.begin()
	defer g.end()
	g.kernel(applyKernel).int(int(f)).matrix(dst).matrix(src).size(src).each(src.Rows * src.Cols)
}

// BiasApply sets each row of m to f(row + bias).
func (g *gpu) BiasApply(f device.Func, m, bias device.Matrix) {
	wantFunc(f)
	if bias.Empty() && bias.Rows == 0 {
		g.Apply(f, m, m)
		return
	}
	g.want("BiasApply", m)
	g.wantShape("BiasApply", bias, 1, m.Cols)
	if m.Empty() {
		return
	}
	g.begin()
	defer g.end()
	g.kernel(biasApplyKernel).int(int(f)).matrix(m).row(bias).size(m).each(m.Rows * m.Cols)
}

// Gradient multiplies delta by f′ at the point whose value is out.
func (g *gpu) Gradient(f device.Func, delta, out device.Matrix) {
	wantFunc(f)
	g.wantLike("Gradient", delta, out)
	if f == device.Identity || delta.Empty() {
		return
	}
	flat(&delta, &out)
	g.begin()
	defer g.end()
	g.kernel(gradientKernel).int(int(f)).matrix(delta).matrix(out).size(delta).each(delta.Rows *
		delta.Cols)
}

// Axpy adds α x to y.
func (g *gpu) Axpy(alpha float32, x, y device.Matrix) {
	g.wantLike("Axpy", y, x)
	if y.Empty() {
		return
	}
	flat(&x, &y)
	g.begin()
	defer g.end()
	g.kernel(axpyKernel).float(alpha).matrix(x).matrix(y).size(y).each(y.Rows * y.Cols)
}

// Mul sets dst = a ∘ b.
func (g *gpu) Mul(dst, a, b device.Matrix) { g.binary("Mul", multiplyKernel, dst, a, b) }

// Sub sets dst = a − b.
func (g *gpu) Sub(dst, a, b device.Matrix) { g.binary("Sub", subtractKernel, dst, a, b) }

func (g *gpu) binary(what string, kernel int, dst, a, b device.Matrix) {
	g.wantLike(what, dst, a, b)
	if dst.Empty() {
		return
	}
	flat(&dst, &a, &b)
	g.begin()
	defer g.end()
	g.kernel(kernel).matrix(dst).matrix(a).matrix(b).size(dst).each(dst.Rows * dst.Cols)
}

// Fill sets every element to v.
func (g *gpu) Fill(m device.Matrix, v float32) {
	g.want("Fill", m)
	if m.Empty() {
		return
	}
	flat(&m)
	g.begin()
	defer g.end()
	g.kernel(fillKernel).matrix(m).float(v).size(m).each(m.Rows * m.Cols)
}

// CosSin sets dst = [scale·cos(src) | scale·sin(src)].
func (g *gpu) CosSin(dst, src device.Matrix, scale float32) {
	g.want("CosSin", src)
	g.wantShape("CosSin", dst, src.Rows, 2*src.Cols)
	if src.Empty() {
		return
	}
	g.begin()
	defer g.end()
	g.kernel(cosSinKernel).matrix(dst).matrix(src).float(scale).size(src).each(src.Rows * src.Cols)
}

// Adam moves p by one step of the Adam optimizer for the gradient grad.
func (g *gpu) Adam(p, grad, m, v device.Matrix, s device.AdamStep) {
	g.wantLike("Adam", p, grad, m, v)
	if s.T < 1 {
		panic(fmt.Sprintf("cuda: Adam: step %d: steps are counted from 1", s.T))
	}
	if p.Empty() {
		return
	}
	flat(&p, &grad, &m, &v)
	g.begin()
	defer g.end()
	g.kernel(adamKernel).matrix(p).matrix(grad).matrix(m).matrix(v).size(p).rates(ratesOf(s)).
		each(p.Rows * p.Cols)
}
