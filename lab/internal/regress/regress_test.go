package regress

import (
	"math/rand/v2"
	"testing"
)

// TestBoostingAndNetworkLearn: a product of two coordinates, beside one that says nothing. Neither
// finds it if it sees one coordinate only.
func TestBoostingAndNetworkLearn(t *testing.T) {
	draw := func(n int, seed uint64) (s sample) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for range n {
			a, b := rng.Float32(), float32(rng.IntN(2))
			s.x = append(s.x, []float32{a, b, rng.Float32()})
			s.y = append(s.y, float64((4*a-2)*(2*b-1)))
		}
		return s
	}
	train, test := draw(1500, 1), draw(300, 2)
	learnt, err := network(train, test)
	if err != nil {
		t.Fatal(err)
	}
	if r := explained(test.y, learnt); r < 0.95 {
		t.Errorf("R² of the network is %.3f, want .95", r)
	}
	if r := explained(test.y, boosting(train, test)); r < 0.95 {
		t.Errorf("R² of boosting is %.3f, want .95", r)
	}
}
