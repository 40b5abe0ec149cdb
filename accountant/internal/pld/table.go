package pld

import "math"

// NewTable returns the pair whose curve is the lower convex hull of the point (0, 1) and the points
// (e^ε, δ). The true curve is convex and not above any point, so it is not above the hull.
func NewTable(eps, delta []float64) *Discrete {
	type point struct{ t, l, d float64 }
	hull := []point{{0, math.Inf(-1), 1}}
	// Neighbouring points may share one float64 e^ε, so the distance is computed from their ε.
	slope := func(a, b point) float64 {
		if a.t == 0 {
			return (b.d - a.d) / b.t
		}
		return (b.d - a.d) / (a.t * math.Expm1(b.l-a.l))
	}
	for i, e := range eps {
		p := point{math.Exp(e), e, delta[i]}
		for len(hull) > 1 &&
			!(slope(hull[len(hull)-2], hull[len(hull)-1]) < slope(hull[len(hull)-1], p)) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	// If the hull would rise again, it stays flat.
	p := &Discrete{inf: hull[len(hull)-1].d}
	for i := 1; i < len(hull); i++ {
		left := slope(hull[i-1], hull[i])
		right := 0.0
		if i+1 < len(hull) {
			right = slope(hull[i], hull[i+1])
		}
		if m := hull[i].t * (right - left); m > 0 {
			p.loss = append(p.loss, hull[i].l)
			p.mass = append(p.mass, m*(1+16*ulp)+16*ulp*hull[i-1].d)
		}
	}
	if len(p.loss) == 0 {
		p.loss, p.mass = []float64{0}, []float64{1 - p.inf}
	}
	p.never = max(0, 1+slope(hull[0], hull[1]))
	// A tiny value is a rounding error of the curve, not a loss of minus infinity: assign this mass to
	// the lowest loss.
	if p.never < 64*ulp {
		p.mass[0] += p.never * math.Exp(p.loss[0]) * (1 + 4*ulp)
		p.never = 0
	}
	p.fill()
	return p
}
