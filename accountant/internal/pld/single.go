package pld

import "github.com/seed7ba64551/privgen/accountant/internal/renyi"

// Single is the exact curve of a single use of a single mechanism, computed without a grid.
type Single struct {
	pairs []Pair
	under *Single // the curve of the lower end; nil for the same curve
	loose bool    // the pairs are only upper bounds
	c     cells
	node  [1]float64
}

// NewSingle returns the curve of one use of the mechanism with the given pairs. If lower is false,
// it skips the work that only the lower end needs.
func NewSingle(p *Pairs, lower bool) *Single {
	o := &Single{pairs: []Pair{p.Remove}, loose: p.Loose}
	if p.Add != nil {
		o.pairs = append(o.pairs, p.Add)
	}
	if lower && p.Under != nil {
		o.under = NewSingle(p.Under(), true)
	}
	return o
}

// Exact reports whether the curve is the mechanism's own curve and not only a bound.
func (o *Single) Exact() bool { return !o.loose }

// Delta brackets δ(ε), the larger of both directions.
func (o *Single) Delta(eps float64) (lower, upper float64) {
	for _, p := range o.pairs {
		o.node[0] = eps
		p.cut(o.node[:], &o.c)
		lower = max(lower, o.c.topE-o.c.topErr)
		upper = max(upper, o.c.topE+o.c.topErr)
	}
	if o.under != nil {
		lower, _ = o.under.Delta(eps)
		lower = min(lower, upper)
	} else if o.loose || !(lower > 0 && lower <= 1) {
		lower = 0
	}
	return lower, renyi.AtMost(1, upper)
}

// Epsilon brackets the smallest ε ≥ 0 with δ(ε) ≤ delta. OK is false if ε is too large for floating
// point.
func (o *Single) Epsilon(delta float64) (b Answer) {
	upper := func(e float64) float64 { _, u := o.Delta(e); return u - delta }
	lower := func(e float64) float64 { l, _ := o.Delta(e); return l - delta }
	if upper(0) <= 0 {
		return Answer{OK: true}
	}
	hi := 1.0
	for upper(hi) > 0 {
		if hi *= 2; hi > 600 {
			return Answer{}
		}
	}
	b.Upper = narrow(0, hi, upper)
	if lower(0) > 0 {
		b.Lower = narrow(0, hi, lower) * (1 - 1e-11)
	}
	b.Lower = min(b.Lower, b.Upper)
	b.OK = true
	return b
}

// narrow brackets the zero of a decreasing f to a relative width of 1e−12 and returns the end at
// which f ≤ 0. It uses false position, with bisection as a safeguard.
func narrow(lo, hi float64, f func(float64) float64) float64 {
	flo, fhi := f(lo), f(hi)
	for i := 0; i < 200 && hi-lo > 1e-12*hi && hi > 1e-300; i++ {
		x := lo + (hi-lo)/2
		if i%3 != 2 && flo > 0 && fhi < 0 {
			s := lo + (hi-lo)*flo/(flo-fhi)
			if s > lo+1e-3*(hi-lo) && s < hi-1e-3*(hi-lo) {
				x = s
			}
		}
		if !(x > lo && x < hi) {
			break
		}
		if v := f(x); v <= 0 {
			hi, fhi = x, v
		} else {
			lo, flo = x, v
		}
	}
	return hi
}
