package mechanism

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
)

func TestRandomizedResponseRates(t *testing.T) {
	e := accountant.RandomizedResponse{Noise: 0.4, Categories: 5}
	source, err := entropy.New()
	if err != nil {
		t.Fatal(err)
	}
	src := source.Stream(entropy.Noise, 1, 0)
	const n = 50000
	truth := 0
	for range n {
		a := &Allowance{run: &Run{}, terms: termsOf(e), noise: src,
			noted: []accountant.NoiseClass{accountant.ExactNoise}}
		v, err := (&Grant{a: a}).RandomizedResponse(2)
		if err != nil {
			t.Fatal(err)
		}
		if v < 0 || v > 4 {
			t.Fatalf("got category %d, want 0 to 4", v)
		}
		if v == 2 {
			truth++
		}
	}
	sixSigma(t, "truth", truth, n, 1-0.4+0.4/5)
}
