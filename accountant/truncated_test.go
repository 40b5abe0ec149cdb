package accountant

import (
	"strconv"
	"testing"
	"time"
)

// bit returns 2ⁿ. It is not constant, since the tests must compile where an int has 32 bits.
func bit(n uint) int { return 1 << n }

func skipSmallInts(t *testing.T) {
	t.Helper()
	if strconv.IntSize < 64 {
		t.Skip("the numbers do not fit in an int")
	}
}

// TestTruncatedPoissonOfManyRecords checks that a batch limit far above the mean is priced at once.
// The probability of a full batch underflows there, and each of up to 2⁴⁰ records was visited. A
// ledger or a plan from a file may hold such an event.
//
// The prices take milliseconds; the limit is a thousand times that.
func TestTruncatedPoissonOfManyRecords(t *testing.T) {
	skipSmallInts(t)
	for _, e := range []TruncatedPoisson{
		{NoiseMultiplier: 1, Probability: 1e-3, Population: bit(40), MaxBatch: bit(31)},
		// The first term is about 1e-320, and the terms decrease slowly.
		{NoiseMultiplier: 1, Probability: 1e-3, Population: bit(40), MaxBatch: 1100785104},
		{NoiseMultiplier: 1, Probability: .5, Population: bit(40), MaxBatch: bit(39)},
	} {
		got := make(chan Bound, 1)
		go func() {
			b, err := Epsilon(e, 1e-6, AddOrRemoveOne)
			if err != nil {
				t.Error(err)
			}
			got <- b
		}()
		select {
		case b := <-got:
			t.Log(e, b)
		case <-time.After(20 * time.Second):
			t.Fatalf("%+v is not priced after 20 s", e)
		}
	}
	// Where the limit is never reached, the event is the plain Poisson sample.
	e := TruncatedPoisson{NoiseMultiplier: 1, Probability: 1e-3, Population: bit(40),
		MaxBatch: bit(31)}
	cut, err := Epsilon(e, 1e-6, AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Epsilon(PoissonSampled{1e-3, Gaussian{1}}, 1e-6, AddOrRemoveOne)
	if err != nil {
		t.Fatal(err)
	}
	if cut.Upper < whole.Upper*(1-1e-12) || cut.Upper > whole.Upper*(1+1e-6) {
		t.Errorf("ε = %v, want %v", cut, whole)
	}
}

// TestTailsThatUnderflowAreRoundedUp checks a tail whose first term is 0 in float64.
func TestTailsThatUnderflowAreRoundedUp(t *testing.T) {
	skipSmallInts(t)
	if p := binomialAtLeast(bit(39), bit(40), 1e-3); !(p > 0 && p < 1e-280) {
		t.Errorf("got %v, want an upper bound above 0", p)
	}
}

// TestTruncatedSampleOfAllRecords: at rate 1, a replaced record moves a batch of all records by two
// clip norms, and no batch is cut.
func TestTruncatedSampleOfAllRecords(t *testing.T) {
	e := TruncatedPoisson{NoiseMultiplier: 3, Probability: 1, Population: 10, MaxBatch: 10}
	for r, z := range map[Relation]float64{AddOrRemoveOne: 3, ReplaceOne: 1.5} {
		got := upper(t, e, 1e-5, r)
		want := upper(t, Gaussian{z}, 1e-5, r)
		if got < want*(1-1e-9) || got > want*1.001 {
			t.Errorf("%v: ε = %g, want %g", r, got, want)
		}
	}
}
