package accountant

// oneStep is the exact curve of a single use of a single mechanism: no grid, no composition.
type oneStep struct {
	pairs []pair
	loose bool // the pairs are only upper bounds: nothing is known from below
	c     cells
	node  [1]float64
}

func newOneStep(terms []term) *oneStep {
	if len(terms) != 1 || terms[0].n != 1 {
		return nil
	}
	p := terms[0].atom.pairs()
	if p == nil {
		return nil
	}
	o := &oneStep{pairs: []pair{p.remove}, loose: p.loose}
	if p.add != nil {
		o.pairs = append(o.pairs, p.add)
	}
	return o
}

// delta brackets δ(ε), the larger of both directions.
func (o *oneStep) delta(eps float64) (lower, upper float64) {
	for _, p := range o.pairs {
		o.node[0] = eps
		p.cut(o.node[:], &o.c)
		lower = max(lower, o.c.topE-o.c.topErr)
		upper = max(upper, o.c.topE+o.c.topErr)
	}
	if o.loose {
		lower = 0
	}
	return max(0, lower), min(1, upper)
}

// epsilon brackets the smallest ε ≥ 0 with δ(ε) ≤ delta; ok is false beyond losses that floating point can hold.
func (o *oneStep) epsilon(delta float64) (b Bound, ok bool) {
	upper := func(e float64) float64 { _, u := o.delta(e); return u - delta }
	lower := func(e float64) float64 { l, _ := o.delta(e); return l - delta }
	if upper(0) <= 0 {
		return Bound{}, true
	}
	hi := 1.0
	for upper(hi) > 0 {
		if hi *= 2; hi > 600 {
			return Bound{}, false
		}
	}
	b.Upper = narrow(0, hi, upper)
	if lower(0) > 0 {
		b.Lower = narrow(0, hi, lower) * (1 - 1e-11)
	}
	b.Lower = min(b.Lower, b.Upper)
	b.Estimate = b.Lower + (b.Upper-b.Lower)/2
	return b, true
}

// narrow brackets the zero of a decreasing f to a relative 1e−12, returning the end where f ≤ 0. False position with
// halved weights, kept inside by bisection.
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
