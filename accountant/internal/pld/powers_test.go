package pld

import (
	"math"
	"testing"
)

// TestErrorsOfPowers: a coefficient of the transform is wrong by up to coeErr. The error of its
// power, which the ε is charged for, is at least what an error of that size in every factor makes
// of it.
func TestErrorsOfPowers(t *testing.T) {
	for _, count := range []int{1, 2, 7, 100, 1 << 20} {
		for _, size := range []float64{1, 0.999, 0.3} {
			const wrong = 1e-12
			c := &composer{n: 2, coef: []complex128{complex(size, 0), complex(0, -size)}, coeErr: wrong}
			var p product
			p.begin(c.n)
			c.multiply(&p, count)
			for k, z := range p.prod {
				if z == 0 {
					continue // below the errors of every coefficient
				}
				grows := math.Expm1(float64(count) * math.Log1p(wrong/size))
				if !(1.1*p.relErr[k] >= grows && p.relErr[k] < 2*grows+1e-14*float64(count)) {
					t.Errorf("%v to the power %d: relative error %v, want %v", c.coef[k], count,
						p.relErr[k], grows)
				}
			}
		}
	}
}
