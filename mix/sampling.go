package mix

import (
	"github.com/seed7ba64551/privgen/accountant"
)

// A Sampling says how the records of a mixture are drawn and how many are expected in it. Its type
// fixes the neighbouring relation, and a plan refuses a budget of the other one. The samplings of
// this package are the only ones, as values.
type Sampling interface {
	// Relation is the neighbouring relation under which this sampling can be priced.
	Relation() accountant.Relation
	kind() string
	public() (records, degree int)
	// events are the sound analyses of one mixture; the plan takes the one that needs the least
	// noise.
	events(g geometry, rate, multiplier float64) []accountant.Event
}

// Poisson includes every record in every mixture independently, with the public probability
// Degree/Nominal.
//
// Guarantee: add or remove one record. The true number of records stays private: Nominal is a
// public guess at it, which sets how many records a mixture really holds and has no influence on ε
// beyond the probability.
type Poisson struct {
	Nominal int `json:"nominal"` // public guess at the number of records
	Degree  int `json:"degree"`  // ℓ, the public divisor; 0 lets the plan choose
}

// PoissonReplaceOne includes every record in every mixture independently, with probability
// Degree/Records.
//
// Guarantee: replace one record. Records is public and must be the number of records.
type PoissonReplaceOne struct {
	Records int `json:"records"` // n, public
	Degree  int `json:"degree"`  // ℓ; 0 lets the plan choose
}

// WithoutReplacement draws a fresh, uniformly random subset of exactly Degree records for every
// mixture, as the paper does.
//
// Guarantee: replace one record. Records is public and must be the number of records.
type WithoutReplacement struct {
	Records int `json:"records"` // n, public
	Degree  int `json:"degree"`  // ℓ; 0 lets the plan choose
}

// Relation is accountant.AddOrRemoveOne.
func (Poisson) Relation() accountant.Relation { return accountant.AddOrRemoveOne }

// Relation is accountant.ReplaceOne.
func (PoissonReplaceOne) Relation() accountant.Relation { return accountant.ReplaceOne }

// Relation is accountant.ReplaceOne.
func (WithoutReplacement) Relation() accountant.Relation { return accountant.ReplaceOne }

func (Poisson) kind() string            { return "Poisson" }
func (PoissonReplaceOne) kind() string  { return "PoissonReplaceOne" }
func (WithoutReplacement) kind() string { return "WithoutReplacement" }

func (s Poisson) public() (int, int)            { return s.Nominal, s.Degree }
func (s PoissonReplaceOne) public() (int, int)  { return s.Records, s.Degree }
func (s WithoutReplacement) public() (int, int) { return s.Records, s.Degree }

// samplingOf is the sampling of a kind; nil where there is none.
func samplingOf(kind string, records, degree int) Sampling {
	for _, s := range []Sampling{Poisson{records, degree}, PoissonReplaceOne{records, degree},
		WithoutReplacement{records, degree}} {
		if s.kind() == kind {
			return s
		}
	}
	return nil
}

func withDegree(s Sampling, degree int) Sampling {
	n, _ := s.public()
	return samplingOf(s.kind(), n, degree)
}

func (s Poisson) events(_ geometry, rate, multiplier float64) []accountant.Event {
	return []accountant.Event{accountant.PoissonSampled{Probability: rate,
		Event: accountant.Gaussian{NoiseMultiplier: multiplier}}}
}

// Two dominating pairs are known here. The first knows only how far a mixture moves when a record
// in it is replaced (and that a record's absence moves it no farther); the second knows that an
// absent record adds nothing, and assumes of the two records only that neither is longer than the
// clip norm.
func (s PoissonReplaceOne) events(g geometry, rate, multiplier float64) []accountant.Event {
	return []accountant.Event{
		accountant.SampledSum{Probability: rate, NoiseMultiplier: multiplier},
		accountant.PoissonSampled{Probability: rate,
			Event: accountant.Gaussian{NoiseMultiplier: g.replaced(multiplier)}},
	}
}

func (s WithoutReplacement) events(g geometry, _, multiplier float64) []accountant.Event {
	return []accountant.Event{accountant.SampledWithoutReplacement{Population: s.Records,
		Sample: s.Degree,
		Event:  accountant.Gaussian{NoiseMultiplier: g.replaced(multiplier)}}}
}
