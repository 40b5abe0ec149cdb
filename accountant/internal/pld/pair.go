package pld

import "math"

// Pairs holds the dominating pairs of one mechanism. The outputs of the mechanism on two
// neighbouring data sets are no easier to distinguish than P and Q. Removing and adding a record
// are composed separately; if the curve is the same for both, Add is nil.
type Pairs struct {
	Remove, Add Pair
	Loose       bool // the curve lies above the event's own curve: sound for the upper end only
	// Under, if it is not nil, returns pairs whose curves lie below the event's own curve: Loose is
	// then set, and the lower end is theirs.
	Under func() *Pairs
	// Envelope says that the curve is attained at each ε, but by different mechanisms. So the curve is
	// exact only for a single use.
	Envelope bool
}

// Adding returns the pair for adding a record, which may be the one for removing it.
func (p *Pairs) Adding() Pair {
	if p.Add == nil {
		return p.Remove
	}
	return p.Add
}

// Pair is a dominating pair (P, Q), seen through its privacy loss L = log(dP/dQ) under P.
type Pair interface {
	// cut fills c for increasing nodes of the loss axis.
	cut(nodes []float64, c *cells)
	// plan returns increasing losses that divide the bulk of P and Q about evenly and leave less
	// than about tail outside.
	plan(tail float64) []float64
}

// cells holds the masses of P and Q in the intervals (nᵢ, nᵢ₊₁] of the loss axis. It holds them as
// e[i] = P − e^{nᵢ}Q ≥ 0 and d[i] = e^{nᵢ₊₁}Q − P ≥ 0, because nothing cancels in this form. The
// error of each entry is at most err[i].
type cells struct {
	e, d, err []float64
	lowP      float64 // P of losses below the first node
	lowD      float64 // e^{n₀}Q − P of losses below the first node
	topE      float64 // P − e^{n_last}Q of losses above the last node: δ(n_last)
	topQ      float64 // Q of losses above the last node
	lowErr    float64 // bound of the errors of lowP and lowD
	topErr    float64 // bound of the error of topE; topQ has the same relative precision
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

// mergeSorted merges plans and leaves out nodes that are too close to the previous node.
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
