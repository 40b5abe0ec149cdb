package accountant

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// TruncatedPoisson is a Poisson sample cut down at random to at most MaxBatch records, followed by
// a Gaussian release of a sum. NoiseMultiplier is standard deviation ÷ clip norm of one record
// under either relation, because both a leaving and an entering record occur. Source: Ganesh 2025.
//
// The price holds for data of exactly Population records. Under AddOrRemoveOne it also holds for
// the same data without one record. It need not hold for fewer records, because their batch is cut
// down less often. State the event only if the number of records is public.
type TruncatedPoisson struct {
	Probability     float64 `json:"probability"`
	Population      int     `json:"population"`
	MaxBatch        int     `json:"max_batch"`
	NoiseMultiplier float64 `json:"noise_multiplier"` // standard deviation ÷ clip norm
}

func (e TruncatedPoisson) check() error {
	return errors.Join(probability("accountant.TruncatedPoisson.Probability", e.Probability),
		populationSize("accountant.TruncatedPoisson.Population", e.Population),
		positiveInt("accountant.TruncatedPoisson.MaxBatch", e.MaxBatch),
		positive("accountant.TruncatedPoisson.NoiseMultiplier", e.NoiseMultiplier))
}

func (TruncatedPoisson) kind() string { return "truncated_poisson" }

func (e TruncatedPoisson) describe() string {
	return fmt.Sprintf(
		"on a Poisson sample at rate %.6g of %d records, at most %d: Gaussian release, standard "+
			"deviation %.6g clip norms", e.Probability, e.Population, e.MaxBatch, e.NoiseMultiplier)
}

func (TruncatedPoisson) sampling() sampling { return sampled(samplerTruncated).ofPublicSize() }

func (e TruncatedPoisson) dpAccounting(Relation) (string, error) {
	return dpCall("TruncatedSubsampledGaussianDpEvent", "dataset_size", strconv.Itoa(e.Population),
		"sampling_probability", pyFloat(e.Probability),
		"truncated_batch_size", strconv.Itoa(e.MaxBatch), "noise_multiplier",
		pyFloat(e.NoiseMultiplier)), nil
}

// charge adds the atom of a truncated Poisson sample. Consider the one record in which two
// neighbours differ. The other records alone may or may not fill the batch, independently of
// that record. If they do not, the record is in the batch as in a Poisson sample. If they do, the
// record can only take the place of another record, with twice the effect, at the rate
// P(Bin(n,q) > B)·B/(n·P(Bin(n−1,q) ≥ B)). Population counts the record. Source: Ganesh 2025.
func (e TruncatedPoisson) charge(c *collector, n int) error {
	q, mu := sampledEffect(e.Probability, 1/e.NoiseMultiplier)
	return c.push(truncAtom{q, mu, e, c.relation, sync.OnceValues(func() (full, rate float64) {
		full = e.full()
		if full > 0 {
			more := binomialAtLeast(e.MaxBatch+1, e.Population, e.Probability)
			rate = renyi.AtMost(1, more/full*float64(e.MaxBatch)/float64(e.Population)*(1+1e-9))
		}
		return full, rate
	})}, n)
}

type truncAtom struct {
	q, mu    float64
	of       TruncatedPoisson
	relation Relation
	tails    func() (full, rate float64) // take long, so only what is priced computes them
}

func (a truncAtom) key() string {
	return fmt.Sprintf("truncated %b %d %d %b %d", a.of.Probability, a.of.Population, a.of.MaxBatch,
		a.mu, a.relation)
}

// halves returns the atoms of a batch that the other records do not fill, and of one that they
// fill, and the probability of the second if the record has an effect on it.
func (a truncAtom) halves() (whole, cut atom, full float64) {
	full, rate := a.tails()
	if rate == 0 {
		full, rate = 0, 1e-15 // a rate of 0 has no divergence
	}
	whole, cut = sampledGaussian{a.q, a.mu}, sampledGaussian{rate, 2 * a.mu}
	if a.relation == ReplaceOne {
		whole, cut = oppositeAtom{a.q, a.mu}, gluedAtom{q: rate, mu: 2 * a.mu}
	}
	return rateAtom(whole), rateAtom(cut), full
}

// rateAtom returns the plain Gaussian for an atom that samples every record, and any other atom
// unchanged.
func rateAtom(a atom) atom {
	switch v := a.(type) {
	case oppositeAtom:
		if v.q >= 1 {
			return gaussianAtom{2 * v.mu}
		}
	case gluedAtom:
		if v.q >= 1 {
			return gaussianAtom{v.mu}
		}
	case sampledGaussian:
		if v.q >= 1 {
			return gaussianAtom{v.mu}
		}
	}
	return a
}

func (a truncAtom) rdp(order float64) (float64, bool) {
	whole, cut, full := a.halves()
	x, okX := whole.rdp(order)
	y, okY := cut.rdp(order)
	// The price treats it as public whether the other records fill the batch, so the moments mix.
	var s renyi.LogSum
	s.Add(math.Log1p(-full) + renyi.LogExpm1((order-1)*x))
	s.Add(math.Log(full) + renyi.LogExpm1((order-1)*y))
	return renyi.FromMomentMinusOne(s.Value(), order, 1e-14), okX && okY
}

func (a truncAtom) pairs() *pld.Pairs {
	whole, cut, full := a.halves()
	if full == 0 {
		return whole.pairs()
	}
	x, y := whole.pairs(), cut.pairs()
	out := &pld.Pairs{Remove: pld.NewBlend(full, y.Remove, x.Remove), Loose: true}
	if under := a.under(); under != nil {
		out.Under = under.pairs
	}
	if x.Add != nil || y.Add != nil {
		out.Add = pld.NewBlend(full, y.Adding(), x.Adding())
	}
	return out
}

// under returns the atom for data whose other records add zeros. The record is then released as by
// a Poisson sample with its probability to be in the batch, E min(Bin(n,q), B) ÷ n. It returns nil
// if this is too close to 0 or 1.
func (a truncAtom) under() atom {
	e, full := a.of, a.of.full()
	more := binomialAtLeast(e.MaxBatch+1, e.Population, e.Probability)*(1-1e-9) - 2e-12 // rounded down
	q := e.Probability*(1-full) + float64(e.MaxBatch)/float64(e.Population)*max(0, more)
	if q *= 1 - 1e-12; !(q > 1e-12 && q < 1-1e-9 && a.mu == 1/e.NoiseMultiplier) {
		return nil
	}
	if a.relation == ReplaceOne {
		return oppositeAtom{q, a.mu}
	}
	return sampledGaussian{q, a.mu}
}

// full returns the probability that the other records fill the batch, rounded up.
func (e TruncatedPoisson) full() float64 {
	return binomialAtLeast(e.MaxBatch, e.Population-1, e.Probability)
}

// binomialTerm returns P(Bin(n, q) = j), by the saddle point expansion of Loader 2000. A
// difference of logarithms of large factorials would lose too many digits.
func binomialTerm(j, n int, q float64) float64 {
	if j == 0 {
		return math.Exp(float64(n) * math.Log1p(-q))
	}
	if j == n {
		return math.Exp(float64(n) * math.Log(q))
	}
	a, b, all := float64(j), float64(n-j), float64(n)
	s := stirlingRest(all) - stirlingRest(a) - stirlingRest(b) - deviance(a, all*q) -
		deviance(b, all*(1-q))
	return math.Exp(s) * math.Sqrt(all/(2*math.Pi*a*b))
}

// stirlingRest returns log n! − log(√(2πn)·(n/e)^n).
func stirlingRest(n float64) float64 {
	if n < 16 {
		v, _ := math.Lgamma(n + 1)
		return v - (n+0.5)*math.Log(n) + n - 0.5*math.Log(2*math.Pi)
	}
	r := 1 / (n * n)
	return (1./12 - r*(1./360-r*(1./1260-r*(1./1680-r/1188)))) / n
}

// deviance returns x·log(x/m) + m − x, without cancellation where x and m are close.
func deviance(x, m float64) float64 {
	d := x - m
	if math.Abs(d) >= 0.1*(x+m) {
		return x*math.Log(x/m) - d
	}
	v := d / (x + m)
	s, t := d*v, 2*x*v
	for j := 3.0; ; j += 2 {
		t *= v * v
		next := s + t/j
		if next == s || math.IsNaN(next) {
			return next
		}
		s = next
	}
}

// binomialAtLeast returns P(Bin(n, q) ≥ k), rounded up.
func binomialAtLeast(k, n int, q float64) float64 {
	if k <= 0 {
		return 1
	}
	if k > n || q == 0 {
		return 0
	}
	if q == 1 {
		return 1
	}
	term := func(j int) float64 { return binomialTerm(j, n, q) }
	// Terms are summed away from the mode. Their ratio shows when the rest is negligible.
	mode := int(float64(n) * q)
	if k > mode {
		const least = 1e-300
		sum, rest, t := 0.0, 0.0, term(k)
		for j := k; j <= n; j++ {
			sum += t
			t *= float64(n-j) / float64(j+1) * q / (1 - q)
			if t < 1e-18*sum {
				break
			}
			if t < least { // the later terms decrease, and there are too many to visit
				rest = least * float64(n-j)
				break
			}
		}
		return renyi.AtMost(1, sum*(1+1e-10)+rest)
	}
	sum, t := 0.0, term(k-1)
	for j := k - 1; j >= 0; j-- {
		sum += t
		t *= float64(j) / float64(n-j+1) * (1 - q) / q
		if t < 1e-18 {
			break
		}
	}
	return renyi.AtMost(1, max(0, 1-sum*(1-1e-10))+1e-12)
}
