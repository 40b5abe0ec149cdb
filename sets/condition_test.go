package sets

import (
	"math"
	"math/rand/v2"
	"testing"
)

// law returns the probability of every set, indexed by its items as bits.
func (t branches) law(items int) []float64 {
	p := make([]float64, 1<<items)
	for set := range p {
		p[set] = 1
		for _, b := range t {
			q := b.without
			if b.parent >= 0 && set>>t[b.parent].item&1 == 1 {
				q = b.with
			}
			if set>>b.item&1 == 0 {
				q = 1 - q
			}
			p[set] *= q
		}
	}
	return p
}

// asItems returns the items whose bits are set.
func asItems(set int) map[uint32]bool {
	out := map[uint32]bool{}
	for item := range uint32(32) {
		if set>>item&1 == 1 {
			out[item] = true
		}
	}
	return out
}

// TestConditionedTreesFollowBayesRule compares the distribution of the conditioned tree with the
// conditional distribution of the tree. It also compares the returned probability with the
// probability of the condition.
func TestConditionedTreesFollowBayesRule(t *testing.T) {
	const items = 6
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var tree branches
		for k, item := range rng.Perm(items) {
			b := branch{uint32(item), rng.IntN(k+1) - 1, rng.Float64(), rng.Float64()}
			if rng.IntN(6) == 0 {
				b.with = float64(rng.IntN(2))
			}
			tree = append(tree, b)
		}
		have := rng.IntN(1 << items)
		have &= rng.IntN(1 << items)
		lack := rng.IntN(1<<items) & rng.IntN(1<<items) &^ have
		before, want := tree.law(items), 0.0
		for set, p := range before {
			if set&have == have && set&lack == 0 {
				want += p
			}
		}
		given, got := tree.given(asItems(have), asItems(lack))
		if math.Abs(got-want) > 1e-12 {
			t.Fatalf("probability %v, want %v", got, want)
		}
		if want == 0 {
			continue
		}
		for set, p := range given.(branches).law(items) {
			bayes := before[set] / want
			if set&have != have || set&lack != 0 {
				bayes = 0
			}
			if math.Abs(p-bayes) > 1e-9 {
				t.Fatalf("set %06b has probability %v, want %v", set, p, bayes)
			}
		}
	}
}

func TestConditionedItemsAndDomains(t *testing.T) {
	p, probability := independentItems{0.5, 0.25, 1.5, 0.1}.given(asItems(0b0110), asItems(0b1000))
	if q := p.(independentItems); probability != 0.25*0.9 || q[0] != 0.5 || q[1] != 1 || q[2] != 1 ||
		q[3] != 0 {
		t.Errorf("%v with probability %v", p, probability)
	}
	d := &domainWeights{weights: &weights{domain: [][]uint32{{0}, {1, 2}, {2}, {0, 2}, {}},
		p: []float64{0.1, 0.2, 0.3, 0.25, 0.15}}}
	s, probability := d.given(asItems(0b100), asItems(0b001))
	if w := s.(*domainWeights).weights; math.Abs(probability-0.5) > 1e-12 || w.p[1] != 0.4 ||
		w.p[2] != 0.6 || w.p[0]+w.p[3]+w.p[4] != 0 {
		t.Errorf("%v with probability %v", w.p, probability)
	}
	if _, probability := d.given(asItems(0b1000), nil); probability != 0 {
		t.Errorf("sets with an item that no set has have probability %v", probability)
	}
}
