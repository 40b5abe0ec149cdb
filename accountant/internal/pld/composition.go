package pld

import (
	"math"
	"sync"
)

// Composition is an adaptive composition of several mechanisms, each used a number of times. It
// holds the pairs of distributions of each mechanism, in both directions, and the number of uses.
type Composition struct {
	n           []int
	of          []*Pairs
	remove, add []Pair
	symmetric   bool
	loose       bool // some pair only bounds its mechanism from above, so there is no lower end

	// Stopped, if it is set, is called between the mechanisms of every grid. After it has returned
	// true, answers are worth nothing.
	Stopped func() bool
}

// NewComposition returns an empty composition.
func NewComposition() *Composition { return &Composition{symmetric: true} }

// Append adds n uses of the mechanism with the given pairs.
func (s *Composition) Append(p *Pairs, n int) {
	s.n, s.of = append(s.n, n), append(s.of, p)
	s.loose = s.loose || p.Loose || p.Envelope
	s.remove = append(s.remove, p.Remove)
	s.symmetric = s.symmetric && p.Add == nil
	s.add = append(s.add, p.Adding())
}

// Loose reports whether some pair only bounds its mechanism from above. Answers then have no lower
// end, unless every such pair has one below its mechanism.
func (s *Composition) Loose() bool { return s.loose }

// under returns the composition of the pairs that lie below the mechanisms. It returns nil if there
// is no such composition other than s.
func (s *Composition) under() *Composition {
	if !s.loose {
		return nil
	}
	out := NewComposition()
	out.Stopped = s.Stopped
	for i, p := range s.of {
		if p.Under != nil {
			p = p.Under()
		}
		out.Append(p, s.n[i])
	}
	if out.loose {
		return nil
	}
	return out
}

// Epsilon brackets the smallest ε ≥ 0 with δ(ε) ≤ delta. If lower is false, it skips the work that
// only the lower end needs.
func (s *Composition) Epsilon(delta float64, lower bool) Answer {
	return s.both(question{delta: delta, lower: lower})
}

// Delta brackets δ(eps).
func (s *Composition) Delta(eps float64) Answer {
	return s.both(question{eps: eps, byEps: true, lower: true})
}

// both brackets the answer, by two compositions if the pairs are brackets.
func (s *Composition) both(q question) Answer {
	a := s.ends(q)
	if q.lower {
		if u := s.under(); u != nil {
			a.Lower = min(u.ends(q).Lower, a.Upper)
		}
	}
	return a
}

// ends returns the larger ε (or δ) of the two directions. The direction "add" almost always has the
// smaller value. So for "add" it first tries a bound by moments and then a coarse grid. It
// computes more only if these upper ends are above the upper end of the direction "remove".
func (s *Composition) ends(q question) Answer {
	q.n, q.stopped = s.n, s.Stopped
	for _, n := range s.n {
		q.total += float64(n)
	}
	if s.loose {
		q.lower = false
	}
	q.pairs = s.remove
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	a := q.solve(w, 1)
	if s.symmetric || !a.OK {
		return a
	}
	q.pairs = s.add
	if b := q.quickly(w); b.OK && b.Upper <= a.Upper {
		return a
	}
	quick := q
	quick.lower = false
	b := quick.solve(w, 3)
	if b.OK && b.Upper <= a.Upper {
		return a
	}
	b = q.solve(w, 1)
	return Answer{max(a.Lower, b.Lower), max(a.Upper, b.Upper), b.OK, a.Blunt ||
		b.Blunt, a.Limited || b.Limited}
}

// workspaces keeps memory that later computations use again.
var workspaces = sync.Pool{New: func() any { return &workspace{} }}

// Guess returns a cheap estimate of ε, which is never published; ok is false if there is none.
func (s *Composition) Guess(delta float64) (eps float64, ok bool) {
	q := question{delta: delta, n: s.n}
	for _, n := range s.n {
		q.total += float64(n)
	}
	for _, p := range [][]Pair{s.remove, s.add} {
		if !planFits(p, q.tailMass()) {
			return 0, false
		}
		k := newSketch(s.n, p, q.tailMass())
		_, e, _ := k.saddle(k.tiltFor(math.Log(delta)))
		eps = max(eps, e)
		if s.symmetric {
			break
		}
	}
	return eps, true
}

// planFits reports whether the losses of all pairs are small enough for floating point.
func planFits(p []Pair, tail float64) bool {
	for _, x := range p {
		nodes := x.plan(tail)
		if !(nodes[0] > -600 && nodes[len(nodes)-1] < 600) {
			return false
		}
	}
	return true
}
