package pld

import (
	"math"
	"math/bits"
)

// A Sum bounds δ of everything added to it from above. Adding an event takes time for this event
// only. Nothing is on a grid: a Sum holds the characteristic function φ(t) = Π φᵢ(t)^nᵢ of the sum
// of all losses, tilted by θ, at the frequencies t = 2πk/W. Poisson's summation formula then gives
//
//	Σₘ e^{−θmW} δ(ε−mW) = e^{K(θ)−θε}/W · Σₖ φ(t)·e^{−itε} / ((θ+it)(1+θ+it)).
//
// The term of m = 0 is δ(ε) and no term is negative, so the right side is an upper end. The
// frequencies of the second sum end because a further Gaussian release of small effect is added,
// which only costs more.
//
// All numbers of a Sum are integers: logarithms, turns and rounding errors in fixed point. So a Sum
// does not depend on the order in which its events were added.
type Sum struct {
	aim   *Aim
	sides [2]direction // removing and adding a record
	plain int64        // Σ μ² of Gaussian releases, in fixed point
	other bool         // something else was added
}

// direction is a Sum of one direction, or one use of an event.
type direction struct {
	logs  []int64  // log |φ| ≤ 0 at each frequency after 0
	turns []uint64 // its argument, in turns
	scale int64    // K(θ), rounded up
	inf   int64    // probability of infinite loss, in shares of δ, rounded up
	err   int64    // bound of the error of each φ
}

const (
	logUnit   = 1 << 50
	turnUnit  = 1 << 63 // half a turn
	infUnit   = 1 << 60
	errUnit   = 1 << 53
	plainUnit = 1 << 40
	dead      = -90 * logUnit // φ is then an error of e^−90
	most      = 1 << 62       // a sum that proves nothing
	again     = 64            // frequencies between two exact powers
)

// Aim holds what public numbers decide of a Sum: it is for compositions that cost about ε at δ.
type Aim struct {
	Epsilon, Delta float64

	theta, period float64
	spread        float64 // effect of the added Gaussian
	hat           []complex128
	size, rest    float64 // Σ|hat| over the frequencies; the sum over all others
}

// NewAim returns nil if losses of this size have no Sum.
func NewAim(eps, delta float64) *Aim {
	if !(eps > 1e-9 && eps < 300 && delta > 1e-31 && delta < 0.5) {
		return nil
	}
	mu := bisect(0, maxEffect, func(mu float64) float64 { return delta - GaussianDelta(mu, eps) })
	a := &Aim{Epsilon: eps, Delta: delta, theta: max(eps/(mu*mu)-0.5, 0.1), spread: 0.03 * mu}
	a.period = max(1.6*(11.5-math.Log(delta))/a.theta, 12*mu)
	n := math.Ceil(a.period / (2 * math.Pi) * 5.5 / a.spread)
	if !(mu > 0 && n < 512) { // most have 351; the time of an event is proportional to n
		return nil
	}
	for k := 1.; k <= n; k++ {
		z := complex(a.theta, a.at(k))
		a.hat = append(a.hat, 1/(z*(1+z)))
		a.size += 2 / (math.Hypot(a.theta, a.at(k)) * math.Hypot(1+a.theta, a.at(k)))
	}
	last := a.at(n) * a.spread
	a.rest = 2 * math.Exp(-last*last/2) / (a.at(1) * a.at(1) * n)
	return a
}

// at returns a frequency.
func (a *Aim) at(k float64) float64 { return 2 * math.Pi / a.period * k }

// NewSum returns the sum of nothing.
func (a *Aim) NewSum() *Sum {
	s := &Sum{aim: a}
	for i := range s.sides {
		s.sides[i] = direction{logs: make([]int64, len(a.hat)), turns: make([]uint64, len(a.hat))}
	}
	return s
}

// Clone returns a copy that shares nothing with s.
func (s *Sum) Clone() *Sum {
	c := *s
	for i := range c.sides {
		d := &c.sides[i]
		d.logs, d.turns = append([]int64(nil), d.logs...), append([]uint64(nil), d.turns...)
	}
	return &c
}

// Aim returns what the sum is for.
func (s *Sum) Aim() *Aim { return s.aim }

// A Use is one use of an event, in the form that a Sum of the same Aim adds.
type Use struct {
	aim   *Aim
	sides [2]direction
}

// Use returns nil for pairs whose losses are too large.
func (a *Aim) Use(p *Pairs) *Use {
	u := &Use{aim: a}
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	var ok bool
	if u.sides[0], ok = a.use(w, p.Remove); !ok {
		return nil
	}
	if u.sides[1] = u.sides[0]; p.Add != nil {
		if u.sides[1], ok = a.use(w, p.Add); !ok {
			return nil
		}
	}
	return u
}

func (a *Aim) use(w *workspace, p Pair) (u direction, ok bool) {
	plan := p.plan(1e-13 * a.Delta)
	if !(plan[0] > -600 && plan[len(plan)-1] < 600) {
		return u, false
	}
	nodes := w.g.nodes[:0]
	for i, l := range apart(plan) {
		if i > 0 { // in the middle of a cell of the plan
			nodes = append(nodes, nodes[len(nodes)-1]/2+l/2)
		}
		nodes = append(nodes, l)
	}
	w.g.nodes = nodes
	up, inf := w.g.connect(p)
	scale := logMomentAbove(nodes, up, a.theta)
	far := 0.0 // E|L| of the tilted losses, for rounding errors
	var z, turn []complex128
	for j, l := range nodes {
		if v := up[j] * math.Exp(a.theta*l-scale); !(v < 1e-25) {
			far += v * math.Abs(l)
			s, c := math.Sincos(a.at(1) * l)
			turn, z = append(turn, complex(c, s)), append(z, complex(v, 0))
			nodes[len(z)-1] = l
		}
	}
	err := ulp * (float64(len(nodes)) + 4*again + 64 +
		8*far*(a.theta+a.at(float64(len(a.hat)))) + 8*math.Abs(scale))
	u = direction{logs: make([]int64, len(a.hat)), turns: make([]uint64, len(a.hat)),
		scale: fixed(scale, logUnit), inf: fixed(inf/a.Delta, infUnit), err: fixed(err, errUnit)}
	weight := append([]complex128(nil), z...)
	for k := range a.hat {
		var re, im float64
		exact, t := (k+1)%again == 0, a.at(float64(k+1))
		for j := range turn {
			x := z[j] * turn[j]
			if exact {
				s, c := math.Sincos(t * nodes[j])
				x = weight[j] * complex(c, s)
			}
			z[j], re, im = x, re+real(x), im+imag(x)
		}
		u.logs[k] = int64(max(dead, min(0, math.Round(math.Log(math.Hypot(re, im))*logUnit))))
		u.turns[k] = uint64(int64(math.Round(math.Atan2(im, re)/math.Pi*(1<<53)))) << 10
	}
	return u, inf < 1 && scale < 600 && err < 1
}

// fixed returns x in steps of 1/unit, rounded up, and most for x that is no number or too large.
func fixed(x, unit float64) int64 {
	if x *= unit * (1 + 4*ulp); !(x < most) {
		return most
	}
	return int64(math.Ceil(max(x, 0)))
}

// plus returns a + n·b, at most most. Nothing is negative.
func plus(a, b int64, n int) int64 {
	hi, lo := bits.Mul64(uint64(b), uint64(n))
	if hi > 0 || lo >= most {
		return most
	}
	return min(most, a+int64(lo))
}

// Add adds n uses.
func (s *Sum) Add(u *Use, n int) {
	s.other = true
	for i := range s.sides {
		d, e := &s.sides[i], &u.sides[i]
		d.scale, d.inf, d.err = plus(d.scale, e.scale, n), plus(d.inf, e.inf, n), plus(d.err, e.err, n)
		for k, v := range e.logs {
			d.logs[k] = max(dead, -plus(-d.logs[k], -v, n))
			d.turns[k] += e.turns[k] * uint64(n)
		}
	}
}

// AddGaussian adds Gaussian releases of joint effect mu.
func (s *Sum) AddGaussian(mu float64) {
	s.plain = plus(s.plain, fixed(mu*mu, plainUnit/(s.aim.spread*s.aim.spread)), 1)
}

// Epsilon returns an ε of at most Aim.Epsilon that the sum has at Aim.Delta, and +Inf if none is
// proven. If precise is false, it is Aim.Epsilon, which takes less time.
func (s *Sum) Epsilon(precise bool) float64 {
	a := s.aim
	above := func(eps float64) float64 { return max(s.delta(0, eps), s.delta(1, eps)) - a.Delta }
	if !s.other {
		mu := s.effect()
		above = func(eps float64) float64 {
			return GaussianDelta(mu, eps) + GaussianDeltaError(mu, eps) - a.Delta
		}
	}
	lo, hi := 0.0, a.Epsilon
	if !s.other && s.plain == 0 {
		return 0
	}
	if !(s.plain < most && above(hi) <= 0) {
		return math.Inf(1)
	}
	for i := 0; precise && i < 32; i++ {
		if x := lo + (hi-lo)/2; above(x) <= 0 {
			hi = x
		} else {
			lo = x
		}
	}
	return hi
}

// effect returns the joint effect of the Gaussian releases, rounded up.
func (s *Sum) effect() float64 {
	return math.Sqrt(float64(s.plain)/plainUnit) * s.aim.spread * (1 + 8*ulp)
}

// delta returns an upper bound of δ(eps) of one direction.
func (s *Sum) delta(side int, eps float64) float64 {
	a, d := s.aim, &s.sides[side]
	mu := s.effect()
	v := (a.spread*a.spread + mu*mu) * (1 + 8*ulp)
	// A Gaussian release of variance v has the tilted loss N(v/2 + θv, v).
	scale := float64(d.scale)/logUnit + v*a.theta*(1+a.theta)/2 - a.theta*eps
	sum := 1 / (a.theta * (1 + a.theta))
	for k, h := range a.hat {
		t := a.at(float64(k + 1))
		log := float64(d.logs[k])/logUnit - v*t*t/2
		if log < -80 {
			continue
		}
		turn := math.Pi * float64(int64(d.turns[k])) / turnUnit
		sin, cos := math.Sincos(turn + t*(v*(0.5+a.theta)-eps))
		sum += 2 * math.Exp(log) * (real(h)*cos - imag(h)*sin)
	}
	last := a.at(float64(len(a.hat)))
	err := float64(d.err)/errUnit + ulp*(float64(len(a.hat))+64+8*last*(eps+v*(1+a.theta))) + 1e-34
	size := float64(d.scale)/logUnit + v*a.theta*(1+a.theta) + a.theta*eps
	bound := math.Exp(scale)/a.period*(sum+err*a.size+a.rest)*(1+8*ulp*(8+size)) +
		a.Delta*float64(d.inf)/infUnit
	if !(bound >= 0 && bound <= 1) || d.inf >= most || d.scale >= most || d.err >= most {
		return 1
	}
	return bound
}
