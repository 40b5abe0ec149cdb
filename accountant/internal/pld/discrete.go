package pld

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// Discrete is a pair with finitely many losses, in increasing order.
type Discrete struct {
	loss, mass []float64 // mass of P
	other      []float64 // mass of Q
	inf        float64   // mass of P where Q is zero
	never      float64   // mass of Q where P is zero
}

// NewDiscrete returns the pair in which P has mass[i] at loss[i] and mass inf where Q is zero, and
// Q has mass never where P is zero. The losses must increase.
func NewDiscrete(loss, mass []float64, inf, never float64) *Discrete {
	p := &Discrete{loss: loss, mass: mass, inf: inf, never: never}
	p.fill()
	return p
}

// NewSymmetric returns the pair in which P has mass[i] at loss[i] and mass inf where Q is zero, and
// Q is P with the sign of the losses changed. So the mass of Q is right even where the mass of P is
// too small for floating point.
func NewSymmetric(loss, mass []float64, inf float64) *Discrete {
	p := &Discrete{loss: loss, mass: mass, inf: inf, never: inf, other: slices.Clone(mass)}
	slices.Reverse(p.other)
	return p
}

// fill computes the masses of Q.
func (p *Discrete) fill() {
	p.other = make([]float64, len(p.mass))
	for i, l := range p.loss {
		p.other[i] = p.mass[i] * math.Exp(-l)
	}
}

// unproven is the largest mass at infinite loss that may be only a bound of a tail that a pair
// leaves out. So it counts for upper ends, and not for lower ones.
const unproven = 1e-30

// excess returns e^x·Q − P for the masses at loss k, which is at most x.
func (p *Discrete) excess(k int, x float64) float64 {
	if gap := x - p.loss[k]; gap < 1 || p.loss[k] > 600 { // e^−loss may underflow
		return p.mass[k] * math.Expm1(gap)
	}
	return math.Exp(x)*p.other[k] - p.mass[k]
}

// plan places nodes at up to about 400 of the losses. If there are at most 100 losses, it places a
// second node just above each loss. A pair derived from this one may move a loss past its node by
// rounding. Without the second node, one cell would then hold that loss and the next.
func (p *Discrete) plan(float64) []float64 {
	width := max(p.loss[len(p.loss)-1]-p.loss[0], math.Abs(p.loss[0]), 1e-9)
	nodes := []float64{p.loss[0] - 1e-6*width}
	stride := len(p.loss)/400 + 1
	for i := 0; i < len(p.loss); i += stride {
		nodes = append(nodes, p.loss[i])
		if next := p.loss[i] + 2e-6*width; len(p.loss) <= 100 &&
			(i+1 == len(p.loss) || next < p.loss[i+1]) {
			nodes = append(nodes, next)
		}
	}
	if last := p.loss[len(p.loss)-1]; last > nodes[len(nodes)-1] {
		nodes = append(nodes, last)
	}
	return nodes
}

func (p *Discrete) cut(nodes []float64, c *cells) {
	n := len(nodes) - 1
	c.reset(n)
	i := 0
	for k, l := range p.loss {
		m := p.mass[k]
		for i < n && nodes[i+1] < l {
			i++
		}
		switch {
		case l <= nodes[0]:
			c.lowP += m
			c.lowD += p.excess(k, nodes[0])
		case !(l <= nodes[n]):
			e := m * -math.Expm1(nodes[n]-l)
			c.topE += e
			c.topQ += p.other[k]
			c.topErr += ulp * 8 * math.Abs(l) * (m - e)
		default:
			c.e[i] += m * -math.Expm1(nodes[i]-l)
			c.d[i] += p.excess(k, nodes[i+1])
			// A loss has an error of a few ulps, which moves e and d by the same share of the mass.
			c.err[i] += m * ulp * (8*math.Abs(l) + 16*(nodes[i+1]-nodes[i]))
		}
	}
	if c.topE += p.inf; n == 0 && p.inf < unproven {
		c.topE, c.topErr = c.topE-p.inf/2, c.topErr+p.inf/2
	}
	c.lowD += p.never * math.Exp(nodes[0])
	c.topErr += 16 * ulp * (c.topE + c.topQ)
	c.lowErr = 16 * ulp * (c.lowP + c.lowD)
}

// Largest returns the largest finite loss, and the mass of P at infinite loss.
func (p *Discrete) Largest() (loss, never float64) { return p.loss[len(p.loss)-1], p.inf }

// Renyi returns the larger of the Rényi divergences of the two directions, rounded outward.
func (p *Discrete) Renyi(order float64) float64 {
	if p.inf > 0 || p.never > 0 {
		return math.Inf(1)
	}
	var fwd, back renyi.LogSum
	size := 0.0
	for k, l := range p.loss {
		m, o := math.Log(p.mass[k]), math.Log(p.other[k])
		fwd.Add(m + (order-1)*l)
		back.Add(o - (order-1)*l)
		for _, log := range [...]float64{order * l, m, o} {
			if !math.IsInf(log, -1) { // no mass
				size = max(size, math.Abs(log))
			}
		}
	}
	v := max(fwd.Value(), back.Value())
	return max(0, v+16*ulp*(1+size)) / (order - 1) * (1 + 4*ulp)
}

// spacing returns the first loss and the step, if all losses are a whole number of steps apart;
// otherwise ok is false. A single loss has step 0. The step only determines how fine a grid is
// needed; soundness does not depend on it.
func (p *Discrete) spacing() (first, step float64, ok bool) {
	first = p.loss[0]
	span := p.loss[len(p.loss)-1] - first
	if span == 0 {
		return first, 0, true
	}
	least := span
	for i := 1; i < len(p.loss); i++ {
		if gap := p.loss[i] - p.loss[i-1]; gap > 0 {
			least = min(least, gap)
		}
	}
	count := math.Round(span / least)
	if !(count < maxCells) {
		return 0, 0, false
	}
	step = span / count
	for _, l := range p.loss {
		if j := (l - first) / step; math.Abs(j-math.Round(j)) > onGrid {
			return 0, 0, false
		}
	}
	return first, step, true
}

// onGrid is the largest distance from a grid point, in steps, at which a loss counts as on the
// grid.
const onGrid = 1e-9

// lattice returns the common spacing of the losses of all pairs, and for each pair an offset just
// below its first loss. So every loss lies at or just above a grid point, and both distributions of
// the grid assign it to that point. The offsets are nil if there is no common spacing.
func lattice(pairs []Pair) (step float64, offsets []float64) {
	steps := make([]float64, len(pairs))
	for i, p := range pairs {
		d, discrete := p.(*Discrete)
		if !discrete {
			return 0, nil
		}
		first, s, ok := d.spacing()
		if !ok {
			return 0, nil
		}
		steps[i] = s
		offsets = append(offsets,
			first-2*onGrid*s-8*ulp*math.Max(math.Abs(first), math.Abs(d.loss[len(d.loss)-1])))
		if s > 0 && (step == 0 || s < step) {
			step = s
		}
	}
	if step == 0 {
		return 0, nil
	}
	for _, s := range steps {
		if r := s / step; math.Abs(r-math.Round(r)) > 1e-6*onGrid {
			return 0, nil
		}
	}
	return step, offsets
}
