package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// PoissonSampled runs Event on a sample that contains each record independently with the given
// probability.
//
// Under ReplaceOne the multipliers of Event must also cover a record that is in the sample of one
// data set only. The presence of a record must move the result by no more than replacing a record
// does. A sum of vectors clipped to norm C meets this condition: replacing a record moves the sum
// by up to 2C, or √2·C if all vectors are non-negative. A sum of values in [10, 11] does not.
type PoissonSampled struct {
	Probability float64 `json:"probability"`
	Event       Event   `json:"event"`
}

func (e PoissonSampled) check() error {
	return errors.Join(probability("accountant.PoissonSampled.Probability", e.Probability),
		inner("accountant.PoissonSampled.Event", e.Event))
}

func (PoissonSampled) kind() string { return "poisson_sampled" }

func (e PoissonSampled) describe() string {
	return fmt.Sprintf("on a Poisson sample at rate %.6g: %s", e.Probability, Describe(e.Event))
}

func (e PoissonSampled) sampling() sampling { return sampled(samplerPoisson, e.Event) }

func (e PoissonSampled) charge(c *collector, n int) error { return c.poisson(e, n) }

func (c *collector) poisson(v PoissonSampled, n int) error {
	switch v.Probability {
	case 0:
		_, err := c.reduce(v.Event, c.relation) // free, but still an error if it is invalid
		return err
	case 1:
		return c.add(v.Event, n)
	}
	if samplingOf(v.Event).publicSize {
		return unsupported("sampling that depends on the private size of a sample", c.relation)
	}
	within, err := c.reduceOne(v.Event)
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
	case len(within) == 1 && within[0].n == 1:
		if err := c.step((placesOf(within[0].atom) - 1) << 11); err != nil { // pairs may take as long
			return err
		}
		if within[0].atom.pairs() != nil {
			return c.push(sampledAtom{q: v.Probability, within: within[0].atom}, n)
		}
	}
	return unsupported("a Poisson sample of "+v.Event.kind(), c.relation)
}

func (e PoissonSampled) dpAccounting(r Relation) (string, error) {
	if r == ReplaceOne {
		return "", fmt.Errorf("%w: dp_accounting prices every Poisson sample under replace-one as a "+
			"clipped sum, which only %s is", ErrUnsupported, SampledSum{}.kind())
	}
	return dpAround(e.Event, r, func(s string) string { return dpSampled(e.Probability, s) })
}

// sampledGaussian is the Poisson-subsampled Gaussian under AddOrRemoveOne.
type sampledGaussian struct{ q, mu float64 }

func (a sampledGaussian) key() string { return fmt.Sprintf("poisson %b %b", a.q, a.mu) }

func (a sampledGaussian) rdp(order float64) (float64, bool) {
	return renyi.SampledGaussian(a.q, a.mu, order), true
}

func (a sampledGaussian) pairs() *pld.Pairs {
	return loosely(pld.SampledBoth(a.q, &pld.Pairs{Remove: pld.Gauss{Mu: a.mu}}), a.mu)
}

// sampledAtom is a Poisson sample of a mechanism that is not Gaussian, under AddOrRemoveOne.
type sampledAtom struct {
	q      float64
	within atom
}

func (a sampledAtom) key() string {
	return fmt.Sprintf("sampled %b of %s", a.q, a.within.key())
}

func (a sampledAtom) rdp(order float64) (float64, bool) {
	if _, lost := composedOwn(oneWayTerms([]term{{a.within, 1}}, false)); !(lost <= 0) { // or qδ is 0
		return 0, false
	}
	p := a.pairs()
	v, ok := pld.Renyi(p.Remove, order)
	if !ok || p.Add == nil {
		return v, ok
	}
	w, ok := pld.Renyi(p.Add, order)
	return max(v, w), ok
}

func (a sampledAtom) pairs() *pld.Pairs { return pld.SampledBoth(a.q, a.within.pairs()) }

// own returns (log(1 + q(e^ε − 1)), qδ) for a Poisson sample of an (ε, δ)-differentially private
// mechanism. Source: Balle, Barthe and Gaboardi 2018, Theorem 8.
func (a sampledAtom) own() (eps, delta float64) {
	e, d := ownOf(a.within)
	return sampledOwn(a.q, e, d)
}

// sampledOwn returns the pair of a sample of a mechanism with the pair (e, d).
func sampledOwn(q, e, d float64) (eps, delta float64) {
	// e^ε may overflow, so log(q(e^ε − 1)) is computed first.
	s := math.Log(q) + renyi.LogExpm1(e)
	return renyi.FromMomentMinusOne(s, 2, 8*ulp*(e-math.Log(q))),
		max(q*d*(1+ulp), min(d, math.SmallestNonzeroFloat64)) // qδ may underflow
}
