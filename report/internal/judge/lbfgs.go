package judge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// descent minimises a smooth convex function by L-BFGS.
//
// Source: Liu and Nocedal 1989; step lengths by the weak Wolfe conditions, found
// by bisection (Lewis and Overton 2013).
type descent struct {
	// at sets grad to the gradient at w and returns the value there.
	at         func(w, grad []float64) float64
	iterations int
	tolerance  float64              // stops when no coordinate of the gradient is larger
	divide     func(grad []float64) // by about the second derivative, in place; nil if it is unknown

	w, grad, next, nextGrad, way []float64
	value                        float64
	moves                        []move
}

// move is one completed step: the change s of w, the change y of the gradient, 1/⟨s, y⟩, and
// ⟨s, y⟩/⟨y, y⟩, with one y divided.
type move struct {
	s, y           []float64
	inverse, scale float64
}

// remembered is the number of moves that determine the next direction.
const remembered = 10

// run starts at w and moves it to the minimum.
func (d *descent) run(w []float64) {
	n := len(w)
	d.w, d.grad, d.next, d.nextGrad, d.way = w, make([]float64, n), make([]float64, n),
		make([]float64, n), make([]float64, n)
	d.value = d.at(d.w, d.grad)
	if first := max(floats.Norm(d.grad, 2), 1); d.divide == nil {
		d.divide = func(grad []float64) { floats.Scale(1/first, grad) }
	}
	for range d.iterations {
		if floats.Norm(d.grad, math.Inf(1)) <= d.tolerance {
			return
		}
		d.direction()
		if !d.search() {
			return // single precision allows no further progress
		}
	}
}

// direction sets way to −H∇ by the two-loop recursion over the remembered moves.
func (d *descent) direction() {
	q, alpha := d.way, make([]float64, len(d.moves))
	copy(q, d.grad)
	for i := len(d.moves) - 1; i >= 0; i-- {
		m := d.moves[i]
		alpha[i] = m.inverse * floats.Dot(m.s, q)
		floats.AddScaled(q, -alpha[i], m.y)
	}
	d.divide(q)
	if len(d.moves) > 0 {
		floats.Scale(d.moves[len(d.moves)-1].scale, q)
	}
	for i, m := range d.moves {
		floats.AddScaled(q, alpha[i]-m.inverse*floats.Dot(m.y, q), m.s)
	}
	floats.Scale(-1, q)
}

// search takes a step in the direction; it returns false if no step length satisfies the
// conditions.
func (d *descent) search() bool {
	slope := floats.Dot(d.grad, d.way)
	if !(slope < 0) {
		return false
	}
	short, long, step := 0.0, math.Inf(1), 1.0
	for range 40 {
		copy(d.next, d.w)
		floats.AddScaled(d.next, step, d.way)
		value := d.at(d.next, d.nextGrad)
		switch {
		case !(value <= d.value+1e-4*step*slope):
			long = step
		case floats.Dot(d.nextGrad, d.way) < 0.9*slope:
			short = step
		default:
			d.accept(value)
			return true
		}
		if step = 2 * short; !math.IsInf(long, 1) {
			step = (short + long) / 2
		}
	}
	return false
}

func (d *descent) accept(value float64) {
	s, y := make([]float64, len(d.w)), make([]float64, len(d.w))
	floats.SubTo(s, d.next, d.w)
	floats.SubTo(y, d.nextGrad, d.grad)
	if sy := floats.Dot(s, y); sy > 0 {
		z := slices.Clone(y)
		d.divide(z)
		d.moves = append(d.moves, move{s, y, 1 / sy, sy / floats.Dot(y, z)})
		d.moves = d.moves[max(len(d.moves)-remembered, 0):]
	}
	copy(d.w, d.next)
	copy(d.grad, d.nextGrad)
	d.value = value
}
