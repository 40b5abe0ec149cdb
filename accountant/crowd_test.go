package accountant

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// crowd returns n different Poisson samples of Gaussian releases.
func crowd(rng *rand.Rand, n int, spread float64) Composed {
	var list []Event
	q, z := math.Exp(-7*rng.Float64()), math.Exp(4*rng.Float64()-1)
	for range n {
		list = append(list, Repeated{PoissonSampled{
			Probability: min(q*math.Exp(spread*rng.NormFloat64()), .9),
			Event:       Gaussian{NoiseMultiplier: z * math.Exp(spread*rng.NormFloat64())},
		}, 1 + rng.IntN(50)})
	}
	return Composed{list}
}

// TestRoundingNeverLowersThePrice checks every rounded sample against its own one, and the price of
// many different samples against the price without rounding.
func TestRoundingNeverLowersThePrice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for try := range 32 {
		spread := []float64{.001, .05, .3, 3}[try%4]
		event := Event(crowd(rng, 33+rng.IntN(20), spread))
		if try%8 >= 4 { // two parts, of which either may be the dearer one
			event = Disjoint{Parts: []Event{event, crowd(rng, 20, spread)}, Fixed: true}
		}
		e, err := Reduce(event, AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		checkRounded(t, e)
		if try >= 8 {
			continue
		}
		own, err := priceAll(context.Background(), e.lists, 1e-6, AddOrRemoveOne, true)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Price(context.Background(), Budget{Delta: 1e-6}, 0, true)
		if err != nil || !(got.Upper >= own.Lower && got.Lower == 0) {
			t.Errorf("%d: %v with rounding, %v without, %v", try, got, own, err)
		}
		if most := []float64{1.05, 1.15, 1.7, 1e9}[try%4]; got.Upper > most*own.Upper {
			t.Errorf("%d: %v with rounding, %v without: more than %v times", try, got, own, most)
		}
	}
}

// checkRounded checks that every sample has a rounded one that dominates it, that no use is lost,
// and that few events are different.
func checkRounded(t *testing.T, e Reduced) {
	t.Helper()
	r, ok := e.rounded(mostCostly)
	if costly, _ := r.work(); !ok || costly > mostCostly {
		t.Fatalf("%d different events are left, %t", costly, ok)
	}
	for i, terms := range e.lists {
		left := map[sampledGaussian]int{}
		for _, x := range r.lists[i] {
			left[x.atom.(sampledGaussian)] += x.n
		}
		for _, own := range terms {
			a, found := own.atom.(sampledGaussian), sampledGaussian{}
			best := math.Inf(1)
			for b := range left {
				far := math.Log(b.q/a.q) + math.Log(b.mu/a.mu)
				if b.q >= a.q && b.mu >= a.mu && far < best {
					found, best = b, far
				}
			}
			left[found] -= own.n
		}
		for b, n := range left {
			if n != 0 {
				t.Fatalf("%d uses more of q = %g, μ = %g than are rounded to it", n, b.q, b.mu)
			}
		}
	}
}

// TestRoundingTakesLittleTime: the text of an event of a million places, combinations of samples
// and disjoint parts, is short. It is not rounded, and so it is refused before it is priced.
func TestRoundingTakesLittleTime(t *testing.T) {
	parts := Disjoint{Fixed: true}
	for i := range 250 {
		parts.Parts = append(parts.Parts, Pure{Epsilon: float64(1 + i)})
	}
	for n, want := range map[int]bool{mostRounds/250 - 1: true, mostRounds / 250: false} {
		all := Composed{[]Event{parts}}
		for i := range n {
			all.Events = append(all.Events, SampledSum{.001 + 1e-9*float64(i), 3})
		}
		e, err := Reduce(all, AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.rounded(2 + len(parts.Parts)); ok != want {
			t.Errorf("%d samples in 250 lists: rounded is %t, want %t", n, ok, want)
		}
		if e.CheckWork("event") == nil {
			t.Error("an event of so many places may be priced")
		}
	}
}

// TestRatesNearOneAreNotLowered: a probability that is rounded stays below 1, and one that is above
// the largest rounded one stays as it is.
func TestRatesNearOneAreNotLowered(t *testing.T) {
	for _, q := range []float64{0.9, 0.99, mostRounded, 0.9995, 1 - 1e-9} {
		for k := float64(finest); k >= coarsest; k /= 2 {
			got := roundedTerms([]term{{sampledGaussian{q, 1}, 1}}, k)[0].atom.(sampledGaussian)
			if !(got.q >= q && got.q <= max(q, mostRounded)) {
				t.Errorf("k = %v: probability %v becomes %v", k, q, got.q)
			}
		}
	}
}

// TestPowersAreNotBelow covers numbers of all sizes, powers themselves among them.
func TestPowersAreNotBelow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		k := math.Exp2(float64(rng.IntN(7)))
		x := math.Exp(60*rng.Float64() - 40)
		if rng.IntN(2) == 0 {
			x = math.Exp2(float64(rng.IntN(2000)-1600) / k)
		}
		if up := toPower(x, k); !(x <= up && up <= x*math.Exp2(1/k)*(1+1e-12)) {
			t.Fatalf("k = %v: %g becomes %g", k, x, up)
		}
	}
}
