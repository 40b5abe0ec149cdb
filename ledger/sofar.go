package ledger

import (
	"context"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
)

// soFarCache computes the cost of the uses taken so far without composing again after each step.
// The full accountant runs at a few dozen counts only, the knots. The cost at the next knot is one
// upper bound; a sum of Rényi divergences gives another. The smaller bound is returned. At a knot
// the full accountant has looked at divergences itself, where they could matter.
type soFarCache struct {
	spent []int
	value float64
	valid bool

	orders []float64
	offset []float64
	rdp    [][]float64 // one row per entry, with the orders that were needed so far
	knots  []int
	knot   float64
}

const knotRatio = 1.25

// EpsilonSoFar returns an upper bound of the cost of the events taken so far, at the budget's
// δ. It is informational: the published cost is Epsilon, which counts everything reserved. It is
// infinite if the ledger is in a journal that cannot be read.
func (l *Ledger) EpsilonSoFar() float64 {
	l = l.original()
	unread := l.shared.refresh()
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	if unread != nil || l.shared.root.fault != nil {
		return math.Inf(1)
	}
	if len(l.groups) > 0 {
		r, _ := l.cached(&l.published, false) // for children, everything set aside counts
		return r.Upper
	}
	v := l.soFar.epsilon(l)
	if v > l.budget.Epsilon { // many different events were rounded
		if r, err := l.priceFull(); err == nil {
			v = min(v, r.Upper)
		}
	}
	return v
}

func (c *soFarCache) epsilon(l *Ledger) float64 {
	same := func(n int, en *entry) bool { return n == en.spent }
	if c.valid && slices.EqualFunc(c.spent, l.entries, same) {
		return c.value
	}
	c.valid = true
	c.spent = c.spent[:0]
	for _, en := range l.entries {
		c.spent = append(c.spent, en.spent)
	}
	c.value = c.fromKnots(l)
	if math.IsInf(c.value, 1) || !slices.Equal(c.knots, c.spent) {
		c.value = math.Min(c.value, c.fromRDP(l))
	}
	return c.value
}

// knotAbove returns the smallest knot that is at least spent. The knots are the numbers
// reserved·knotRatio^(−j), rounded up.
func knotAbove(spent, reserved int) int {
	if spent <= 0 {
		return 0
	}
	k := float64(reserved)
	for {
		next := k / knotRatio
		if math.Ceil(next) < float64(spent) || next < 1 {
			return min(reserved, max(spent, int(math.Ceil(k))))
		}
		k = next
	}
}

func (c *soFarCache) fromKnots(l *Ledger) float64 {
	if slices.EqualFunc(c.knots, l.entries, func(k int, en *entry) bool { return en.spent <= k }) {
		return c.knot
	}
	var all []accountant.Event
	c.knots = c.knots[:0]
	for _, en := range l.entries {
		k := knotAbove(en.spent, en.reserved)
		c.knots = append(c.knots, k)
		if k > 0 {
			all = append(all, accountant.Repeated{Event: en.event, Count: k})
		}
	}
	c.knot = math.Inf(1)
	if r, err := l.bound(context.Background(), accountant.Composed{Events: all}, false); err == nil {
		c.knot = r.Upper
	}
	return c.knot
}

func (c *soFarCache) fromRDP(l *Ledger) float64 {
	if c.orders == nil {
		c.orders = []float64{l.filter}
		if l.filter == 0 {
			c.orders = []float64{1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20,
				24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256, 512, 1024}
		}
	}
	if c.offset == nil { // the conversion adds an offset to the divergence, rounded up here
		for _, a := range c.orders {
			c.offset = append(c.offset, accountant.EpsilonFromRDP(a, 1e6, l.budget.Delta)-1e6+1e-8)
		}
	}
	for len(c.rdp) < len(l.entries) {
		c.rdp = append(c.rdp, make([]float64, 0, len(c.orders)))
	}
	best, last, rises := math.Inf(1), math.Inf(1), 0
	for j := 0; j < len(c.orders) && rises < 2; j++ { // v rises beyond its minimum; see orderSearch
		sum := 0.0
		for i, s := range c.spent {
			if s > 0 {
				sum += float64(s) * c.divergence(l, i, j)
			}
		}
		v := sum*(1+1e-15) + c.offset[j]
		if v > last {
			rises++
		}
		best, last = min(best, v), v
	}
	return max(0, best)
}

// divergence returns the Rényi divergence of one use of entry i at order j. It is computed when
// first needed: the largest orders take longest and are rarely needed.
func (c *soFarCache) divergence(l *Ledger, i, j int) float64 {
	for k := len(c.rdp[i]); k <= j; k++ {
		v, err := accountant.RDP(l.entries[i].event, c.orders[k], l.budget.Relation)
		if err != nil {
			v = math.Inf(1)
		}
		c.rdp[i] = append(c.rdp[i], v)
	}
	return c.rdp[i][j]
}
