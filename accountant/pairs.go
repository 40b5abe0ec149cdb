package accountant

import "math"

// pairs are the dominating pairs of one mechanism: any output of any data set and its neighbour is no easier to tell
// apart than P from Q. Removing and adding a record are composed apart; where the curve is the same for both, add is nil.
type pairs struct {
	remove, add pair
	loose       bool // the curve lies above the event's own: sound for the upper end only
}

// pair is a dominating pair (P, Q), seen through its privacy loss L = log(dP/dQ) under P.
type pair interface {
	// cut fills c for increasing nodes of the loss axis.
	cut(nodes []float64, c *cells)
	// plan lists increasing losses that divide the bulk of P and Q about evenly and leave less than about tail outside.
	plan(tail float64) []float64
}

// cells say how P and Q divide over intervals (nᵢ, nᵢ₊₁] of the loss axis, in the form that does not cancel:
// e[i] = P − e^{nᵢ}Q ≥ 0 and d[i] = e^{nᵢ₊₁}Q − P ≥ 0. All entries are within err[i] of the truth.
type cells struct {
	e, d, err []float64
	lowP      float64 // P of losses below the first node
	lowD      float64 // e^{n₀}Q − P of the same
	topE      float64 // P − e^{n_last}Q of losses above the last node: δ(n_last)
	topQ      float64 // Q of the same
	lowErr    float64 // of lowP and lowD
	topErr    float64 // of topE; topQ is good to the same relative precision
}

func (c *cells) reset(n int) {
	n = max(n, 0)
	if cap(c.e) < n {
		c.e, c.d, c.err = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	c.e, c.d, c.err = c.e[:n], c.d[:n], c.err[:n]
	clear(c.e)
	clear(c.d)
	clear(c.err)
	c.lowP, c.lowD, c.topE, c.topQ, c.lowErr, c.topErr = 0, 0, 0, 0, 0, 0
}

const ulp = 0x1p-52

// gaussPair is N(μ,1) against N(0,1): L = μx − μ²/2.
type gaussPair struct{ mu float64 }

// beyond is a plan that tells the engine that losses do not fit floating point.
func beyond() []float64 { return []float64{-1e4, 1e4} }

// maxEffect is the largest effect whose losses can be planned; beyond it ε runs into hundreds.
const maxEffect = 40

func (p gaussPair) plan(tail float64) []float64 {
	if !(p.mu < maxEffect) {
		return beyond()
	}
	x := normalQuantileUpper(tail)
	n := int((2*x+p.mu)/0.15) + 2
	nodes := make([]float64, n)
	for i := range nodes {
		nodes[i] = p.mu*(-x+(2*x+p.mu)*float64(i)/float64(n-1)) - p.mu*p.mu/2
	}
	return nodes
}

// side holds a normal probability by its smaller tail, so that differences keep relative precision on both sides.
type side struct {
	tail  float64
	err   float64 // absolute: an ulp or two of erfc, and what the rounding of x changes, |x|·ulp·φ(x) ≤ (x²+1)·ulp·tail
	upper bool    // tail is that above the point
}

func normalSide(x float64) side {
	tail := math.Erfc(math.Abs(x)/math.Sqrt2) / 2
	return side{tail, (3 + 2*x*x) * ulp * tail, x >= 0}
}

func (a side) above() float64 {
	if a.upper {
		return a.tail
	}
	return 1 - a.tail
}

func (a side) below() float64 {
	if a.upper {
		return 1 - a.tail
	}
	return a.tail
}

// between is the probability from a to b ≥ a, and an absolute error bound.
func between(a, b side) (v, err float64) {
	switch {
	case a.upper:
		return max(0, a.tail-b.tail), a.err + b.err
	case b.upper:
		return 1 - a.tail - b.tail, a.err + b.err + ulp
	}
	return max(0, b.tail-a.tail), a.err + b.err
}

func (p gaussPair) cut(nodes []float64, c *cells) {
	c.reset(len(nodes) - 1)
	var q0, p0 side
	var grow0 float64
	for i, l := range nodes {
		x := l/p.mu + p.mu/2
		q1, p1, grow1 := normalSide(x), normalSide(x-p.mu), math.Exp(l)
		if i == 0 {
			c.lowP = p1.below()
			c.lowD = max(0, grow1*q1.below()-c.lowP)
			c.lowErr = p1.err + grow1*q1.err + 4*ulp*(c.lowP+grow1*q1.below())
		} else {
			a, ea := between(q0, q1)
			b, eb := between(p0, p1)
			c.e[i-1] = max(0, b-grow0*a)
			c.d[i-1] = max(0, grow1*a-b)
			c.err[i-1] = eb + grow1*ea + 2*ulp*b
		}
		if i == len(nodes)-1 {
			c.topQ = q1.above()
			c.topE = max(0, gaussianDelta(p.mu, l))
			c.topErr = 4*p1.err + 8*ulp*p1.above() + 1e-300
		}
		q0, p0, grow0 = q1, p1, grow1
	}
}

// sampledPair is ((1−q)Q+qP ‖ Q): the mechanism runs with probability q. In cells of the loss axis both forms of the mass are just
// multiplied by q, so nothing is lost for small q.
type sampledPair struct {
	q    float64
	base pair
	work *sampledWork
}

type sampledWork struct {
	nodes []float64
	c     cells
}

func newSampledPair(q float64, base pair) *sampledPair {
	return &sampledPair{q, base, &sampledWork{}}
}

func (p *sampledPair) plan(tail float64) []float64 {
	nodes := p.base.plan(min(tail/p.q, 1e-3))
	out := nodes[:0]
	for _, l := range nodes {
		x := logMixture(p.q, l)
		if len(out) == 0 || x > out[len(out)-1] {
			out = append(out, x)
		}
	}
	return out
}

// logMixture is log(1−q+q·e^l).
func logMixture(q, l float64) float64 {
	if l > 30 {
		return l + math.Log(q) + math.Log1p((1-q)/q*math.Exp(-l))
	}
	if u := q * math.Expm1(l); u > -0.5 {
		return math.Log1p(u)
	}
	return math.Log((1 - q) + q*math.Exp(l)) // keeps the digits of 1−q
}

// baseLoss inverts logMixture; −∞ at and below its floor.
func baseLoss(q, eps float64) float64 {
	if eps > 30 {
		return eps - math.Log(q) + math.Log1p(-(1-q)*math.Exp(-eps))
	}
	v := math.Expm1(eps) / q
	if !(v > -1) {
		return math.Inf(-1)
	}
	return math.Log1p(v)
}

func (p *sampledPair) cut(nodes []float64, c *cells) {
	w := p.work
	w.nodes = w.nodes[:0]
	k := 0 // nodes at or below the floor log(1−q), where no loss can be
	for _, eps := range nodes {
		l := baseLoss(p.q, eps)
		if l < -600 {
			k++
			continue
		}
		w.nodes = append(w.nodes, l)
	}
	if len(w.nodes) == 0 { // everything lies above the last node
		c.reset(len(nodes) - 1)
		floor := math.Exp(nodes[len(nodes)-1])
		c.topQ, c.topE, c.topErr = 1, max(0, 1-floor), 2*ulp
		return
	}
	p.base.cut(w.nodes, &w.c)
	b := &w.c
	c.reset(len(nodes) - 1)
	grow := math.Exp(w.nodes[0])
	lowQ := (b.lowD + b.lowP) / grow
	c.topErr = p.q*b.topErr + 4*ulp*p.q*b.topE
	if k == 0 {
		c.lowP = (1-p.q)*lowQ + p.q*b.lowP
		c.lowD = p.q * b.lowD
		c.lowErr = p.q*b.lowErr + (1-p.q)*b.lowErr/grow + 4*ulp*(c.lowP+c.lowD)
	} else {
		// The base's lowest losses fall into the cell that contains the floor.
		floor := math.Exp(nodes[k-1])
		c.e[k-1] = p.q*b.lowP + max(0, 1-p.q-floor)*lowQ
		c.d[k-1] = p.q * b.lowD
		// The rest of its error is that of 1−q−floor, an ulp of 1, which also moves the floor itself.
		c.err[k-1] = p.q*b.lowErr + max(0, 1-p.q-floor)*b.lowErr/grow + 4*ulp*(c.e[k-1]+c.d[k-1]) + ulp*p.q*lowQ
	}
	for i := range b.e {
		c.e[k+i] = p.q * b.e[i]
		c.d[k+i] = p.q * b.d[i]
		c.err[k+i] = p.q*b.err[i] + 2*ulp*p.q*(b.e[i]+b.d[i])
	}
	c.topE = p.q * b.topE
	c.topQ = b.topQ
}

// mirrorPair swaps P and Q, so that the loss changes sign.
type mirrorPair struct {
	base pair
	work *sampledWork
}

func newMirrorPair(base pair) *mirrorPair { return &mirrorPair{base, &sampledWork{}} }

func (p *mirrorPair) plan(tail float64) []float64 {
	nodes := p.base.plan(tail)
	out := make([]float64, len(nodes))
	for i, l := range nodes {
		out[len(out)-1-i] = -l
	}
	return out
}

func (p *mirrorPair) cut(nodes []float64, c *cells) {
	w := p.work
	w.nodes = w.nodes[:0]
	for i := len(nodes) - 1; i >= 0; i-- {
		w.nodes = append(w.nodes, -nodes[i])
	}
	p.base.cut(w.nodes, &w.c)
	b := &w.c
	n := len(nodes) - 1
	c.reset(n)
	for j := 0; j < n; j++ {
		i := n - 1 - j // cell (nodes[i], nodes[i+1]] is the mirror of base cell j
		up, down := math.Exp(nodes[i]), math.Exp(nodes[i+1])
		c.e[i] = up * b.d[j]
		c.d[i] = down * b.e[j]
		c.err[i] = down*b.err[j] + 2*ulp*(c.e[i]+c.d[i])
	}
	c.lowP = b.topQ
	c.lowD = math.Exp(nodes[0]) * b.topE
	c.topE = math.Exp(nodes[n]) * b.lowD
	c.topQ = b.lowP
	c.lowErr = math.Exp(nodes[0])*b.topErr + 4*ulp*(c.lowD+c.lowP)
	c.topErr = math.Exp(nodes[n])*b.lowErr + 4*ulp*c.topE
}

// gluedPair takes the half of base above loss zero, its mirror image below, and the rest at zero.
type gluedPair struct {
	q, mu float64
	base  *sampledPair
	work  *sampledWork
}

func newGluedPair(q, mu float64) *gluedPair {
	return &gluedPair{q, mu, newSampledPair(q, gaussPair{mu}), &sampledWork{}}
}

func (p *gluedPair) plan(tail float64) []float64 {
	nodes := p.base.plan(tail)
	least := 1e-6 * nodes[len(nodes)-1] // narrower cells would hold rounding errors only
	var pos []float64
	for _, l := range nodes {
		if l > least {
			pos = append(pos, l)
		}
	}
	var out []float64
	for i := len(pos) - 1; i >= 0; i-- {
		out = append(out, -pos[i])
	}
	out = append(out, 0)
	return append(out, pos...)
}

// atZero is the mass (of P and of Q) at loss zero: 1 − P(L>0) − Q(L>0) = (1−q)·erf(μ/√8).
func (p *gluedPair) atZero() float64 { return (1 - p.q) * math.Erf(p.mu/math.Sqrt(8)) }

func (p *gluedPair) cut(nodes []float64, c *cells) {
	z := 0
	for z < len(nodes) && nodes[z] < 0 {
		z++
	}
	if z < len(nodes) && nodes[z] == 0 {
		p.cutAt(nodes, z, c)
		return
	}
	// Cut with a node at zero, then join the two cells on its sides.
	full := append(append(append([]float64(nil), nodes[:z]...), 0), nodes[z:]...)
	var t cells
	p.cutAt(full, z, &t)
	c.reset(len(nodes) - 1)
	c.lowP, c.lowD, c.lowErr, c.topE, c.topQ, c.topErr = t.lowP, t.lowD, t.lowErr, t.topE, t.topQ, t.topErr
	switch z {
	case 0: // below the first node: what is below zero, and the first cell
		b := nodes[0]
		q := (t.e[0] + t.d[0]) / math.Expm1(b)
		lowQ := t.lowP + t.lowD // at node zero e^0 = 1
		c.lowP += t.e[0] + q
		c.lowD += t.d[0] + math.Expm1(b)*lowQ
		c.lowErr += t.err[0] / min(1, math.Expm1(b))
		copyCells(c, 0, &t, 1)
	case len(nodes):
		a := nodes[z-1]
		c.topE += t.e[z-1] - math.Expm1(a)*t.topQ
		c.topQ += (t.e[z-1] + t.d[z-1]) / -math.Expm1(a)
		c.topErr += t.err[z-1]
		copyCells(c, 0, &t, 0)
	default:
		a, b := nodes[z-1], nodes[z]
		copyCells(c, 0, &t, 0)
		q1 := (t.e[z-1] + t.d[z-1]) / -math.Expm1(a)
		q2 := (t.e[z] + t.d[z]) / math.Expm1(b)
		c.e[z-1] = t.e[z-1] + t.e[z] - math.Expm1(a)*q2
		c.d[z-1] = t.d[z-1] + t.d[z] + math.Expm1(b)*q1
		c.err[z-1] = 4 * (t.err[z-1] + t.err[z])
		copyCells(c, z, &t, z+1)
	}
}

// copyCells copies cells of t from index j on over those of c from index i on.
func copyCells(c *cells, i int, t *cells, j int) {
	copy(c.e[i:], t.e[j:])
	copy(c.d[i:], t.d[j:])
	copy(c.err[i:], t.err[j:])
}

// cutAt cuts at nodes of which the one with index z is zero.
func (p *gluedPair) cutAt(nodes []float64, z int, c *cells) {
	c.reset(len(nodes) - 1)
	w := p.work
	n := len(nodes) - 1
	p.base.cut(nodes[z:], &w.c)
	copyCells(c, z, &w.c, 0)
	c.topE, c.topQ, c.topErr = w.c.topE, w.c.topQ, w.c.topErr
	if z < n {
		c.d[z] += p.atZero() * math.Expm1(nodes[z+1])
		c.err[z] += 4 * ulp * p.atZero() * math.Expm1(nodes[z+1])
	}
	// The negative half mirrors the cells of the positive one at the mirrored nodes.
	w.nodes = w.nodes[:0]
	for i := z; i >= 0; i-- {
		w.nodes = append(w.nodes, -nodes[i])
	}
	p.base.cut(w.nodes, &w.c)
	for j := 0; j < z; j++ {
		i := z - 1 - j
		up, down := math.Exp(nodes[i]), math.Exp(nodes[i+1])
		c.e[i] = up * w.c.d[j]
		c.d[i] = down * w.c.e[j]
		c.err[i] = down*w.c.err[j] + 2*ulp*(c.e[i]+c.d[i])
	}
	c.lowP = w.c.topQ
	c.lowD = math.Exp(nodes[0]) * w.c.topE
	c.lowErr = math.Exp(nodes[0])*w.c.topErr + 4*ulp*(c.lowP+c.lowD)
	// The atom at zero may be booked at the bottom of the cell above its node, at the top of the cell below, or below the only node.
	if z == n && n > 0 {
		c.e[n-1] += p.atZero() * -math.Expm1(nodes[n-1])
		c.err[n-1] += 4 * ulp * p.atZero()
	} else if n == 0 {
		c.lowP += p.atZero()
	}
}

// blendPair runs pair a with probability share and pair b otherwise, and says which.
type blendPair struct {
	share float64
	a, b  pair
	work  *cells
}

func newBlendPair(share float64, a, b pair) *blendPair { return &blendPair{share, a, b, &cells{}} }

func (p *blendPair) plan(tail float64) []float64 { return mergeSorted(p.a.plan(tail), p.b.plan(tail)) }

func (p *blendPair) cut(nodes []float64, c *cells) {
	p.a.cut(nodes, p.work)
	p.b.cut(nodes, c)
	s, t, a := p.share, 1-p.share, p.work
	for i := range c.e {
		c.e[i] = t*c.e[i] + s*a.e[i]
		c.d[i] = t*c.d[i] + s*a.d[i]
		c.err[i] = t*c.err[i] + s*a.err[i] + 2*ulp*(c.e[i]+c.d[i])
	}
	c.lowP, c.lowD = t*c.lowP+s*a.lowP, t*c.lowD+s*a.lowD
	c.topE, c.topQ = t*c.topE+s*a.topE, t*c.topQ+s*a.topQ
	c.lowErr = t*c.lowErr + s*a.lowErr + 2*ulp*(c.lowP+c.lowD)
	c.topErr = t*c.topErr + s*a.topErr + 2*ulp*c.topE
}

// mergeSorted merges plans, leaving out nodes too close to the one before.
func mergeSorted(a, b []float64) []float64 {
	out := make([]float64, 0, len(a)+len(b))
	least := 0.0
	for _, s := range [][]float64{a, b} {
		if len(s) > 0 {
			least = max(least, 1e-7*math.Abs(s[0]), 1e-7*math.Abs(s[len(s)-1]))
		}
	}
	for len(a) > 0 || len(b) > 0 {
		var v float64
		if len(b) == 0 || (len(a) > 0 && a[0] <= b[0]) {
			v, a = a[0], a[1:]
		} else {
			v, b = b[0], b[1:]
		}
		if len(out) == 0 || v > out[len(out)-1]+least {
			out = append(out, v)
		}
	}
	return out
}

// normalQuantileUpper is x with P(N > x) ≈ p, for p ≤ 1/2. It places nodes; nothing rests on its last digits.
func normalQuantileUpper(p float64) float64 {
	p = min(max(p, 1e-300), 0.5)
	x := math.Sqrt(-2 * math.Log(2*p))
	for range 8 { // Newton on the logarithm, which is nearly quadratic in x
		t := math.Erfc(x/math.Sqrt2) / 2
		density := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
		x += (math.Log(t) - math.Log(p)) * t / density
		x = max(x, 0)
	}
	return x
}

func (a gaussianAtom) pairs() *pairs    { return &pairs{remove: gaussPair(a)} }
func (a sampledGaussian) pairs() *pairs { return sampledBoth(a.q, &pairs{remove: gaussPair{a.mu}}) }
func (a gluedAtom) pairs() *pairs       { return &pairs{remove: newGluedPair(a.q, a.mu)} }

// sampledBoth subsamples under AddOrRemoveOne: ((1−q)Q+qP ‖ Q) for removing, (P ‖ (1−q)P+qQ) for adding.
// Source: Zhu, Dong and Wang 2022, Theorem 11.
func sampledBoth(q float64, base *pairs) *pairs {
	add := base.add
	if add == nil {
		add = base.remove
	}
	return &pairs{
		loose:  base.loose,
		remove: newSampledPair(q, base.remove),
		add:    newMirrorPair(newSampledPair(q, newMirrorPair(add))),
	}
}
