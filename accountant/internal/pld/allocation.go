package pld

import (
	"math"
	"slices"
)

// Allocation brackets the pair P = (1/t)Σ N(eᵢ, σ²I) against Q = N(0, σ²I) in t dimensions, where
// 1/σ = mu. Under Q, dP/dQ is the mean M of t independent variables exp(mu·z − mu²/2) for normal z.
// The curve of the pair is E(M − e^ε)₊, and that of the swapped pair is E(1 − e^ε·M)₊. Both are
// expectations of convex functions of M.
//
// So the bracket uses the convex order (Shaked and Shanthikumar 2007, chapter 3). To share a mass
// out to the two ends of its interval, with the same mean, raises the expectation of every convex
// function. To merge the masses of an interval at their mean lowers it. Given all other summands,
// the function is convex in one summand, so both also hold for one summand of many. A sum of t
// summands is made by doubling, and each sum is brought back to about a thousand places in one of
// the two ways. Both errors are of second order in the width of the intervals. All terms are
// positive, and there is no transform, so every mass keeps its relative precision.
type Allocation struct{ remove, add *Discrete }

// MostSlots and MostEffect are the largest t and mu of an allocation.
const (
	MostSlots  = 1 << 20
	MostEffect = 16.0
)

// Allocated returns the upper or the lower end of the bracket.
func Allocated(t int, mu float64, upper bool) *Allocation {
	s := sumOf(t, mu, upper)
	return s.mean()
}

// mean returns the pairs of the mean. In each direction, errors move losses up if the sum is an
// upper one, and down otherwise.
func (s *sums) mean() *Allocation {
	if s.upper {
		return &Allocation{remove: s.pair(1), add: s.pair(-1)}
	}
	return &Allocation{remove: s.pair(-1), add: s.pair(1)}
}

// Pairs returns the pairs of one end of the bracket.
func (a *Allocation) Pairs() *Pairs {
	return &Pairs{Remove: trimmed{a.remove}, Add: NewMirror(trimmed{a.add})}
}

// sums is a distribution of a sum of n summands of mean 1. Places increase.
type sums struct {
	n           int
	upper       bool // at least the true one in the convex order, otherwise at most
	place       []float64
	mass        []float64
	lost        float64 // part of the mean that lies infinitely far up, with no mass
	slip, wrong float64 // bounds of the relative errors of places and of masses
}

const (
	// scoreStep is the distance of places in standard scores: the normal quantiles of their
	// probabilities. The relative width of a bracket is about log₂(t)·scoreStep²/4.
	scoreStep = 0.018
	// mostScore is the largest score that has a place; 1e-37 of the mass lies beyond.
	mostScore = 12.7
	// unknown is the relative error beyond which a mass is not used.
	unknown = 1e-8
	// vanished bounds what is left out because products of two masses are too small for floating
	// point. Masses below 1e-290 are left out at places below e^285, less than 2^40 times.
	vanished = 1e-150
)

// sumOf returns the sum of t summands. The smallest powers of two are added first: places are as
// close as the width of each sum wants, so early sums add little to the error of the last one.
func sumOf(t int, mu float64, upper bool) sums {
	levels, power := scoresFor(mu), summandOf(mu, upper)
	var s sums
	for {
		switch {
		case t&1 == 0:
		case s.n == 0:
			s = power
		default:
			s = levels.add(&s, &power)
		}
		if t >>= 1; t == 0 {
			return s
		}
		power = levels.add(&power, &power)
	}
}

// summandOf returns the bracket of exp(mu·z − mu²/2).
func summandOf(mu float64, upper bool) sums {
	s := sums{n: 1, upper: upper, place: []float64{0}}
	var points []float64
	for x := -mostScore; x < mostScore+mu+2*scoreStep; x = nextScore(x, mu) {
		points = append(points, x)
		s.place = append(s.place, math.Exp(mu*x-mu*mu/2))
	}
	off := make([]float64, len(s.place))
	below, belowP := side{}, side{} // at −∞
	for k, from := range s.place {
		above, aboveP, to := side{upper: true}, side{upper: true}, math.Inf(1)
		if k < len(points) {
			above, aboveP, to = normalSide(points[k]), normalSide(points[k]-mu), s.place[k+1]
		}
		q, wrongQ := between(below, above)
		p, wrongP := between(belowP, aboveP)
		below, belowP = above, aboveP
		if !(wrongQ < unknown*q && wrongP < unknown*p) {
			if s.mass = append(s.mass, 0); upper { // as far apart as possible
				s.mass[0], s.lost = s.mass[0]+q+wrongQ, s.lost+p+wrongP
			}
			continue
		}
		s.mass = append(s.mass, q)
		off[k] = min(max(0, p-q*from), q*(to-from))
		s.wrong = max(s.wrong, 2*wrongQ/q)
		s.slip = max(s.slip, 2*(wrongQ/q+wrongP/p)+64*ulp*(1+mu*(mu+mostScore)))
	}
	if !upper {
		s.merge(off)
		return s
	}
	var c cells
	Gauss{mu}.cut([]float64{mu*points[len(points)-1] - mu*mu/2}, &c)
	s.lost += c.topE + c.topErr
	s.spread(off)
	return s
}

// scores holds the logarithms of the normal probabilities below and above every score at which a
// sum has a place.
type scores struct{ below, above []float64 }

// nextScore returns the score after x. Scores are sparse where little mass lies in both tails.
func nextScore(x, mu float64) float64 { return x + scoreStep*max(1, -x/8, (x-mu)/8) }

func scoresFor(mu float64) *scores {
	l := &scores{}
	for x := -mostScore; x < mostScore+mu; x = nextScore(x, mu) {
		a := normalSide(x)
		l.below, l.above = append(l.below, math.Log(a.below())), append(l.above, math.Log(a.above()))
	}
	return l
}

// median returns a place about in the middle of the masses.
func (s *sums) median() float64 {
	sum := 0.0
	for k, m := range s.mass {
		if sum += m; sum >= 0.5 {
			return s.place[k]
		}
	}
	return s.place[len(s.place)-1]
}

// thin returns half of the places, with the masses of neighbours at their mean.
func (s *sums) thin() *sums {
	t := &sums{}
	for k := 0; k < len(s.place); k += 2 {
		n := min(k+1, len(s.place)-1)
		x, m := s.place[k], s.mass[k]
		if n > k {
			m += s.mass[n]
			if m > 0 {
				x += (s.place[n] - x) * s.mass[n] / m
			}
		}
		t.place, t.mass = append(t.place, x), append(t.mass, m)
	}
	return t
}

// probes returns increasing places, the first of which is 0: some at equal ratios, and others at
// equal ratios of the distance from the median of a+b.
func probes(a, b *sums) []float64 {
	const each = 400
	positive := func(s *sums) float64 {
		if s.place[0] > 0 || len(s.place) == 1 {
			return s.place[0]
		}
		return s.place[1]
	}
	low, top := positive(a)+positive(b), a.place[len(a.place)-1]+b.place[len(b.place)-1]
	mid := a.median() + b.median()
	out := []float64{0}
	for i := range each {
		x := float64(i) / (each - 1)
		far := mid * math.Exp((1-x)*math.Log(1e-9))
		out = append(out, low*math.Exp(x*math.Log(top/low)), mid-far,
			mid+1e-9*mid*math.Exp(x*math.Log(1e9*top/mid)))
	}
	slices.Sort(out)
	return slices.CompactFunc(out, func(x, y float64) bool { return math.Abs(x-y) <= 1e-13*x })
}

// places chooses increasing places for a+b, the first of which is 0. Any choice is sound.
func (l *scores) places(a, b *sums) []float64 {
	at := probes(a, b)
	x, y := a, b
	if min(a.n, b.n) >= 8 { // by then half of the places tell where the masses are
		if x, y = a.thin(), b.thin(); a == b {
			y = x
		}
	}
	mass, _ := convolve(at, x, y)
	// The logarithms of the probabilities below and above each probe.
	n := len(at)
	below, above := make([]float64, n+1), make([]float64, n+1)
	sum := 0.0
	for i, m := range mass {
		below[i] = math.Log(sum)
		sum += m
	}
	sum = 0
	for i := n - 1; i >= 0; i-- {
		sum += mass[i]
		above[i] = math.Log(sum)
	}
	out := []float64{0}
	j := 1
	for k, want := range l.below {
		side, want, sign := below, want, 1.0
		if want > -math.Ln2 {
			side, want, sign = above, l.above[k], -1
		}
		for j < n && sign*(want-side[j]) > 0 {
			j++
		}
		if j == n {
			break
		}
		u, v := sign*(want-side[j-1]), sign*(want-side[j])
		x := at[j]
		if u > 0 && u < math.Inf(1) && v > math.Inf(-1) {
			x = at[j-1] + (at[j]-at[j-1])*u/(u-v)
		}
		if x > out[len(out)-1]*(1+1e-13) {
			out = append(out, x)
		}
	}
	return out
}

// add returns a bracket of the sum of two independent sums.
func (l *scores) add(a, b *sums) sums {
	at := l.places(a, b)
	mass, off := convolve(at, a, b)
	n := len(at)
	// A mass is the sum of at most one number for every place of a and of b.
	rounding := float64(len(a.place)+len(b.place)+n+16) * ulp
	out := sums{n: a.n + b.n, upper: a.upper, place: at, mass: mass,
		wrong: a.wrong + b.wrong + rounding, slip: max(a.slip, b.slip) + rounding}
	if a.upper {
		out.lost = a.lost + b.lost + off[n-1]
		out.spread(off)
	} else {
		out.merge(off)
	}
	return out
}

// convolve returns the masses of a+b from each place to the next, and for each of them
// Σ mass·distance from its lower place.
func convolve(at []float64, a, b *sums) (mass, off []float64) {
	n := len(at)
	mass, off = make([]float64, n), make([]float64, n)
	from, square := 0, a == b
	for i, x := range a.place {
		m, j := a.mass[i], 0
		if m < 1e-290 {
			continue
		}
		if square { // every unordered pair once
			j = i
		}
		for from+1 < n && at[from+1] <= x+b.place[j] {
			from++
		}
		k := from
		if square {
			mass[k] += m * m
			off[k] += m * m * (x + x - at[k])
			m, j = 2*m, i+1
		}
		next := math.Inf(1)
		if k+1 < n {
			next = at[k+1]
		}
		base, s, o := at[k], 0.0, 0.0
		masses := b.mass[j:]
		for i, y := range b.place[j:] {
			y += x
			if y >= next {
				mass[k] += m * s
				off[k] += m * o
				for s, o = 0, 0; y >= next; {
					if k++; k+1 < n {
						next = at[k+1]
					} else {
						next = math.Inf(1)
					}
				}
				base = at[k]
			}
			w := masses[i]
			s += w
			o += w * (y - base)
		}
		mass[k] += m * s
		off[k] += m * o
	}
	return mass, off
}

// spread shares the masses between two places out to both.
func (s *sums) spread(off []float64) {
	for k := len(s.mass) - 2; k >= 0; k-- {
		up := off[k] / (s.place[k+1] - s.place[k])
		s.mass[k+1] += up
		s.mass[k] = max(0, s.mass[k]-up)
	}
}

// merge moves the masses between two places to their mean.
func (s *sums) merge(off []float64) {
	var at, mass []float64
	for k, m := range s.mass {
		if m > 0 {
			at, mass = append(at, s.place[k]+off[k]/m), append(mass, m)
		}
	}
	s.place, s.mass = at, mass
}

// pair returns the pair of the mean for the remove direction. All losses are moved, up if sign is 1
// and down if it is −1.
func (s *sums) pair(sign float64) *Discrete {
	grow, inf, never := 1-s.wrong, 0.0, 0.0
	if s.upper {
		grow = 1 + s.wrong
		inf, never = s.lost/float64(s.n)*grow+vanished, vanished
	}
	var loss, mass []float64
	for k, x := range s.place {
		m := s.mass[k] * grow
		if x == 0 {
			never += m
		} else if l := math.Log(x/float64(s.n)) + sign*s.slip; m > 0 {
			loss, mass = append(loss, l), append(mass, m*math.Exp(l))
		}
	}
	if !s.upper {
		complete(loss, mass, sign > 0)
	}
	return NewDiscrete(loss, mass, inf, never)
}

// complete adds what is missing to 1, of Q at the largest loss if top is set, and otherwise of P at
// the smallest. In the direction that the pair is for, it does not count at any other ε.
func complete(loss, mass []float64, top bool) {
	missing, at, scale := 1-1e-12, 0, 1.0
	if top {
		at = len(loss) - 1
		scale = math.Exp(loss[at])
	}
	for i, m := range mass {
		if top {
			m *= math.Exp(-loss[i])
		}
		missing -= m
	}
	mass[at] += max(0, missing) * scale
}

// trimmed plans no nodes at losses above which P, or below which Q, has little mass.
type trimmed struct{ d *Discrete }

func (p trimmed) cut(nodes []float64, c *cells) { p.d.cut(nodes, c) }

func (p trimmed) plan(tail float64) []float64 {
	lo, hi := 0, len(p.d.loss)-1
	for sum := p.d.other[lo]; lo < hi && sum <= tail; sum += p.d.other[lo] {
		lo++
	}
	for sum := p.d.mass[hi]; hi > lo && sum <= tail; sum += p.d.mass[hi] {
		hi--
	}
	return (&Discrete{loss: p.d.loss[lo : hi+1]}).plan(tail)
}
