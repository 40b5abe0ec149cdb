package models

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestTermsKeepWithinTheirLimit: no element of a record's sum of a few terms exceeds the limit of
// the sum, in matrices and in biases. Without the limit many elements of both would.
func TestTermsKeepWithinTheirLimit(t *testing.T) {
	const bound, unit = 0.75, 0x1p-18
	critics := criticCases()
	beyond := map[bool]int{}
	for _, name := range []string{"linear", "one layer", "relu", "conditional", "three layers",
		"tanh"} {
		c := critics[name]
		net := newPaired(t, c)
		batch := wild(rand.New(rand.NewPCG(4, 4)), 40, c.dim, max(c.classes, 1))
		for i := range batch.Rows {
			one := batch.Slice(i, i+1)
			p, ok := net.Gradients(one).(*pairs)
			if !ok {
				t.Fatalf("%s: the gradients are %T", name, net.Gradients(one))
			}
			form := p.FixedForm()
			norm := make([]float64, 1)
			p.SquaredNorms(norm)
			w := []float32{device.Odd(float32(min(1, bound*(1-0x1p-20)/math.Sqrt(norm[0]))))}
			sum := func(limit float64) device.Fixed {
				s := device.NewFixed(device.CPU(), net.Params().Shapes...)
				s.Unit, s.Limit, s.Chain = unit, limit, 1
				p.AddFixedSum(s, w)
				return s
			}
			const limit = 0.02
			free, held := sum(float64(form.Reach)*bound), sum(limit)
			most := limit/unit + float64(form.Terms)/2 + 1
			for k := range p.list {
				u := &p.list[k]
				if !u.some() {
					continue
				}
				for isBias, block := range map[bool]int{false: u.weight, true: u.bias} {
					if block < 0 {
						continue
					}
					loose := free.Block(block).Units
					for at, v := range held.Block(block).Units {
						if math.Abs(float64(v)) > most {
							t.Fatalf("%s, record %d, block %d: an element is %d units, want at most %v", name, i,
								block, v, most)
						}
						if math.Abs(float64(loose[at])) > most {
							beyond[isBias]++
						}
					}
				}
			}
		}
	}
	if beyond[false] < 100 || beyond[true] < 20 {
		t.Errorf("%v elements exceed the limit without it: the test has no power", beyond)
	}
}
