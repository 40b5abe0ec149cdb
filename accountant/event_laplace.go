package accountant

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// Laplace is one release with Laplace noise.
type Laplace struct {
	Scale float64 `json:"scale"` // b ÷ L1 sensitivity
}

func (e Laplace) check() error { return positive("accountant.Laplace.Scale", e.Scale) }

func (Laplace) kind() string { return "laplace" }

func (e Laplace) describe() string {
	return fmt.Sprintf("Laplace release, scale %.6g", e.Scale)
}

func (Laplace) sampling() sampling { return everyRecord() }

func (e Laplace) charge(c *collector, n int) error {
	return c.push(laplaceAtom{min(e.Scale, mostScale)}, n)
}

const mostScale = 1 << 30 // of prices; less noise only increases a price

func (e Laplace) dpAccounting(Relation) (string, error) {
	return dpCall("LaplaceDpEvent", "noise_multiplier", pyFloat(e.Scale)), nil
}

type laplaceAtom struct{ scale float64 }

func (a laplaceAtom) key() string { return fmt.Sprintf("laplace %b", a.scale) }

// rdp computes Proposition 6 of Mironov 2017 with 1 subtracted from both terms. Their first-order
// parts cancel; the margin covers the digits lost.
func (a laplaceAtom) rdp(order float64) (float64, bool) {
	eps, _ := a.own() // the divergence of infinite order
	return renyi.AtMost(eps, a.divergence(order)), true
}

func (a laplaceAtom) divergence(order float64) float64 {
	x := (order - 1) / a.scale
	first := order / (2*order - 1)
	second := (order - 1) / (2*order - 1)
	if x > 30 {
		return (x + math.Log(first) + math.Log1p(second/first*math.Exp(-order/a.scale-x))) / (order - 1) *
			(1 + 8*ulp)
	}
	t1, t2 := first*math.Expm1(x), second*math.Expm1(-order/a.scale)
	return math.Log1p(max(0, t1+t2)+4*ulp*(t1-t2)) / (order - 1) * (1 + 4*ulp)
}

func (a laplaceAtom) pairs() *pld.Pairs {
	return &pld.Pairs{Remove: pld.Laplace(a.scale), Loose: !a.attained()}
}

func (a laplaceAtom) own() (float64, float64) { return inverseUp(a.scale), 0 }

func (a laplaceAtom) attained() bool { return a.scale < mostScale }
