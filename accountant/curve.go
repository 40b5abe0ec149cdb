package accountant

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/param"
)

// Tabulate makes an event of a mechanism whose hockey-stick curve δ(ε) is known, by reading it at the given increasing losses.
// remove and add are the curves of the two directions; a nil add means that they are the same. Between the points chords are used, which
// never lie below a hockey-stick curve; put points where the curve bends.
func Tabulate(name string, epsilons []float64, remove, add func(epsilon float64) float64) (Curve, error) {
	if remove == nil {
		return Curve{}, param.New("accountant.Tabulate.remove", nil, "a curve")
	}
	c := Curve{Name: name, Epsilons: append([]float64(nil), epsilons...)}
	for _, e := range epsilons {
		c.Deltas = append(c.Deltas, remove(e))
		if add != nil {
			c.AddDeltas = append(c.AddDeltas, add(e))
		}
	}
	if err := c.Validate(); err != nil {
		return Curve{}, err
	}
	_, err := curveAtomOf(c)
	return c, err
}

type curveAtom struct {
	id          string
	remove, add *discretePair
}

func curveAtomOf(v Curve) (atom, error) {
	a := curveAtom{id: fmt.Sprintf("%+v", v)}
	var err error
	if a.remove, err = tablePair(v.Epsilons, v.Deltas); err != nil {
		return nil, err
	}
	if len(v.AddDeltas) > 0 {
		a.add, err = tablePair(v.Epsilons, v.AddDeltas)
	}
	return a, err
}

func (a curveAtom) key() string { return "curve " + a.id }

func (a curveAtom) pairs() *pairs {
	p := &pairs{remove: a.remove}
	if a.add != nil {
		p.add = a.add
	}
	return p
}

func (a curveAtom) rdp(order float64) (float64, bool) {
	v := a.remove.rdp(order)
	if a.add != nil {
		v = max(v, a.add.rdp(order))
	}
	return v, true
}

// tablePair is the pair whose curve joins the lower convex hull of the points (e^ε, δ), from (0, 1) on: the true curve is convex and below
// every point, hence below the hull.
func tablePair(eps, delta []float64) (*discretePair, error) {
	type point struct{ t, l, d float64 }
	hull := []point{{0, math.Inf(-1), 1}}
	slope := func(a, b point) float64 { return (b.d - a.d) / (b.t - a.t) }
	for i, e := range eps {
		p := point{math.Exp(e), e, delta[i]}
		if delta[i] < -math.Expm1(e)-1e-12 {
			return nil, param.New("accountant.Curve.Deltas", delta[i], "at least 1−e^ε, as every mechanism has")
		}
		for len(hull) > 1 && slope(hull[len(hull)-2], hull[len(hull)-1]) >= slope(hull[len(hull)-1], p) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	// Where the hull would rise again it stays flat.
	p := &discretePair{inf: hull[len(hull)-1].d}
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
	return p, nil
}
