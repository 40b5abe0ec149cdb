package accountant

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed7ba64551/privgen/param"
)

// disjoint lowers disjoint parts. Used once, a record stays in one part, so the event is one list of terms for each part it may
// be in. Used repeatedly, its part may change from use to use, so every use pays for the worst part.
//
// Under ReplaceOne the record may also move from part i to part j: part i loses it and part j gains it.
func (c *collector) disjoint(v Disjoint, n int) error {
	for _, p := range append(append([]Event(nil), v.Parts...), v.Moving...) {
		if usesPopulation(p) {
			return unsupported("sampling that needs the private size of a disjoint part", c.relation)
		}
	}
	var choice [][]term
	for _, p := range v.Parts {
		alts, err := reduce(p, c.relation)
		if err != nil {
			return err
		}
		choice = append(choice, alts...)
	}
	if c.relation == ReplaceOne && len(v.Parts) > 1 {
		moves, err := movingTerms(v)
		if err != nil {
			return err
		}
		choice = append(choice, moves...)
	}
	choice = distinct(choice)
	switch {
	case len(choice) == 1:
		for _, t := range choice[0] {
			if n > maxCount/t.n {
				return param.New("accountant.Repeated.Count", n, "fewer events in total")
			}
			if err := c.pushTerm(term{t.atom, t.n * n}); err != nil {
				return err
			}
		}
		return nil
	case n == 1:
		c.choices = append(c.choices, choice)
		return nil
	}
	return c.push(worstAtom{choice}, n)
}

// usesPopulation says whether an event is stated in terms of a number of records.
func usesPopulation(e Event) bool {
	switch v := e.(type) {
	case SampledWithoutReplacement, TruncatedPoisson:
		return true
	case PoissonSampled:
		return usesPopulation(v.Event)
	case Repeated:
		return usesPopulation(v.Event)
	case RepeatAndSelect:
		return usesPopulation(v.Event)
	case Composed:
		for _, p := range v.Events {
			if usesPopulation(p) {
				return true
			}
		}
	case Disjoint:
		for _, p := range append(append([]Event(nil), v.Parts...), v.Moving...) {
			if usesPopulation(p) {
				return true
			}
		}
	}
	return false
}

// movingTerms are part i's remove direction with part j's add direction, for every ordered pair of parts.
func movingTerms(v Disjoint) ([][]term, error) {
	moving := v.Moving
	if len(moving) == 0 {
		moving = v.Parts
	}
	var one [][][]term
	for _, p := range moving {
		alts, err := reduce(p, AddOrRemoveOne)
		if err != nil {
			return nil, err
		}
		one = append(one, alts)
	}
	var out [][]term
	seen := map[string]bool{}
	for i := range one {
		for j := range one {
			if i == j {
				continue
			}
			for _, a := range one[i] {
				for _, b := range one[j] {
					key := termsKey(a) + " → " + termsKey(b)
					if seen[key] {
						continue
					}
					seen[key] = true
					out = append(out, append(oneWayTerms(a, false), oneWayTerms(b, true)...))
				}
			}
		}
	}
	return out, nil
}

func oneWayTerms(terms []term, add bool) []term {
	out := make([]term, len(terms))
	for i, t := range terms {
		if _, ok := t.atom.(gaussianAtom); ok {
			out[i] = t // the same both ways
			continue
		}
		out[i] = term{oneWayAtom{t.atom, add}, t.n}
	}
	return out
}

func termsKey(terms []term) string {
	var b strings.Builder
	for _, t := range terms {
		fmt.Fprintf(&b, "%d×%s;", t.n, t.atom.key())
	}
	return b.String()
}

func distinct(choice [][]term) [][]term {
	var out [][]term
	seen := map[string]bool{}
	for _, c := range choice {
		if k := termsKey(c); !seen[k] {
			seen[k] = true
			out = append(out, c)
		}
	}
	return out
}

// oneWayAtom is one direction of an add-or-remove atom.
type oneWayAtom struct {
	within atom
	add    bool
}

func (a oneWayAtom) key() string                       { return fmt.Sprintf("oneway %t %s", a.add, a.within.key()) }
func (a oneWayAtom) rdp(order float64) (float64, bool) { return a.within.rdp(order) }
func (a oneWayAtom) pairs() *pairs {
	p := a.within.pairs()
	if p == nil {
		return nil
	}
	if a.add && p.add != nil {
		return &pairs{remove: p.add, loose: p.loose}
	}
	return &pairs{remove: p.remove, loose: p.loose}
}

// worstAtom is one use of whichever of several lists is worst, chosen anew each time.
type worstAtom struct{ choice [][]term }

func (a worstAtom) key() string {
	var b strings.Builder
	for _, c := range a.choice {
		b.WriteString(termsKey(c) + "|")
	}
	return "worst " + b.String()
}

func (a worstAtom) rdp(order float64) (float64, bool) {
	worst := 0.0
	for _, c := range a.choice {
		v, ok := rdpTerms(c, order)
		if !ok || slackOf(c) > 0 {
			return 0, false
		}
		worst = math.Max(worst, v)
	}
	return worst, true
}

// pairs is the pointwise maximum of the curves, where each list is a single use of a single atom.
func (a worstAtom) pairs() *pairs {
	out := &pairs{loose: true}
	var remove, add []pair
	symmetric := true
	for _, c := range a.choice {
		if len(c) == 0 {
			continue // a part in which nothing is released is never the worst
		}
		if len(c) != 1 || c[0].n != 1 {
			return nil
		}
		p := c[0].atom.pairs()
		if p == nil {
			return nil
		}
		remove = append(remove, p.remove)
		if p.add != nil {
			symmetric = false
			add = append(add, p.add)
		} else {
			add = append(add, p.remove)
		}
	}
	if len(remove) == 0 {
		return nil
	}
	out.remove = newMaxPair(remove)
	if !symmetric {
		out.add = newMaxPair(add)
	}
	return out
}

// maxPair has the pointwise maximum of several hockey-stick curves, taken at the nodes and connected by chords.
type maxPair struct {
	of   []pair
	work *cells
}

func newMaxPair(of []pair) pair {
	if len(of) == 1 {
		return of[0]
	}
	return &maxPair{of, &cells{}}
}

func (p *maxPair) plan(tail float64) []float64 {
	var nodes []float64
	for _, q := range p.of {
		nodes = mergeSorted(nodes, q.plan(tail))
	}
	for _, q := range p.of {
		if _, ok := q.(*gluedPair); ok {
			nodes = mergeSorted(nodes, []float64{0})
		}
	}
	return nodes
}

func (p *maxPair) cut(nodes []float64, c *cells) {
	n := len(nodes) - 1
	best := make([]float64, n+1)
	for _, q := range p.of {
		q.cut(nodes, p.work)
		for i, v := range curveAt(nodes, p.work) {
			best[i] = math.Max(best[i], v)
		}
	}
	c.reset(n)
	if n == 0 {
		c.topE, c.topErr = best[0], 16*ulp*best[0]
		return
	}
	// Masses are the changes of slope in e^ε; each sits exactly on its node, at the top of the cell below.
	c.topE = best[n]
	c.topErr = 16 * ulp * best[n]
	below := func(i int) float64 { return (best[i-1] - best[i]) / -math.Expm1(nodes[i-1]-nodes[i]) }
	above := func(i int) float64 {
		if i == n {
			return 0
		}
		return (best[i] - best[i+1]) / math.Expm1(nodes[i+1]-nodes[i])
	}
	for i := 1; i <= n; i++ {
		w := -math.Expm1(nodes[i-1] - nodes[i])
		c.e[i-1] = max(0, below(i)-above(i)) * w
		c.err[i-1] = 32 * ulp * best[i-1]
	}
	c.lowP = max(0, math.Exp(nodes[0])-above(0))
	c.lowErr = 16 * ulp * (c.lowP + best[0])
}

// curveAt sums cells into δ at each node, from the top.
func curveAt(nodes []float64, c *cells) []float64 {
	n := len(nodes) - 1
	out := make([]float64, n+1)
	out[n] = c.topE + c.topErr
	q := c.topQ
	for i := n; i > 0; i-- {
		// δ(n_{i−1}) = e of the cell + P above − e^{n_{i−1}}·Q above, and P above = δ(n_i) + e^{n_i}·Q above.
		out[i-1] = c.e[i-1] + c.err[i-1] + out[i] + (math.Exp(nodes[i])-math.Exp(nodes[i-1]))*q
		gap := math.Exp(nodes[i]) - math.Exp(nodes[i-1])
		if gap > 0 {
			q += (c.e[i-1] + c.d[i-1] + 2*c.err[i-1]) / gap
		}
	}
	return out
}
