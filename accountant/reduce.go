package accountant

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/internal/param"
)

const ulp = 0x1p-52

// An atom is one indivisible mechanism under one relation. Its methods give the data that prices
// any number of uses.
type atom interface {
	// rdp returns an upper bound of the Rényi divergence of one use, over both directions. It
	// returns false if none is known.
	rdp(order float64) (float64, bool)
	// pairs returns dominating pairs of one use, one for removing and one for adding a record. It
	// returns nil if none is known.
	pairs() *pld.Pairs
	// slack returns the δ that one use loses outside its Rényi divergences.
	slack() float64
	// key identifies an atom: equal atoms have equal keys.
	key() string
}

// term is n adaptive uses of one atom.
type term struct {
	atom atom
	n    int
}

const maxCount = math.MaxInt / 4

// reduce rewrites an event as a list of distinct atoms with counts. Equal atoms are counted
// together and all plain Gaussians become one, so the price does not depend on how a composition is
// written. For disjoint parts there is one list for each part that a record may be in. The price is
// the price of the most expensive list.
func reduce(e Event, r Relation) ([][]term, error) {
	if e == nil {
		return nil, param.New("accountant.Event", nil, "an event")
	}
	if err := r.validate("accountant.Relation"); err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	return (&collector{work: newWork()}).reduce(e, r)
}

// reduce reduces a part of c's event.
func (c *collector) reduce(e Event, r Relation) ([][]term, error) {
	d := newCollector(r, c.work)
	if err := d.add(e, 1); err != nil {
		return nil, err
	}
	return d.alternatives()
}

// reduceOne is like reduce, for events whose price does not depend on the part of a record.
func (c *collector) reduceOne(e Event) ([]term, error) {
	alts, err := c.reduce(e, c.relation)
	if err != nil {
		return nil, err
	}
	if len(alts) != 1 {
		return nil, unsupported("disjoint parts inside a sampled or selected event", c.relation)
	}
	return alts[0], nil
}

type collector struct {
	relation Relation
	work     *work
	terms    []term
	index    map[string]int
	square   float64 // Σ count/σ² of the plain Gaussians
	plain    int     // number of plain Gaussians
	choices  [][][]term
}

func newCollector(r Relation, w *work) *collector {
	return &collector{relation: r, work: w, index: map[string]int{}}
}

// work is what the reductions of all parts of an event have done.
type work struct {
	steps    int
	selected map[string]atom // by relation and key, as a selection may be mentioned often
}

func newWork() *work { return &work{selected: map[string]atom{}} }

// mostSteps bounds the time of a reduction, which can be quadratic in the length of an event's
// text. A step takes about a microsecond.
const mostSteps = 1 << 20

// step counts n steps.
func (c *collector) step(n int) error {
	if c.work.steps += n; c.work.steps > mostSteps {
		return fmt.Errorf("%w: the price of an event of so many parts", ErrUnsupported)
	}
	return nil
}

// maxAlternatives bounds the product of the numbers of distinct parts.
const maxAlternatives = 256

// alternatives returns the lists for every combination of parts.
func (c *collector) alternatives() ([][]term, error) {
	alts := [][]term{nil}
	for _, choice := range c.choices {
		if len(alts)*len(choice) > maxAlternatives {
			return nil, unsupported(fmt.Sprintf("more than %d combinations of disjoint parts",
				maxAlternatives), c.relation)
		}
		var next [][]term
		for _, a := range alts {
			for _, b := range choice {
				next = append(next, append(append([]term(nil), a...), b...))
			}
		}
		alts = next
	}
	for i, extra := range alts {
		d := newCollector(c.relation, c.work)
		d.square, d.plain = c.square, c.plain
		for _, t := range append(append([]term(nil), c.terms...), extra...) {
			if err := d.pushTerm(t); err != nil {
				return nil, err
			}
		}
		alts[i] = d.finish()
	}
	return alts, nil
}

func (c *collector) pushTerm(t term) error {
	if g, ok := t.atom.(gaussianAtom); ok {
		c.gaussian(1/g.mu*(1-2e-16), t.n)
		return nil
	}
	return c.push(t.atom, t.n)
}

func (c *collector) push(a atom, n int) error {
	k := a.key()
	if err := c.step(1 + len(k)/64); err != nil {
		return err
	}
	i, ok := c.index[k]
	if !ok {
		i = len(c.terms)
		c.index[k] = i
		c.terms = append(c.terms, term{atom: a})
	}
	if n > maxCount-c.terms[i].n {
		return param.New("accountant.Repeated.Count", n, "at most math.MaxInt/4 uses in total")
	}
	c.terms[i].n += n
	return nil
}

// leastEffect is the smallest effect whose square does not underflow. A larger effect only costs
// more.
const leastEffect = 1e-150

func (c *collector) gaussian(sigma float64, n int) {
	mu := max(1/sigma, leastEffect)
	c.square += float64(n) * mu * mu
	c.plain++
}

// finish appends the joint Gaussian. Its effect is rounded up by more than the error of the sum.
func (c *collector) finish() []term {
	if !(c.square < math.Inf(1)) {
		return append(c.terms, term{gaussianAtom{math.Inf(1)}, 1})
	}
	if c.plain > 0 {
		mu := math.Sqrt(c.square)
		if c.plain > 1 || mu*mu != c.square {
			mu *= 1 + 2e-16*float64(min(c.plain, 1<<20)+1)
		}
		c.terms = append(c.terms, term{gaussianAtom{mu}, 1})
	}
	return c.terms
}

// sampledEffect rounds (q, μ) up if q or μ is too close to 0, or q too close to 1, for floating
// point. A larger rate or effect only costs more.
func sampledEffect(q, mu float64) (float64, float64) {
	if q > 1-1e-12 {
		q = 1
	}
	return max(q, leastRate), max(mu, leastAllocated)
}

// leastRate is so small that no price at a δ of at least MinDelta depends on it.
const leastRate = 1e-60

// loosely marks pairs of a sample whose effect was rounded up: they have no lower end.
func loosely(p *pld.Pairs, mu float64) *pld.Pairs {
	p.Loose = p.Loose || mu <= leastAllocated
	return p
}

// onlyGaussian returns the effect of an event that consists only of a joint Gaussian release.
func onlyGaussian(terms []term) (mu float64, ok bool) {
	if len(terms) != 1 || terms[0].n != 1 {
		return 0, false
	}
	g, ok := terms[0].atom.(gaussianAtom)
	return g.mu, ok
}

func (c *collector) add(e Event, n int) error {
	if !known(e) {
		return unsupported(e.kind(), c.relation)
	}
	return e.charge(c, n)
}
