package accountant

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
	"github.com/seed7ba64551/privgen/param"
)

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
	if err := e.Validate(); err != nil {
		return nil, err
	}
	c := newCollector(r)
	if err := c.add(e, 1); err != nil {
		return nil, err
	}
	return c.alternatives()
}

// reduceOne is like reduce, for events whose price does not depend on the part of a record.
func reduceOne(e Event, r Relation) ([]term, error) {
	alts, err := reduce(e, r)
	if err != nil {
		return nil, err
	}
	if len(alts) != 1 {
		return nil, unsupported("disjoint parts inside a sampled or selected event", r)
	}
	return alts[0], nil
}

type collector struct {
	relation Relation
	terms    []term
	index    map[string]int
	square   float64 // Σ count/σ² of the plain Gaussians
	plain    int     // number of plain Gaussians
	choices  [][][]term
}

func newCollector(r Relation) *collector {
	return &collector{relation: r, index: map[string]int{}}
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
		d := newCollector(c.relation)
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

func (c *collector) add(e Event, n int) error {
	switch v := e.(type) {
	case Gaussian:
		c.gaussian(v.NoiseMultiplier, n)
		return nil
	case SameBatch:
		c.gaussian(EffectiveMultiplier(v.NoiseMultipliers...), n)
		return nil
	case Repeated:
		if v.Count > maxCount/n {
			return param.New("accountant.Repeated.Count", v.Count, "at most math.MaxInt/4 uses in total")
		}
		return c.add(v.Event, n*v.Count)
	case Composed:
		for _, p := range v.Events {
			if err := c.add(p, n); err != nil {
				return err
			}
		}
		return nil
	case OneOf:
		return c.oneOf(v, n)
	case SampledSum:
		return c.sampledSum(v, n)
	case PoissonSampled:
		return c.poisson(v, n)
	case SampledWithoutReplacement:
		return c.withoutReplacement(v, n)
	}
	if v, ok := e.(Disjoint); ok {
		return c.disjoint(v, n)
	}
	a, err := leafAtom(e, c.relation)
	if err != nil {
		return err
	}
	return c.push(a, n)
}

// sampledEffect rounds (q, μ) up if q or μ is too close to 0, or q too close to 1, for floating
// point. A larger rate or effect only costs more.
func sampledEffect(q, mu float64) (float64, float64) {
	if q > 1-1e-12 {
		q = 1
	}
	return max(q, 1e-15), max(mu, 1e-8)
}

// onlyGaussian returns the effect of an event that consists only of a joint Gaussian release.
func onlyGaussian(terms []term) (mu float64, ok bool) {
	if len(terms) != 1 || terms[0].n != 1 {
		return 0, false
	}
	g, ok := terms[0].atom.(gaussianAtom)
	return g.mu, ok
}

func (c *collector) poisson(v PoissonSampled, n int) error {
	switch v.Probability {
	case 0:
		_, err := reduce(v.Event, c.relation) // free, but still an error if it is invalid
		return err
	case 1:
		return c.add(v.Event, n)
	}
	if usesPopulation(v.Event) {
		return unsupported("sampling that depends on the private size of a sample", c.relation)
	}
	within, err := reduceOne(v.Event, c.relation)
	if err != nil || len(within) == 0 {
		return err
	}
	mu, gaussian := onlyGaussian(within)
	q, effect := sampledEffect(v.Probability, mu)
	switch {
	case gaussian && q == 1:
		return c.pushTerm(term{gaussianAtom{mu}, n})
	case gaussian && c.relation == ReplaceOne:
		return c.push(gluedAtom{q: q, mu: effect}, n)
	case gaussian:
		return c.push(sampledGaussian{q: q, mu: effect}, n)
	case c.relation == ReplaceOne:
		return unsupported("a Poisson sample of anything but Gaussian releases", c.relation)
	case len(within) == 1 && within[0].n == 1 && within[0].atom.pairs() != nil:
		return c.push(sampledAtom{q: v.Probability, within: within[0].atom}, n)
	}
	return unsupported("a Poisson sample of "+v.Event.kind(), c.relation)
}

func (c *collector) sampledSum(v SampledSum, n int) error {
	switch {
	case v.Probability == 0:
		return nil
	case v.Probability == 1 && c.relation == ReplaceOne:
		return c.add(Gaussian{v.NoiseMultiplier / 2}, n)
	case c.relation == ReplaceOne:
		q, mu := sampledEffect(v.Probability, 1/v.NoiseMultiplier)
		if q == 1 {
			return c.add(Gaussian{v.NoiseMultiplier / 2}, n)
		}
		return c.push(oppositeAtom{q, mu}, n)
	}
	return c.poisson(PoissonSampled{v.Probability, Gaussian{v.NoiseMultiplier}}, n)
}

func (c *collector) withoutReplacement(v SampledWithoutReplacement, n int) error {
	if c.relation != ReplaceOne {
		return unsupported("sampling without replacement", c.relation)
	}
	if v.Sample == v.Population {
		return c.add(v.Event, n)
	}
	within, err := reduceOne(v.Event, c.relation)
	if err != nil || len(within) == 0 {
		return err
	}
	mu, ok := onlyGaussian(within)
	if !ok {
		return unsupported("sampling without replacement of "+v.Event.kind(), c.relation)
	}
	// Round up to the next number, so that a rounded quotient never understates the rate.
	q, effect := sampledEffect(math.Nextafter(float64(v.Sample)/float64(v.Population), 1), mu)
	if q == 1 {
		return c.pushTerm(term{gaussianAtom{mu}, n})
	}
	return c.push(gluedAtom{q: q, mu: effect, fixedSize: true}, n)
}

// gaussianAtom is N(μ,1) against N(0,1): the same for both directions and under both relations.
type gaussianAtom struct{ mu float64 }

func (a gaussianAtom) key() string { return fmt.Sprintf("gaussian %b", a.mu) }

// sampledGaussian is the Poisson-subsampled Gaussian under AddOrRemoveOne.
type sampledGaussian struct{ q, mu float64 }

func (a sampledGaussian) key() string { return fmt.Sprintf("poisson %b %b", a.q, a.mu) }

// gluedAtom is the Gaussian on a sample under ReplaceOne. For ε ≥ 0 its curve is the curve of the
// pair ((1−q)N(0,1)+qN(μ,1) ‖ N(0,1)). For ε < 0 it is the mirror image, 1 − e^ε + e^ε·δ(−ε).
// Source: Zhu, Dong and Wang 2022, Theorem 11; the same curve holds for Poisson samples under
// replace-one.
type gluedAtom struct {
	q, mu float64
	// fixedSize says that the sample is a subset of public size.
	fixedSize bool
}

func (a gluedAtom) key() string { return fmt.Sprintf("glued %b %b %t", a.q, a.mu, a.fixedSize) }

func (a gaussianAtom) rdp(order float64) (float64, bool) {
	return order * a.mu * a.mu / 2 * (1 + 8*ulp), true
}
func (a sampledGaussian) rdp(order float64) (float64, bool) {
	return renyi.SampledGaussian(a.q, a.mu, order), true
}
