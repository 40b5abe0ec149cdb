package pld

import (
	"math"
	"testing"
)

// The mass of Q at a loss of 690 is below the least float64, but P's mass there still counts: its
// cells are not negative, and the largest of several curves has all of it at every node.
func TestFarLossesKeepTheirMass(t *testing.T) {
	far := NewTable([]float64{0, 690}, []float64{1e-25, 0})
	nodes := []float64{0, 650, 689.999, 690, 695}
	var c cells
	far.cut(nodes, &c)
	for i, d := range c.d {
		if !(c.e[i] >= 0 && d >= 0) {
			t.Errorf("cell %d: e %g, d %g", i, c.e[i], d)
		}
	}
	far.cut([]float64{0, 689, 695}, &c)
	if want := 1e-25 * math.Expm1(5); !(math.Abs(c.d[1]-want) <= 1e-9*want) {
		t.Errorf("d is %g, want %g", c.d[1], want)
	}
	far.cut(nodes, &c)
	for i, d := range curveAt(nodes, &c) {
		if want := 1e-25 * -math.Expm1(min(0, nodes[i]-690)); !(d >= want*(1-1e-9)) {
			t.Errorf("δ(%v) = %g, want at least %g", nodes[i], d, want)
		}
	}
}
