package main

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
)

// printed returns the ε of the same noise under both relations, and the ε that the papers'
// accounting would print. Their standard deviations are √2·σ times the clip norm; Lemma 1 halves
// the moments of the clustering, and Theorem 3 does not hold as they use it, so their number is not
// a bound.
func (c config) printed(p *dpgm.Plan, b accountant.Budget) (string, error) {
	halve := 2.0 // replacing a record changes a clipped sum by twice the clip norm
	if b.Relation == accountant.ReplaceOne {
		halve = 0.5
	}
	var same accountant.Composed
	moments := func(float64) float64 { return 0 }
	for _, s := range p.Stages() {
		event, earlier := s.Event, moments
		switch s.Purpose {
		case dpgm.PurposeTrain:
			t := event.(accountant.PoissonSampled)
			z := t.Event.(accountant.Gaussian).NoiseMultiplier
			event = accountant.PoissonSampled{Probability: t.Probability,
				Event: accountant.Gaussian{NoiseMultiplier: z / halve}}
			moments = func(l float64) float64 {
				v, _ := accountant.RDP(accountant.PoissonSampled{Probability: t.Probability,
					Event: accountant.Gaussian{NoiseMultiplier: z / math.Sqrt2}}, l+1, accountant.AddOrRemoveOne)
				return earlier(l) + float64(s.Count)*l*v
			}
		default:
			z, count := s.NoiseMultiplier, s.Count
			if r, ok := event.(accountant.Repeated); ok {
				count *= r.Count
			}
			event = accountant.Repeated{Event: accountant.Gaussian{NoiseMultiplier: z / halve}, Count: count}
			moments = func(l float64) float64 { return earlier(l) + float64(count)*(l*l+l)/(2*z*z) }
		}
		same.Events = append(same.Events,
			accountant.Repeated{Event: event, Count: max(s.Count*btoi(s.Purpose == dpgm.PurposeTrain), 1)})
	}
	other := accountant.ReplaceOne
	if b.Relation == other {
		other = accountant.AddOrRemoveOne
	}
	cost, err := accountant.Epsilon(same, b.Delta, other)
	if err != nil {
		return "", err
	}
	best := math.Inf(1)
	for l := 1.0; l <= 32; l++ {
		best = min(best, (moments(l)-math.Log(b.Delta))/l)
	}
	return fmt.Sprintf("%v ε = %s; the same noise, %v ε = %s; the papers' accounting prints %.4g",
		b.Relation, accountant.FormatUpper(p.Total().Upper, 4), other,
		accountant.FormatUpper(cost.Upper, 4), best), nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
