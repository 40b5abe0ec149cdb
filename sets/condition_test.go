package sets

import (
	"math"
	"testing"
)

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
