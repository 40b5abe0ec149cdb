package accountant

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
	"github.com/seed7ba64551/privgen/internal/param"
)

// SampledWithoutReplacement runs Event on a fresh uniformly random subset of Sample of the
// Population records (not on shuffled epochs). It is supported only under ReplaceOne, where the
// population's size is public.
type SampledWithoutReplacement struct {
	Population int   `json:"population"`
	Sample     int   `json:"sample"`
	Event      Event `json:"event"`
}

func (e SampledWithoutReplacement) check() error {
	var errs []error
	if err := positiveInt("accountant.SampledWithoutReplacement.Population", e.Population); err !=
		nil {
		errs = append(errs, err)
	} else if e.Sample < 1 || e.Sample > e.Population {
		errs = append(errs, param.New("accountant.SampledWithoutReplacement.Sample", e.Sample,
			"between 1 and the population"))
	}
	return errors.Join(append(errs, inner("accountant.SampledWithoutReplacement.Event", e.Event))...)
}

func (SampledWithoutReplacement) kind() string { return "sampled_without_replacement" }

func (e SampledWithoutReplacement) describe() string {
	return fmt.Sprintf("on a random subset of %d of %d records: %s", e.Sample, e.Population,
		Describe(e.Event))
}

func (e SampledWithoutReplacement) sampling() sampling {
	return sampled(samplerSubset, e.Event).ofPublicSize()
}

func (e SampledWithoutReplacement) charge(c *collector, n int) error {
	if c.relation != ReplaceOne {
		return unsupported("sampling without replacement", c.relation)
	}
	if e.Sample == e.Population {
		return c.add(e.Event, n)
	}
	within, err := c.reduceOne(e.Event)
	if err != nil || len(within) == 0 {
		return err
	}
	mu, ok := onlyGaussian(within)
	if !ok {
		return unsupported("sampling without replacement of "+e.Event.kind(), c.relation)
	}
	// Round up to the next number, so that a rounded quotient never understates the rate.
	q, effect := sampledEffect(math.Nextafter(float64(e.Sample)/float64(e.Population), 1), mu)
	if q == 1 {
		return c.pushTerm(term{gaussianAtom{mu}, n})
	}
	return c.push(gluedAtom{q: q, mu: effect, fixedSize: true}, n)
}

func (e SampledWithoutReplacement) dpAccounting(r Relation) (string, error) {
	return dpAround(e.Event, r, func(s string) string {
		return dpCall("SampledWithoutReplacementDpEvent", "source_dataset_size",
			strconv.Itoa(e.Population), "sample_size", strconv.Itoa(e.Sample), "event", s)
	})
}

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

func (a gluedAtom) rdp(order float64) (float64, bool) { return renyi.Glued(a.q, a.mu, order), true }

func (a gluedAtom) pairs() *pld.Pairs {
	return loosely(&pld.Pairs{Remove: pld.NewGlued(a.q, a.mu)}, a.mu)
}
