package accountant

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBandedSumByMonteCarlo: δ of two rounds, estimated from likelihood ratios of all releases. If
// the record's group is known, δ is that of the price. If it is not, δ is no higher. If the record
// may be sampled by neighbouring steps, as no grant allows, δ is higher. Every comparison fails by
// chance with probability 1e-9.
func TestBandedSumByMonteCarlo(t *testing.T) {
	const q, z, eps, rounds, draws = 0.3, 1.0, 0.5, 2, 200000
	band := []float64{1, 0.75, 0.5}
	b := must[Bound](t)(Delta(Repeated{BandedSum{q, z, band}, rounds}, eps, AddOrRemoveOne))
	norm := 0.0
	for _, c := range band {
		norm += c * c
	}
	rng, std := rand.New(rand.NewPCG(1, 2)), z*math.Sqrt(norm)
	// ratio returns the likelihood ratio of fresh parts y for a record that the steps sample.
	ratio := func(y [9]float64, steps []int) float64 {
		total := 0.0
		for subset := range 1 << len(steps) {
			p, dot, square := 1.0, 0.0, 0.0
			var moved [9]float64
			for k, s := range steps {
				if subset>>k&1 == 0 {
					p *= 1 - q
					continue
				}
				p *= q
				for j, c := range band {
					moved[s+j] += c
				}
			}
			for i, m := range moved {
				dot, square = dot+m*y[i], square+m*m
			}
			total += p * math.Exp((dot-square/2)/std/std)
		}
		return total
	}
	delta := func(groups ...[]int) (mean, err float64) {
		sum, squares := 0.0, 0.0
		for range draws {
			var y [9]float64
			for i := range y {
				y[i] = std * rng.NormFloat64()
			}
			for _, s := range groups[rng.IntN(len(groups))] {
				if rng.Float64() < q {
					for j, c := range band {
						y[s+j] += c
					}
				}
			}
			l := 0.0
			for _, g := range groups {
				l += ratio(y, g) / float64(len(groups))
			}
			v := max(1-math.Exp(eps)/l, 0)
			sum, squares = sum+v, squares+v*v
		}
		mean = sum / draws
		return mean, 6.2 * math.Sqrt((squares/draws-mean*mean)/draws)
	}
	if d, err := delta([]int{1, 4}); d > b.Upper+err || d < b.Lower-err {
		t.Errorf("of a known group: δ = %v ± %v, priced as %v", d, err, b)
	}
	if d, err := delta([]int{0, 3}, []int{1, 4}, []int{2, 5}); d > b.Upper+err {
		t.Errorf("of an unknown group: δ = %v ± %v, priced as %v", d, err, b)
	}
	if d, err := delta([]int{0, 1}); d < b.Upper+err {
		t.Errorf("of neighbouring steps: δ = %v ± %v, not above the price %v", d, err, b)
	}
}

// TestBandedSumIsASampledSum: the price is that of SampledSum, under both relations.
func TestBandedSumIsASampledSum(t *testing.T) {
	for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
		got := upper(t, Repeated{BandedSum{0.1, 2, []float64{1, 0.5}}, 100}, 1e-6, r)
		if want := upper(t, Repeated{SampledSum{0.1, 2}, 100}, 1e-6, r); got != want {
			t.Errorf("%v: ε = %v, want %v", r, got, want)
		}
	}
}

// TestBandsThatCannotBe: coefficients are exact in 12 bits, do not increase and begin with 1.
func TestBandsThatCannotBe(t *testing.T) {
	nan := math.NaN()
	for _, band := range [][]float64{nil, {}, {0.5}, {nan}, {1, nan}, {1, -0x1p-12}, {1, 0.25, 0.5},
		{1, 0x1p-13}, {1, 2}, {1, 1. / 3}, {2, 1}, make([]float64, 1025), {1, math.Inf(1)}} {
		if b, err := Epsilon(BandedSum{0.1, 2, band}, 1e-6, AddOrRemoveOne); err == nil {
			t.Errorf("band %v: ε = %v, want an error", band, b)
		}
	}
	one := []float64{1}
	for _, bad := range []BandedSum{{nan, 2, one}, {0.1, nan, one}, {0.1, 0, one}} {
		if b, err := Epsilon(bad, 1e-6, AddOrRemoveOne); err == nil {
			t.Errorf("%v: ε = %v, want an error", bad, b)
		}
	}
}
