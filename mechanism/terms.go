package mechanism

import "github.com/seed7ba64551/privgen/accountant"

// sampling says how an event chooses the rows that it reads.
type sampling int

const (
	sampleNone sampling = iota
	samplePoisson
	sampleSubset
	sampleTurns
)

// terms states what one grant of an event may draw.
type terms struct {
	gaussian    float64  // Σ effect² that Gaussian releases may reach
	sampling    sampling // kind of the sample that must be drawn before any release
	probability float64
	subset      accountant.SampledWithoutReplacement
	other       accountant.Event // the one mechanism that is covered, if not Gaussian
	opposite    bool             // a sampled sum under replace-one, whose rows may be opposite
}

// termsOf reads an event. An unknown event covers nothing.
func termsOf(e accountant.Event) terms {
	switch e := e.(type) {
	case accountant.PoissonSampled:
		t := inner(e.Event)
		t.sampling, t.probability = samplePoisson, e.Probability
		return t
	case accountant.SampledSum:
		return terms{gaussian: squaredEffect(e.NoiseMultiplier), sampling: samplePoisson,
			probability: e.Probability, opposite: true}
	case accountant.BandedSum:
		return terms{gaussian: squaredEffect(e.NoiseMultiplier), sampling: sampleTurns,
			probability: e.Probability, opposite: true}
	case accountant.RandomAllocation:
		return terms{gaussian: squaredEffect(e.NoiseMultiplier), sampling: sampleTurns, probability: 1}
	case accountant.SampledWithoutReplacement:
		t := inner(e.Event)
		t.sampling, t.subset = sampleSubset, e
		return t
	case accountant.Repeated:
		if e.Count == 1 {
			return termsOf(e.Event)
		}
		t := inner(e.Event)
		t.gaussian *= float64(e.Count)
		return terms{gaussian: t.gaussian}
	case accountant.Composed:
		return composed(e)
	case accountant.Gaussian:
		return terms{gaussian: squaredEffect(e.NoiseMultiplier)}
	case accountant.SameBatch:
		var t terms
		for _, z := range e.NoiseMultipliers {
			t.gaussian += squaredEffect(z)
		}
		return t
	}
	return terms{other: e}
}

// under returns the terms of the event under a relation. A sampled sum's multiplier is relative to
// the norm of one record. If a record is replaced, the sum moves by up to twice this norm.
func (t terms) under(r accountant.Relation) terms {
	if t.opposite = t.opposite && r == accountant.ReplaceOne; t.opposite {
		t.gaussian *= 4
	}
	return t
}

// SumEffect returns the effect to pass to Release for a sum over records. norm bounds the row that
// a record adds, sensitivity is the sum's under the run's relation, std is the noise. SampledSum
// and BandedSum price rows of two records under replace-one as opposite, so that a sum counts as
// twice the norm of its rows, even if its own sensitivity is lower.
func (g *Grant) SumEffect(norm, sensitivity, std float64) float64 {
	if g.a.terms.opposite {
		sensitivity = 2 * norm
	}
	return sensitivity / std
}

// inner reads an event that may not contain sampling: a sample of a sample, or several samples
// under one grant, are not covered.
func inner(e accountant.Event) terms {
	t := termsOf(e)
	if t.sampling != sampleNone {
		return terms{}
	}
	return t
}

// composed adds up the squared effects of Gaussians: even an adaptive composition of Gaussians
// costs the same as one Gaussian with the summed squared effect.
func composed(e accountant.Composed) terms {
	if len(e.Events) == 1 {
		return termsOf(e.Events[0])
	}
	var sum terms
	for _, part := range e.Events {
		t := inner(part)
		if t.other != nil {
			return terms{}
		}
		sum.gaussian += t.gaussian
	}
	return sum
}

func squaredEffect(noiseMultiplier float64) float64 {
	if !(noiseMultiplier > 0) {
		return 0
	}
	return 1 / noiseMultiplier / noiseMultiplier
}
