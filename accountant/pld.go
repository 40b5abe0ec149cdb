package accountant

import "math"

const (
	maxGrid   = 1 << 19 // points of a transform: 64 MiB in all
	maxCells  = 1 << 19 // cells of one step
	pldTol    = 2e-4    // aimed-at relative width of upper − truth
	pldRepeat = 3
)

// pldQuestion is one side of a composition: the pairs of one direction, with counts, and either δ (find ε) or ε (find δ).
type pldQuestion struct {
	pairs []pair
	n     []int
	total float64
	delta float64
	eps   float64
	byEps bool
	lower bool // compute the lower end too
}

// pldAnswer brackets ε or δ; ok is false when the grid could not be made fine or wide enough for any answer.
type pldAnswer struct {
	lower, upper float64
	ok           bool
	limited      bool // by memory
}

// solve chooses tilt, window and grid from a sketch, composes, and refines until the bracket is narrow. coarse > 1 widens the first
// grid by that factor and is content with any sound answer.
func (q *pldQuestion) solve(coarse float64) pldAnswer {
	tail := q.tailMass()
	s := newSketch(q.n, q.pairs, tail)
	ends := q.ends(&s, tail)
	if ends == nil {
		return pldAnswer{}
	}
	var g gridder
	best := pldAnswer{upper: math.Inf(1)}
	if q.byEps {
		best.upper = 1
	}
	refine, theta := coarse, math.NaN()
	for try := 0; try < pldRepeat+2; try++ {
		view := q.view(&s, theta, refine)
		a, moved := q.once(&g, view, ends)
		if moved != 0 {
			// The answer lies outside the window: aim the tilt at where it was lost.
			theta = moved
			if try > pldRepeat {
				break
			}
			continue
		}
		if a.ok {
			best.ok = true
			best.limited = view.limited
			best.upper = min(best.upper, a.upper)
			best.lower = max(best.lower, a.lower)
		}
		if coarse > 1 || !q.lower || view.limited || best.upper-best.lower <= 12*pldTol*best.upper || try >= pldRepeat {
			break
		}
		refine /= 2
	}
	best.lower = min(best.lower, best.upper)
	return best
}

// tailMass is what one step may lose to infinite loss: together less than a hundred-thousandth of δ. A longer tail would be tilted up and
// need a wider window without changing the answer.
func (q *pldQuestion) tailMass() float64 {
	d := q.delta
	if q.byEps {
		d = 1e-15
	}
	return max(1e-5*d/q.total, 1e-290)
}

type span struct{ lo, hi float64 }

// ends finds for each term the losses beyond which less than tail is left.
func (q *pldQuestion) ends(s *sketch, tail float64) []span {
	out := make([]span, len(q.pairs))
	for i, p := range q.pairs {
		t := &s.terms[i]
		lo, hi := t.lo, t.hi
		if !(lo > -600 && hi < 600) {
			return nil
		}
		var c cells
		node := []float64{hi}
		for j := 0; j < 60; j++ {
			node[0] = hi
			p.cut(node, &c)
			if c.topE <= tail {
				break
			}
			hi += 0.1*(hi-lo) + 1e-12
		}
		out[i] = span{lo, hi}
	}
	return out
}

// view is the choice of tilt, grid and window for one composition.
type view struct {
	theta      float64
	h          float64
	first      int64
	n          int
	lambdaUp   float64
	lambdaDown float64
	points     float64 // that the wanted grid has
	limited    bool    // the grid cannot be made that fine
}

func (q *pldQuestion) view(s *sketch, theta, refine float64) view {
	if math.IsNaN(theta) {
		if q.byEps {
			theta = s.tiltAt(q.eps)
		} else {
			theta = s.tiltFor(math.Log(q.delta))
		}
	}
	best := q.viewAt(s, theta, refine)
	// With rare large losses the tilted sum is wider than the sum that decides δ: a smaller tilt may need far fewer points.
	for t := theta; best.points > 1<<16 && t > 0.05*theta; {
		t *= 0.7
		if v := q.viewAt(s, t, refine); v.points < 0.6*best.points {
			best = v
		}
	}
	return best
}

func (q *pldQuestion) viewAt(s *sketch, theta, refine float64) view {
	_, eps, sd := s.saddle(theta)
	v := view{theta: theta}
	aim := q.eps
	if !q.byEps {
		aim = max(eps, 0)
	}
	aim = max(aim, 0.3*sd)
	// Connecting the dots adds at most about h²/6 of variance a step, which moves ε by θ/2 times that.
	v.h = math.Sqrt(12*pldTol*aim/(max(theta, aim/max(sd*sd, 1e-300))*s.total)) * refine
	v.h = min(v.h, sd/6)
	logTail := math.Log(1e-7) + math.Log(normalHockey(theta, sd)) + math.Log1p(theta)
	up, lu := s.reach(theta, sd, logTail, 1)
	down, ld := s.reach(theta, sd, logTail, -1)
	v.lambdaUp, v.lambdaDown = lu, ld
	if q.byEps {
		down, up = min(down, q.eps-sd), max(up, q.eps+sd)
	} else {
		down = min(down, eps-sd)
	}
	width := up - down
	widest := 0.0
	for i := range s.terms {
		widest = max(widest, s.terms[i].hi-s.terms[i].lo)
	}
	v.points = max(width, widest) / v.h
	if least := max(width/(maxGrid-64), widest/(maxCells-64)); v.h < least {
		v.h, v.limited = least, true
	}
	v.h = roundGrid(v.h)
	v.first = int64(math.Floor(down/v.h)) - 2
	v.n = fftSize(int(width/v.h) + 8)
	return v
}

// roundGrid keeps 12 bits, so that every index times h is exact.
func roundGrid(h float64) float64 {
	f, e := math.Frexp(h)
	return math.Ldexp(math.Round(f*4096)/4096, e)
}

// fftSize is the next length with a fast transform.
func fftSize(n int) int {
	n = max(n, 64)
	p := 1
	for p*16 < n {
		p *= 2
	}
	for _, m := range []int{8, 9, 10, 12, 15, 16} {
		if p*m >= n && (p*m)%2 == 0 {
			return p * m
		}
	}
	return p * 16
}

// once composes on one grid. moved is a better tilt when the answer was outside the window.
func (q *pldQuestion) once(g *gridder, v view, ends []span) (a pldAnswer, moved float64) {
	up := make([]summand, len(q.pairs))
	low := make([]summand, len(q.pairs))
	inf := 0.0
	for i, p := range q.pairs {
		lo, hi := int64(math.Floor(ends[i].lo/v.h)), int64(math.Ceil(ends[i].hi/v.h))
		if lo > 0 {
			lo = 0
		}
		if hi < 1 {
			hi = 1
		}
		l := g.discretise(p, v.h, lo, hi)
		up[i] = summand{l.first, l.up, q.n[i]}
		low[i] = summand{l.first, l.low, q.n[i]}
		inf += float64(q.n[i]) * l.inf
	}
	c := newComposer(v.n)
	ch := c.compose(up, v.h, v.theta, v.first, v.lambdaUp, v.lambdaDown)
	ch.inf = inf
	if q.byEps {
		a.upper, a.ok = ch.deltaUpper(q.eps)
	} else {
		a.upper, a.ok = ch.epsilonUpper(q.delta)
		if !a.ok {
			return a, 0
		}
	}
	if q.lower {
		cl := c.compose(low, v.h, v.theta, v.first, v.lambdaUp, v.lambdaDown)
		if q.byEps {
			a.lower, _ = cl.deltaLower(q.eps)
		} else if e, ok := cl.epsilonLower(q.delta); ok {
			a.lower = e
		}
	}
	return a, 0
}
