package mix

import "github.com/seed7ba64551/privgen/accountant"

// A Sampling determines how the records of a mixture are drawn and how many a mixture has on
// average. The type of a Sampling determines the neighbouring relation; a budget with the other
// relation is an error. Only types of this package implement Sampling.
type Sampling interface {
	// Relation returns the neighbouring relation under which this sampling can be priced.
	Relation() accountant.Relation
	kind() string
	sizeField() string // the field that holds the number of records
	public() (records, degree int)
	// events returns the event of one mixture under each known privacy analysis. The plan uses the
	// analysis that needs the least noise.
	events(g geometry, rate, multiplier float64) []accountant.Event
}

// Poisson includes every record in every mixture independently, with the public probability
// Degree/Nominal.
//
// Guarantee: add or remove one record. The true number of records stays private; Nominal is a
// public estimate of it. Nominal determines the sampling probability, and with it ε and the
// expected number of records in a mixture.
type Poisson struct {
	Nominal int `json:"nominal"` // public estimate of the number of records
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

func (Poisson) sizeField() string            { return "Nominal" }
func (PoissonReplaceOne) sizeField() string  { return "Records" }
func (WithoutReplacement) sizeField() string { return "Records" }

func (s Poisson) public() (int, int)            { return s.Nominal, s.Degree }
func (s PoissonReplaceOne) public() (int, int)  { return s.Records, s.Degree }
func (s WithoutReplacement) public() (int, int) { return s.Records, s.Degree }

// samplingOf returns the sampling of a kind, or nil for an unknown kind.
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

// events returns events for the two known dominating pairs. The first analysis relies on two facts:
// an absent record adds nothing, and both records have at most g.norm(). The second relies only on
// the largest distance by which replacing a record changes a mixture. This distance also bounds the
// effect of a record's absence.
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
