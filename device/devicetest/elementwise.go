package devicetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

func abs(x float64) float64  { return math.Abs(x) }
func sqrt(x float64) float64 { return math.Sqrt(x) }

// functions holds the element-wise functions, and their derivatives as functions of the value.
var functions = map[device.Func]struct{ value, slope func(float64) float64 }{
	device.Identity: {func(x float64) float64 { return x }, func(y float64) float64 { return 1 }},
	device.ReLU: {func(x float64) float64 {
		return ramp(x, 0)
	}, func(y float64) float64 { return step(y, 0) }},
	device.LeakyReLU: {func(x float64) float64 {
		return ramp(x, device.LeakySlope)
	}, func(y float64) float64 { return step(y, device.LeakySlope) }},
	device.Tanh: {math.Tanh, func(y float64) float64 { return (1 - y) * (1 + y) }},
	device.Sigmoid: {func(x float64) float64 {
		return 1 / (1 + math.Exp(-x))
	}, func(y float64) float64 { return y * (1 - y) }},
	device.Softplus: {func(x float64) float64 {
		return max(x, 0) + math.Log1p(math.Exp(-abs(x)))
	}, func(y float64) float64 { return -math.Expm1(-y) }},
	device.Exp: {math.Exp, func(y float64) float64 { return y }},
	device.Log: {math.Log, func(y float64) float64 { return math.Exp(-y) }},
}

func ramp(x, slope float64) float64 {
	switch {
	case x < 0 && slope == 0: // also −∞
		return 0
	case x < 0:
		return slope * x
	}
	return x
}

func step(y, slope float64) float64 {
	if y <= 0 {
		return slope
	}
	return 1
}

// functionUlps is the largest allowed error of a function's value, in units in the last place.
const functionUlps = 8

// functionBound returns the largest allowed absolute error of a value.
func functionBound(value float64) float64 { return functionUlps*2*unit*abs(value) + 4*smallest }

// wide draws a number. The numbers have many magnitudes, and some are special values.
func (x *bench) wide() float64 {
	v := x.r.NormFloat64() * math.Exp2(float64(x.r.IntN(12)-6))
	if x.r.IntN(20) == 0 {
		return []float64{0, math.Inf(1), math.Inf(-1), math.NaN(), 1e-40, -1e-40, 300, -300}[x.r.IntN(8)]
	}
	return v
}

func testFunctions(t *testing.T, b device.Backend) {
	x := newBench(t, b, 4)
	for f, reference := range functions {
		for range 20 {
			rows, cols := x.size(40), x.size(140)
			src, dst := x.filled(rows, cols, x.wide), x.matrix(rows, cols)
			if f == device.Log {
				src = x.filled(rows, cols, func() float64 { return abs(x.wide()) })
			}
			value := func(v *view) func(i, j int) (float64, float64) {
				return func(i, j int) (float64, float64) {
					w := float32(reference.value(v.at(i, j)))
					return float64(w), functionBound(float64(w))
				}
			}
			what := "Apply " + f.String()
			x.b.Apply(f, dst.m, src.m)
			dst.want(x, what, value(src))
			src.unchanged(x, what)
			x.b.Apply(f, src.m, src.m)
			src.want(x, what+" in place", value(src))

			x.biasApply(f, reference.value, rows, cols)
			x.gradient(f, reference.slope, rows, cols)
		}
	}
}

func (x *bench) biasApply(f device.Func, value func(float64) float64, rows, cols int) {
	x.t.Helper()
	m, bias := x.matrix(rows, cols), x.matrix(1, cols)
	if f == device.Log {
		m, bias = x.filled(rows, cols, func() float64 {
			return 1 + x.r.Float64()
		}), x.filled(1, cols, x.r.Float64)
	}
	x.b.BiasApply(f, m.m, bias.m)
	m.want(x, "BiasApply "+f.String(), func(i, j int) (float64, float64) {
		sum := m.at(i, j) + bias.at(0, j)
		w := value(sum)
		// The bound on the effect of the sum's rounding error is the bound for exp, the steepest of these
		// functions.
		return w, functionBound(w) + 4*unit*abs(sum)*(1+abs(w))
	})
	bias.unchanged(x, "BiasApply")
	plain := x.of(rows, cols, m.host)
	x.b.BiasApply(f, plain.m, device.Matrix{})
	plain.want(x, "BiasApply without bias "+f.String(), func(i, j int) (float64, float64) {
		w := value(m.at(i, j))
		return w, functionBound(w)
	})
}

// gradient checks the derivative of f at values of f.
func (x *bench) gradient(f device.Func, slope func(float64) float64, rows, cols int) {
	x.t.Helper()
	value := functions[f].value
	delta := x.matrix(rows, cols)
	out := x.filled(rows, cols, func() float64 {
		v := x.r.NormFloat64() * 3
		if f == device.Log {
			v = abs(v)
		}
		return value(v)
	})
	x.b.Gradient(f, delta.m, out.m)
	delta.want(x, "Gradient "+f.String(), func(i, j int) (float64, float64) {
		y := out.at(i, j)
		w := delta.at(i, j) * slope(y)
		// 1−y² and y(1−y) are differences of rounded numbers, so their error is relative to 1.
		return w, functionBound(w) + 4*unit*abs(delta.at(i, j))
	})
	out.unchanged(x, "Gradient")
}

func testArithmetic(t *testing.T, b device.Backend) {
	x := newBench(t, b, 5)
	for range 60 {
		rows, cols := x.size(40), x.size(200)
		alpha := float32(x.r.NormFloat64())
		a, c, y := x.matrix(rows, cols), x.matrix(rows, cols), x.matrix(rows, cols)
		x.b.Axpy(alpha, a.m, y.m)
		y.want(x, "Axpy", func(i, j int) (float64, float64) {
			p := float64(alpha) * a.at(i, j)
			return y.at(i, j) + p, rounding(1, abs(y.at(i, j))+abs(p))
		})
		x.b.Mul(y.m, a.m, c.m)
		y.want(x, "Mul", func(i, j int) (float64, float64) {
			return a.at(i, j) * c.at(i, j), rounding(0, abs(a.at(i, j)*c.at(i, j)))
		})
		x.b.Sub(y.m, a.m, c.m)
		y.want(x, "Sub", func(i, j int) (float64, float64) {
			return float64(float32(a.at(i, j) - c.at(i, j))), 0
		})
		a.unchanged(x, "Mul and Sub")
		x.b.Sub(c.m, a.m, c.m)
		c.want(x, "Sub in place", func(i, j int) (float64, float64) {
			return float64(float32(a.at(i, j) - c.at(i, j))), 0
		})
		x.b.Mul(a.m, a.m, a.m)
		a.want(x, "Mul in place", func(i, j int) (float64, float64) {
			return a.at(i, j) * a.at(i, j), rounding(0, a.at(i, j)*a.at(i, j))
		})
		x.b.Fill(y.m, alpha)
		y.want(x, "Fill", func(i, j int) (float64, float64) { return float64(alpha), 0 })
		x.b.Fill(y.m, 0)
		y.want(x, "Fill with zero", func(i, j int) (float64, float64) { return 0, 0 })
	}
}

func testCosSin(t *testing.T, b device.Backend) {
	x := newBench(t, b, 6)
	for range 60 {
		rows, cols := x.size(30), x.size(150)
		scale := float32(0.01 + x.r.Float64())
		src := x.filled(rows, cols, x.wide)
		dst := x.matrix(rows, 2*cols)
		reference := func(i, j int) (float64, float64) {
			angle, f := src.at(i, j%max(cols, 1)), math.Cos
			if j >= cols {
				f = math.Sin
			}
			return float64(scale) * f(angle), 4 * unit * float64(scale)
		}
		x.b.CosSin(dst.m, src.m, scale)
		dst.want(x, "CosSin", reference)
		src.unchanged(x, "CosSin")
		for half := range 2 {
			both := x.matrix(rows, 2*cols)
			part := both.m.Slice(0, rows, half*cols, half*cols+cols)
			x.b.Apply(device.Identity, part, src.m)
			x.b.CosSin(both.m, part, scale)
			both.want(x, fmt.Sprintf("CosSin from half %d of its destination", half), reference)
		}
	}
}

func testAdam(t *testing.T, b device.Backend) {
	x := newBench(t, b, 7)
	for n := range 40 {
		rows, cols := x.size(6), x.size(300)
		s := device.AdamStep{LR: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: 1 + n*n}
		p, g, m := x.matrix(rows, cols), x.matrix(rows, cols), x.matrix(rows, cols)
		v := x.filled(rows, cols, func() float64 { return x.r.ExpFloat64() })
		x.b.Adam(p.m, g.m, m.m, v.m, s)
		first := func(i, j int) float64 {
			return float64(s.Beta1)*m.at(i, j) + float64(1-s.Beta1)*g.at(i, j)
		}
		second := func(i, j int) float64 {
			return float64(s.Beta2)*v.at(i, j) + float64(1-s.Beta2)*g.at(i, j)*g.at(i, j)
		}
		m.want(x, "Adam: first moment", func(i, j int) (float64, float64) {
			return first(i, j), rounding(2, abs(m.at(i, j))+abs(g.at(i, j)))
		})
		v.want(x, "Adam: second moment", func(i, j int) (float64, float64) {
			return second(i, j), rounding(2, second(i, j))
		})
		g.unchanged(x, "Adam")
		p.want(x, "Adam: parameters", func(i, j int) (float64, float64) {
			power := float64(s.T)
			mean := 1 / (1 - math.Pow(float64(s.Beta1), power))
			root := math.Sqrt(second(i, j) / (1 - math.Pow(float64(s.Beta2), power)))
			scale := float64(s.LR) * mean / (root + float64(s.Eps))
			move := first(i, j) * scale
			size := scale * (abs(m.at(i, j)) + abs(g.at(i, j)))
			return p.at(i, j) - move, rounding(8, abs(p.at(i, j))+size)
		})
	}
}
