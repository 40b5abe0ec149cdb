package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFitNear fits a model to a new measurement of two neighbours in random trees. The model must
// then have the measured distribution, and all factors of far cliques and all distributions of them
// given what they share must be as before.
func TestFitNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	local := 0
	for range 60 {
		d, groups := Domain(nil), [][]int(nil)
		for a := range 12 {
			d = append(d, 1+rng.IntN(4))
			if a > 0 && rng.IntN(6) > 0 {
				groups = append(groups, []int{rng.IntN(a), a})
			}
		}
		var factors []Factor
		for _, g := range groups {
			f := Factor{g, make([]float64, int(d.Cells(g)))}
			for k := range f.Theta {
				f.Theta[k] = 2e4 + rng.NormFloat64() // messages add up to more than a factor may hold
			}
			factors = append(factors, f)
		}
		m := NewModel(d, factors)
		before := make([][]float64, len(groups))
		for i := range groups {
			before[i] = slices.Clone(m.Factors[i].Theta)
		}
		chosen := rng.IntN(len(groups))
		values := make([]float64, len(before[chosen]))
		total := 0.0
		for k := range values {
			values[k] = 100 * (0.2 + rng.Float64())
			total += values[k]
		}
		list := []Measurement{{Attributes: groups[chosen], Values: values, Std: 1}}
		near, err := m.FitNear(t.Context(), list, total, 4000, groups[chosen])
		if err != nil {
			t.Fatal(err)
		}
		for k, p := range m.Marginal(groups[chosen]) {
			if math.Abs(p*total-values[k]) > 1 {
				t.Errorf("cell %d is %.2f, measured %.2f", k, p*total, values[k])
			}
		}
		for i, g := range groups {
			if near[g[0]] && near[g[1]] {
				continue
			}
			local++
			if !slices.Equal(m.Factors[i].Theta, before[i]) {
				t.Errorf("the factor of %v is far from %v and has changed", g, groups[chosen])
			}
		}
		// The messages must be those of the whole model: without steps nothing changes.
		fresh := NewModel(d, m.Factors)
		for _, g := range groups {
			for k, p := range fresh.Marginal(g) {
				if q := m.Marginal(g)[k]; math.Abs(p-q) > 1e-9 {
					t.Errorf("%v has probability %v, a new model %v", g, q, p)
				}
			}
		}
	}
	if local < 60 {
		t.Errorf("%d far factors", local)
	}
}
