package dpgm

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestViewsFollowTheirSum checks that in every step a part's view of a sum has the unit, chain,
// limit and carry of the sum. They depend on the step's clip norm.
func TestViewsFollowTheirSum(t *testing.T) {
	shape := device.Shape{Name: "w", Rows: 2, Cols: 3}
	sum := device.NewFixed(device.CPU(), shape, shape)
	g := &mixtureGradients{spans: []span{{0, 1}, {1, 2}}}
	for step := range 3 {
		sum.Unit, sum.Chain, sum.Limit = float32(int(1)<<step), 8+step, float64(step)
		if sum.Carry = nil; step == 1 {
			sum.Carry = make([]float64, len(sum.Units))
		}
		for part := range g.spans {
			v := g.fixedView(sum, part)
			if v.Unit != sum.Unit || v.Chain != sum.Chain || v.Limit != sum.Limit {
				t.Errorf("step %d: the view of part %d has unit %v, chain %d, limit %v, want the sum's", step,
					part, v.Unit,
					v.Chain, v.Limit)
			}
			if &v.Units[0] != &sum.Units[6*part] || (v.Carry == nil) != (sum.Carry == nil) ||
				v.Carry != nil && &v.Carry[0] != &sum.Carry[6*part] {
				t.Errorf("step %d: the view of part %d does not share the part's memory of the sum", step, part)
			}
		}
	}
}
