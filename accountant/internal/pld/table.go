package pld

import "math"

// NewTable returns the pair whose curve is the lower convex hull of the point (0, 1) and the points
// (e^ε, δ), for ε within ±700. The true curve is convex and not above any point, so it is not above
// the hull.
func NewTable(eps, delta []float64) *Discrete {
	type point struct{ t, k, l, d float64 } // e^ε = t·2^k, ε, δ
	hull := []point{{l: math.Inf(-1), d: 1}}
	// The slope before b times 2^b.k does not underflow. Neighbouring points may share one float64
	// e^ε, so the distance is computed from their ε.
	before := func(a, b point) float64 { return (b.d - a.d) / (b.t * -math.Expm1(a.l-b.l)) }
	// The same slope times 2^a.k: a power of two changes no digit.
	after := func(a, b point) float64 { return math.Ldexp(before(a, b), int(a.k-b.k)) }
	for i, e := range eps {
		t, k := math.Frexp(math.Exp(e))
		p := point{t, float64(k), e, delta[i]}
		for n := len(hull) - 1; n > 0 && !(before(hull[n-1], hull[n]) < after(hull[n], p)); n-- {
			hull = hull[:n]
		}
		hull = append(hull, p)
	}
	// If the hull would rise again, it stays flat.
	p := &Discrete{inf: hull[len(hull)-1].d}
	hull = append(hull, point{t: 1, l: math.Inf(1), d: p.inf})
	for i := 1; i+1 < len(hull); i++ {
		left, right := before(hull[i-1], hull[i]), after(hull[i], hull[i+1])
		left = max(left, -math.Ldexp(1, int(hull[i].k))) // Q has at most all of its mass above
		if m := hull[i].t * (right - left); m > 0 {
			p.loss = append(p.loss, hull[i].l)
			// A slope is off by a few ulps, and so is the segment before the point.
			p.mass = append(p.mass, m*(1+16*ulp)+16*ulp*min(hull[i-1].d, math.Exp(hull[i].l)))
		}
	}
	if len(p.loss) == 0 {
		p.loss, p.mass = []float64{0}, []float64{1 - p.inf}
	}
	p.never = max(0, 1+after(hull[0], hull[1]))
	// A tiny value is a rounding error of the curve, not a loss of minus infinity: assign this mass to
	// the lowest loss.
	if p.never < 64*ulp {
		p.mass[0] += p.never * math.Exp(p.loss[0]) * (1 + 4*ulp)
		p.never = 0
	}
	p.fill()
	return p
}
