package accountant_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// A Laplace release of a scale above 1e9 is priced as one of 1e9. The lower end must not be: a
// guarantee states by how much ε exceeds it.
func TestLowerEndsOfLargeLaplaceNoise(t *testing.T) {
	r := accountant.AddOrRemoveOne
	e := accountant.Repeated{Event: accountant.Repeated{Event: accountant.Laplace{Scale: 1e12},
		Count: 1e6}, Count: 1e6} // ε is 1 at δ = 0
	if b, err := accountant.Epsilon(e, 0, r); err != nil || !(b.Lower <= 1) {
		t.Errorf("ε at δ = 0: %v, %v; want a lower end of at most 1", b, err)
	}
	if b, err := accountant.Delta(accountant.Laplace{Scale: 1e12}, 0, r); err != nil ||
		!(b.Lower <= 0.5e-12) {
		t.Errorf("δ at ε = 0: %v, %v; want a lower end of at most 5e-13", b, err)
	}
}
