package renyi

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBoundedRangeBruteForce checks the bound with losses within an interval of length ε. No
// distribution of the losses has a divergence above the bound. Two losses at the ends of the
// interval nearly reach it.
func TestBoundedRangeBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0xbbb))
	for range 3000 {
		eps, order := 0.01*math.Exp(rng.Float64()*6), 1+0.02*math.Exp(rng.Float64()*8)
		if eps*order > 600 {
			continue
		}
		bound := BoundedRange(eps, order)
		most := 0.0
		const steps = 400
		for i := 1; i < steps; i++ {
			most = max(most, twoLosses(eps*float64(i)/steps, eps, order))
		}
		if most > bound*(1+1e-9) {
			t.Fatalf("ε=%g α=%g: two losses have divergence %g, above the bound %g", eps, order, most,
				bound)
		}
		if most < bound*0.999 {
			t.Fatalf("ε=%g α=%g: two losses have divergence %g, far below the bound %g", eps, order, most,
				bound)
		}
		if v := fewLosses(rng, eps, order); v > bound*(1+1e-9) {
			t.Fatalf("ε=%g α=%g: five losses have divergence %g, above the bound %g", eps, order, v, bound)
		}
	}
	if v := BoundedRange(1e-12, 2); v > 1e-24/4*(1+1e-9) || v <= 0 {
		t.Errorf("BoundedRange(1e-12, 2) = %g, want a positive number of at most 2.5e-25", v)
	}
}

// twoLosses returns the divergence of losses t and t−ε.
func twoLosses(t, eps, order float64) float64 {
	up, down := math.Exp(t), math.Exp(t-eps)
	w := (1 - down) / (up - down)
	return math.Log(w*math.Pow(up, order)+(1-w)*math.Pow(down, order)) / (order - 1)
}

// fewLosses returns the divergence of a random distribution of five losses in [t−ε, t] with
// E_Q[e^L] = 1.
func fewLosses(rng *rand.Rand, eps, order float64) float64 {
	t := eps * rng.Float64()
	ratio, weight := []float64{math.Exp(t), math.Exp(t - eps)}, []float64{0, 0}
	sum, mean := 0.0, 0.0
	for range 3 {
		r, w := math.Exp(t-eps*rng.Float64()), rng.Float64()
		ratio, weight = append(ratio, r), append(weight, w)
		sum, mean = sum+w, mean+w*r
	}
	// The ends make the mean one.
	if gap := sum - mean; gap > 0 {
		weight[0] = gap / (ratio[0] - 1)
	} else {
		weight[1] = -gap / (1 - ratio[1])
	}
	sum += weight[0] + weight[1]
	moment := 0.0
	for i, r := range ratio {
		moment += weight[i] / sum * math.Pow(r, order)
	}
	return math.Log(moment) / (order - 1)
}
