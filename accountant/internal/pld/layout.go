package pld

import "math"

// layout chooses the nodes at which one term's losses are cut. Nodes are indices on the grid of a
// view. Cells are one step wide at the losses whose mass decides the answer. They are wider at
// losses with little tilted mass, where chords add almost nothing to the error. A tail of thousands
// of steps then takes a few dozen cells. The choice does not affect soundness: connect and merge
// are sound for any nodes.
type layout struct {
	at   []int64
	caps []float64 // for each cell of the sketch, the largest width of a cell that overlaps it
}

const (
	// spread bounds the error that all wide cells together add. It is a fraction of the error of
	// cells of one step.
	spread = 0.01
	// strayLog bounds the increase of the sum's log moment at the two tilts that bound the window.
	strayLog = 0.1
)

// of returns the nodes for term i between the indices lo and hi, both included.
func (g *layout) of(s *sketch, i int, v *view, offset float64, lo, hi int64) []int64 {
	t := &s.terms[i]
	g.at = append(g.at[:0], lo)
	if v.lattice { // each point may hold a mass
		for k := lo; k < hi; k++ {
			g.at = append(g.at, k+1)
		}
		return g.at
	}
	g.limits(s, t, v)
	last := len(t.end) - 1
	for j, k := 0, lo; k < hi; {
		from := offset + float64(k)*v.h
		for j < last && t.end[j] <= from {
			j++
		}
		w := g.caps[j]
		for i := j + 1; i <= last && t.end[i-1] < from+w; i++ {
			w = min(w, max(g.caps[i], t.end[i-1]-from))
		}
		k = min(hi, k+max(1, int64(min(w/v.h, maxCells))))
		g.at = append(g.at, k)
	}
	return g.at
}

// limits computes the largest widths of cells. A mass inside a cell of width w goes to the two ends
// of the cell. This raises its share of the moment at tilt θ by a factor of about 1+(θw)²/8 at
// most.
//
// Each term may add the same error. So a term used once gets far wider cells than a term used
// thousands of times.
func (g *layout) limits(s *sketch, t *sketchTerm, v *view) {
	g.caps = g.caps[:0]
	cells := float64(len(t.loss)*len(s.terms)) * t.n / s.total
	tilts := [3]float64{v.theta, v.theta + v.lambdaUp, v.theta - v.lambdaDown}
	var scale [3]float64
	for i, theta := range tilts {
		scale[i] = t.logMoment(theta)
	}
	for j, l := range t.loss {
		m := t.logMass[j]
		share := math.Exp(m + tilts[0]*l - scale[0])
		w := min(v.h*math.Sqrt(spread/(cells*share)), 0.5/(1+math.Abs(v.theta)))
		for i, theta := range tilts[1:] {
			share := math.Exp(m + theta*l - scale[i+1])
			r := 8 * strayLog / (s.total * cells * share)
			w = min(w, min(math.Sqrt(r), 1+math.Log1p(r)/3)/(1+math.Abs(theta)))
		}
		g.caps = append(g.caps, w)
	}
}

// logMoment returns log E[e^{θL}] of one use.
func (t *sketchTerm) logMoment(theta float64) float64 {
	top := math.Inf(-1)
	for j, l := range t.loss {
		top = max(top, t.logMass[j]+theta*l)
	}
	sum := 0.0
	for j, l := range t.loss {
		sum += math.Exp(t.logMass[j] + theta*l - top)
	}
	return top + math.Log(sum)
}

// offset returns the position of a term's nodes between the multiples of h. It is chosen such that
// the losses with the largest tilted mass are near a node. Both distributions of the grid move such
// losses only a little. This matters if the losses of one use vary by less than h.
func (t *sketchTerm) offset(p Pair, theta, h float64) (offset float64, anchored bool) {
	if a, ok := anchorOf(p, theta); ok {
		a -= onGrid*h + 64*ulp*math.Abs(a)
		return a - math.Round(a/h)*h, true
	}
	scale := t.logMoment(theta)
	best, at := math.Inf(1), 0.0
	for k := range offsets {
		loss := h * float64(k) / offsets
		if s := t.stray(loss, theta, scale, h); s < best {
			best, at = s, loss
		}
	}
	return at - math.Round(at/h)*h, false
}

// offsets is the number of positions between multiples of h that offset tries.
const offsets = 8

// stray returns the variance added by chords if a node lies at the loss at.
func (t *sketchTerm) stray(at, theta, scale, h float64) float64 {
	sum := 0.0
	for j, l := range t.loss {
		x := (l - at) / h
		x -= math.Floor(x)
		sum += math.Exp(t.logMass[j]+theta*l-scale) * x * (1 - x)
	}
	return sum
}

// anchored is implemented by pairs that may have an atom with most of the tilted mass. A node just
// below the atom keeps the atom exact in both distributions of the grid.
type anchored interface {
	anchor(theta float64) (loss float64, ok bool)
}

func anchorOf(p Pair, theta float64) (loss float64, ok bool) {
	if a, has := p.(anchored); has {
		return a.anchor(theta)
	}
	return 0, false
}

func (p *Discrete) anchor(theta float64) (float64, bool) {
	best, at := math.Inf(-1), 0.0
	for k, l := range p.loss {
		if m := p.mass[k]; m > 0 {
			if v := math.Log(m) + theta*l; v > best {
				best, at = v, l
			}
		}
	}
	return at, !math.IsInf(best, -1)
}

func (p *Slope) anchor(theta float64) (float64, bool) {
	if math.Log(p.topP)+theta*p.a >= math.Log(p.lowP)-theta*p.a {
		return p.a, p.topP > 0
	}
	return -p.a, p.lowP > 0
}

func (p *Sampled) anchor(theta float64) (float64, bool) {
	// P has the base's mass times (1−q)e^{−l}+q at the base's loss l.
	l, ok := anchorOf(p.base, theta)
	return logMixture(p.q, l), ok
}

// anchor uses this fact: at the loss −l, P has e^{−l} times the base's mass at its loss l.
func (p *Mirror) anchor(theta float64) (float64, bool) {
	l, ok := anchorOf(p.base, -1-theta)
	return -l, ok
}

func (p *Blend) anchor(theta float64) (float64, bool) {
	if l, ok := anchorOf(p.a, theta); ok && p.share >= 0.5 {
		return l, ok
	}
	return anchorOf(p.b, theta)
}
