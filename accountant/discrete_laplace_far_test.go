package accountant_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// A discrete Laplace release of a very large sensitivity is priced as a pure one, which costs more.
// So its lower end is not that of the pure one.
func TestLowerEndsOfDiscreteLaplaceOfLargeSensitivity(t *testing.T) {
	e := accountant.DiscreteLaplace{A: 1e-6, Sensitivity: 1e6} // δ(0) is 1−e^(−1/2), nearly
	b, err := accountant.Delta(e, 0, accountant.AddOrRemoveOne)
	if err != nil || !(b.Lower <= 0.3935 && b.Upper >= 0.3934) {
		t.Errorf("δ at ε = 0: %v, %v; want about 0.39347 within", b, err)
	}
}
