package pld

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

const (
	maxGrid    = 1 << 18 // points of a transform, which then takes about 20 MiB
	maxCells   = 1 << 17 // cells of one step
	maxUses    = 1e12    // with more uses, rounding errors would exceed the answer
	guessDelta = 1e-15   // used for a δ that is not known yet
	leastGrid  = 1e-14   // the smallest spacing of a grid
	tolerance  = 2e-4    // intended relative distance of the upper end from the true value
	manyUses   = 1e4     // with at least as many, the normal approximation may help
	manyTerms  = 8       // with more terms, a wider bracket is accepted
	tries      = 5       // largest number of grids for ε
	moreTries  = 4       // further grids for δ, while its lower end is below 0.6 times the upper end
	margin     = 8       // points of a window in addition to its width
	// guard is a relative margin for unforeseen errors. All known errors have been added by then.
	guard = 5e-5
)

// question asks for the price of one direction of a composition. It holds the pairs with their
// counts, and either δ (to find ε) or ε (to find δ).
type question struct {
	pairs []Pair
	n     []int
	total float64
	delta float64
	eps   float64
	byEps bool
	lower bool // compute the lower end too
	known bool // compute the lower end only: the upper end is known from a coarser grid

	stopped func() bool // see Composition.Stopped

	spacing float64   // common spacing of the losses of all pairs, if they have one
	offsets []float64 // offset of each pair's losses; nil without a common spacing
}

// Answer brackets ε or δ. OK is false if neither a grid nor moments gave an answer.
type Answer struct {
	Lower, Upper float64
	OK           bool
	Blunt        bool // Rényi divergences may do better: see sketch.renyi
	Limited      bool // the grid was as fine as memory allows
}

// quickly returns a bound that costs no transform.
func (q *question) quickly(w *workspace) Answer {
	tail := q.tailMass()
	if q.total > maxUses || !planFits(q.pairs, tail) {
		return Answer{}
	}
	s := newSketch(q.n, q.pairs, tail)
	return q.byMoments(w, q.aim(&s).theta)
}

// solve chooses tilt, window and grid from a sketch, composes, and refines until the bracket is
// narrow. With coarse > 1, the spacing of the first grid is larger by that factor, and the first
// sound answer is returned.
func (q *question) solve(w *workspace, coarse float64) Answer {
	tail := q.tailMass()
	if q.total > maxUses || !planFits(q.pairs, tail) {
		return Answer{}
	}
	s := newSketch(q.n, q.pairs, tail)
	if q.byEps { // the mass allowed in the tails depends on the δ that is to be found
		if d := s.logDeltaAt(s.tiltAt(q.eps), q.eps); d < math.Log(guessDelta) {
			q.delta = math.Exp(max(d, -600))
			tail = q.tailMass()
			s = newSketch(q.n, q.pairs, tail)
		}
	}
	ends := q.ends(&s, tail)
	if ends == nil {
		return Answer{}
	}
	if q.byEps {
		if a := q.beyond(ends); a.OK {
			return a
		}
	}
	q.spacing, q.offsets = lattice(q.pairs)
	r := q.refining(&s, coarse)
	if math.IsNaN(r.aim.theta + r.aim.eps) { // no window is known
		return Answer{}
	}
	last := math.Inf(1)
	for try := range tries + moreTries {
		if try >= tries && !(q.byEps && r.best.Lower < 0.6*r.best.Upper) {
			break
		}
		view := q.view(&s, r.aim, r.grid)
		if view.limited && r.best.OK && view.h > 0.8*last { // hardly finer than the last grid
			r.best.Limited = true
			break
		}
		last = view.h
		a := q.once(w, &s, view, ends)
		if !a.OK {
			r.lookFurther()
			continue
		}
		expected := r.aim.eps
		if q.take(&r, a, view.limited) || coarse > 1 || view.limited || view.lattice {
			break
		}
		if view.theta*(expected-r.aim.eps) > 1 { // another tilt may leave δ a larger share
			last = math.Inf(1)
			continue
		}
		r.grid /= 2
		if q.lower && !q.byEps && r.best.Upper-r.best.Lower > 4*r.width*r.best.Upper {
			r.grid, q.known = r.grid/4, true // the lower end alone needs a far finer grid
		}
	}
	q.known = false
	if !r.best.OK {
		r.best = q.byMoments(w, r.aim.theta)
	}
	r.best.Upper *= 1 + guard
	if q.lower && r.best.Upper-r.best.Lower > r.width*r.best.Upper {
		r.best.Lower = max(r.best.Lower, q.byOneUse())
		if q.total >= manyUses {
			r.best = q.byNormal(w, r.aim.theta, r.best)
		}
	}
	r.best.Blunt = q.byEps || s.renyi(r.aim.theta, q.delta) < 1.02*r.best.Upper
	r.best.Lower = min(r.best.Lower, r.best.Upper)
	return r.best
}

// byOneUse returns a lower end: all uses together cost at least as much as each of them.
func (q *question) byOneUse() (lower float64) {
	for _, p := range q.pairs {
		one := NewSingle(&Pairs{Remove: p}, true)
		if q.byEps {
			d, _ := one.Delta(q.eps)
			lower = max(lower, d)
		} else if a := one.Epsilon(q.delta); a.OK {
			lower = max(lower, a.Lower)
		}
	}
	return lower
}

// beyond brackets δ(ε) if no sum of losses within the ends exceeds ε. Each use is
// (hi, δ(hi))-differentially private, so all uses together are
// (Σ hi, 1 − Π(1−δ(hi)))-differentially private (Dwork et al. 2006; for the product, Kairouz, Oh
// and Viswanath 2015, Theorem 3.3).
func (q *question) beyond(ends []span) Answer {
	sum, keep, never := 0.0, 0.0, 0.0
	for i, e := range ends {
		n := float64(q.n[i])
		sum += n * max(0, e.hi)
		keep += n * math.Log1p(-e.top)
		never += n * math.Log1p(-e.never)
	}
	if !(sum*(1+1e-12) <= q.eps) {
		return Answer{}
	}
	return Answer{Lower: max(0, -math.Expm1(never)*(1-8*ulp)),
		Upper: renyi.AtMost(1, -math.Expm1(keep)*(1+8*ulp)), OK: true}
}

// refining is the state of solve.
type refining struct {
	best     Answer
	aim      aim
	expected float64 // approximate answer
	grid     float64 // factor of the grid spacing; 1 should suffice
	width    float64 // largest relative width at which a bracket is narrow enough
}

func (q *question) refining(s *sketch, coarse float64) refining {
	r := refining{best: Answer{Upper: math.Inf(1)}, aim: q.aim(s), grid: coarse, width: 25 * tolerance}
	r.expected = r.aim.eps
	if q.byEps {
		r.best.Upper, r.expected = 1, math.Exp(r.aim.logDelta)
	}
	// Every term costs a transform, so accept a wider bracket. Its relative width stays below 1 %.
	if len(q.pairs) > manyTerms {
		r.grid, r.width = 1.8*coarse, 1.8*r.width
	}
	return r
}

// lookFurther widens the window and lowers the tilt. It is called if the window did not contain the
// answer.
func (r *refining) lookFurther() {
	r.aim.wider += 12
	r.aim.theta *= 0.6
}

// take keeps, for each end, the better of a and the best answer so far, and reports whether the
// bracket is narrow enough. Without a lower end, it reports whether a agrees with the expected
// answer.
func (q *question) take(r *refining, a Answer, limited bool) bool {
	if !r.best.OK || a.Upper < r.best.Upper {
		r.best.Upper, r.best.Limited = a.Upper, limited
	}
	r.best.OK = true
	r.best.Lower = max(r.best.Lower, a.Lower)
	if !q.byEps {
		r.aim.eps = a.Upper
	}
	if q.lower {
		return r.best.Upper-r.best.Lower <= r.width*r.best.Upper
	}
	expected := r.expected
	r.expected = a.Upper
	return math.Abs(a.Upper-expected) <= 0.02*a.Upper
}

// tailMass returns the mass that one use may move to infinite loss. All uses together then move at
// most 1e-5 of δ. Keeping more of the tail would hardly change the answer, but tilting would give
// this mass a large weight, and the window would have to be wider.
func (q *question) tailMass() float64 {
	d := q.delta
	if q.byEps && d == 0 {
		d = guessDelta
	}
	return max(1e-5*d/q.total, 1e-290)
}

// span is the interval of losses that a grid has to contain. never is a lower bound on the mass of
// P at infinite loss.
type span struct {
	lo, hi, never float64
	top           float64 // δ(hi) of one use, rounded up
}

// ends returns for each term an interval of losses. The mass outside it is at most about tail. The
// result is nil if losses are too large for floating point.
func (q *question) ends(s *sketch, tail float64) []span {
	out := make([]span, len(q.pairs))
	for i, p := range q.pairs {
		t := &s.terms[i]
		lo, hi := t.lo, t.hi
		if !(lo > -600 && hi < 600) {
			return nil
		}
		var c cells
		node := []float64{600}
		p.cut(node, &c)
		// This much remains above every possible end.
		all, never := c.topE, max(0, c.topE-c.topErr-2*tail-unproven)
		for j := 0; j < 60; j++ {
			node[0] = hi
			p.cut(node, &c)
			if !(c.topE-all > tail) {
				break
			}
			hi += 0.1*(hi-lo) + 1e-12
		}
		out[i] = span{lo, hi, never, renyi.AtMost(1, c.topE+c.topErr)}
	}
	return out
}

// view is the choice of tilt, grid and window for one composition.
type view struct {
	theta      float64
	h          float64
	from       float64 // the loss at which the window begins
	n          int     // points of the transform
	lambdaUp   float64
	lambdaDown float64
	offsets    []float64 // of each term's grid
	anchored   []bool    // whether a node is at a term's heaviest atom
	lattice    bool      // all losses are on the grid
	points     float64   // number of points of the wanted grid
	limited    bool      // the wanted grid is too fine for the memory
}

// aim holds the answer (ε, log δ) expected from the sketch, and the tilt that centres the sum on
// it.
type aim struct {
	theta, eps, logDelta float64
	wider                float64 // the allowed mass outside the window is divided by e^wider
}

func (q *question) aim(s *sketch) aim {
	var a aim
	if q.byEps {
		a.theta = s.tiltAt(q.eps)
		a.logDelta = s.logDeltaAt(a.theta, q.eps)
		a.eps = q.eps
	} else {
		a.theta = s.tiltFor(math.Log(q.delta))
		_, a.eps, _ = s.saddle(a.theta)
		a.eps, a.logDelta = max(0, min(a.eps, s.renyi(a.theta, q.delta))), math.Log(q.delta)
	}
	return a
}

func (q *question) view(s *sketch, a aim, refine float64) view {
	best, noise := q.viewAt(s, a, a.theta, refine), q.noise(s, a, a.theta)
	// With rare large losses the tilted sum is wider than the range of losses that decides δ. A
	// smaller tilt may then need far fewer points, or leave δ a larger share of the sum.
	for t := a.theta; (best.points > 1<<15 || noise > fineNoise) && t > 0.05*a.theta; {
		t *= 0.8
		n := q.noise(s, a, t)
		if n > max(noise, fineNoise) {
			continue
		}
		v := q.viewAt(s, a, t, refine)
		if noise > fineNoise && n < noise || v.points < 0.9*best.points {
			best, noise = v, n
		}
	}
	return best
}

// fineNoise is a relative error of δ that hardly matters.
const fineNoise = 0.01

// noise approximates the relative error of δ by the transform's rounding errors, if the sum is
// tilted by theta. The errors are those of composer.multiply, spread over the sum.
func (q *question) noise(s *sketch, a aim, theta float64) float64 {
	k, _, k2 := s.cumulants(theta)
	spread := math.Sqrt(k2) * theta * (1 + theta)
	return math.Exp(k-theta*a.eps-a.logDelta) * s.total * transformError(1<<16) / (1 + spread)
}

func (q *question) viewAt(s *sketch, a aim, theta, refine float64) view {
	k, mean, k2 := s.cumulants(theta)
	sd := math.Sqrt(k2)
	v := view{theta: theta}
	near := max(a.eps, 0.3*sd)
	// Connecting the dots adds a variance of at most about h²/6 per use. This moves ε by θ/2 times the
	// added variance.
	v.h = math.Sqrt(12*tolerance*near/(max(theta, near/max(sd*sd, 1e-300))*s.total)) * refine
	v.h = min(v.h, sd/6)
	// If losses hardly vary, use a coarser grid than the formula gives. This only makes the answer
	// larger.
	if !(v.h > leastGrid) {
		v.h = leastGrid
	}
	// The tilted mass that wraps around must stay small compared with the tilted δ.
	logTail := math.Log(1e-5) + min(0, a.logDelta+theta*a.eps-k) + math.Log1p(theta) - a.wider
	logTail = min(logTail, math.Log(1e-3)-a.wider)
	up, lu := s.reach(theta, sd, logTail, 1)
	down, ld := s.reach(theta, sd, logTail, -1)
	down, up = min(down, a.eps-sd), max(up, a.eps+sd, mean+sd)
	width := up - down
	widest := 0.0
	for i := range s.terms {
		widest = max(widest, s.terms[i].hi-s.terms[i].lo)
	}
	v.points = max(width, widest) / v.h
	least := max(width/(maxGrid-64), widest/(maxCells-64))
	if v.h < least {
		v.h, v.limited = least, true
	}
	if q.offsets != nil && max(width, widest)/q.spacing < max(4*v.points, 1<<15) &&
		width/q.spacing < maxGrid-64 && widest/q.spacing < maxCells-64 {
		// The losses themselves lie on a grid. If it is used, nothing is rounded.
		v.h, v.offsets, v.points, v.limited = q.spacing, q.offsets, width/q.spacing, false
		v.lattice = true
	}
	if !v.lattice { // the size of a transform is rounded up: use the spare points for a finer grid
		fill := width / float64(transformSize(int(width/v.h)+margin)-margin) * (1 + 0x1p-10)
		v.h = roundGrid(min(v.h, max(fill, least)))
	}
	// Chernoff's bound on the mass outside the window is valid for all λ > 0. These limits keep its
	// exponentials finite.
	v.lambdaUp, v.lambdaDown = min(lu, 8/v.h), min(ld, 8/v.h)
	if v.offsets == nil {
		v.offsets, v.anchored = make([]float64, len(q.pairs)), make([]bool, len(q.pairs))
		for i, p := range q.pairs {
			v.offsets[i], v.anchored[i] = s.terms[i].offset(p, theta, v.h)
		}
	}
	v.from = down
	v.n = transformSize(int(width/v.h) + margin)
	return v
}

// roundGrid rounds h to 12 bits, so that every index times h is exact.
func roundGrid(h float64) float64 {
	f, e := math.Frexp(h)
	return math.Ldexp(math.Round(f*4096)/4096, e)
}

// workspace holds the buffers of one call of solve.
type workspace struct {
	layout layout
	g      gridder
	c      composer
}

// unusedLimit is the largest excess, in steps of the grid, that a merge may leave unused without a
// second try.
const unusedLimit = 1e-3

// cut returns the gridded losses of term i, with a node at the loss offset.
func (q *question) cut(w *workspace, s *sketch, v *view, i int, offset float64, e span) gridded {
	lo := int64(math.Floor((e.lo - offset) / v.h))
	hi := max(lo+1, int64(math.Ceil((e.hi-offset)/v.h)))
	if v.lattice {
		lo, hi = -1, hi+1
	}
	at := w.layout.of(s, i, v, offset, lo, hi)
	return w.g.discretise(q.pairs[i], v.h, offset, at, e.never, q.lower)
}

// slip bounds how far the rounding of nodes may move the sum of all uses of term i.
func (q *question) slip(i int, l gridded, h float64) float64 {
	far := max(math.Abs(float64(l.at[0])), math.Abs(float64(l.at[len(l.at)-1]))) * h
	return float64(q.n[i]) * 8 * ulp * (math.Abs(l.offset) + far)
}

// once composes on one grid.
func (q *question) once(w *workspace, s *sketch, v view, ends []span) (a Answer) {
	c := &w.c
	c.begin(v, !q.known, q.lower)
	keep, lowKeep := 0.0, 0.0 // log P(L < ∞)
	slip := 0.0               // how far the rounding of nodes may move the sum
	for i := range q.pairs {
		if q.stopped != nil && q.stopped() {
			return Answer{}
		}
		if !((ends[i].hi-ends[i].lo)/v.h < 4*maxCells) { // the grid is too fine for the ends
			return Answer{}
		}
		l := q.cut(w, s, &v, i, v.offsets[i], ends[i])
		slip += q.slip(i, l, v.h)
		if !q.known {
			c.add(&c.up, summand{l.offset, l.at, l.up, q.n[i]})
		}
		if q.lower {
			if !v.lattice && !v.anchored[i] && w.g.unused > unusedLimit*v.h {
				// If losses vary by less than h, a node at the loss of all of them merged leaves no
				// excess unused.
				l = q.cut(w, s, &v, i, v.offsets[i]+w.g.unused, ends[i])
				slip += q.slip(i, l, v.h)
			}
			c.add(&c.low, summand{l.offset, l.at, l.low, q.n[i]})
		}
		if !(l.inf < 1) {
			return Answer{}
		}
		keep += float64(q.n[i]) * math.Log1p(-l.inf)
		lowKeep += float64(q.n[i]) * math.Log1p(-ends[i].never)
	}
	var ch channel
	if !q.known {
		ch = c.channel(&c.up)
		ch.inf = min(1, -math.Expm1(keep)*(1+8*ulp))
	}
	if q.known {
		a.Upper, a.OK = math.Inf(1), true
	} else if q.byEps {
		a.Upper, a.OK = ch.deltaUpper(q.eps - slip)
	} else {
		a.Upper, a.OK = ch.epsilonUpper(q.delta)
		if a.Upper += slip; !a.OK {
			return a
		}
	}
	if q.lower {
		ch = c.channel(&c.low)
		ch.inf = max(0, -math.Expm1(lowKeep)*(1-8*ulp))
		if q.byEps {
			a.Lower, _ = ch.deltaLower(q.eps + slip)
		} else if e, ok := ch.epsilonLower(q.delta); ok {
			a.Lower = max(0, e-slip)
		}
	}
	a.OK = a.OK && !math.IsNaN(a.Upper) // NaN: the tilt overflowed, which proves nothing
	if math.IsNaN(a.Lower) {
		a.Lower = 0
	}
	return a
}
