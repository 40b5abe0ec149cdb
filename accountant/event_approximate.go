package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Approximate is any mechanism known to be (ε, δ)-differentially private.
type Approximate struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

func (e Approximate) check() error {
	var errs []error
	if !(e.Epsilon >= 0) || math.IsInf(e.Epsilon, 0) {
		errs = append(errs,
			param.New("accountant.Approximate.Epsilon", e.Epsilon, "a finite number, zero or more"))
	}
	if !(e.Delta >= 0 && e.Delta < 1) {
		errs = append(errs, param.New("accountant.Approximate.Delta", e.Delta, "a number in [0, 1)"))
	}
	return errors.Join(errs...)
}

func (Approximate) kind() string { return "approximate" }

func (e Approximate) describe() string {
	return fmt.Sprintf("(%s, %s)-differentially private mechanism", FormatUpper(e.Epsilon, 6),
		FormatUpper(e.Delta, 3))
}

func (Approximate) sampling() sampling { return everyRecord() }

func (e Approximate) charge(c *collector, n int) error {
	return c.push(approximateAtom{e.Epsilon, e.Delta}, n)
}

func (e Approximate) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }

type approximateAtom struct{ eps, delta float64 }

func (a approximateAtom) key() string { return fmt.Sprintf("approximate %b %b", a.eps, a.delta) }

// rdp returns the divergence of the mass that is not lost to δ. It is the divergence of binary
// randomised response, log((e^{αε} + e^{(1−α)ε})/(1+e^ε))/(α−1).
func (a approximateAtom) rdp(order float64) (float64, bool) {
	if a.eps == 0 {
		return 0, true
	}
	// The moment minus one is (e^{αε}−e^ε)(1−e^{−αε})/(1+e^ε), in which nothing cancels.
	x := (order - 1) * a.eps
	s := renyi.LogExpm1(x) + a.eps + math.Log(-math.Expm1(-order*a.eps)) -
		math.Log1p(math.Exp(-math.Abs(a.eps))) - a.eps
	return renyi.AtMost(a.eps*(1+2*ulp),
		renyi.FromMomentMinusOne(s, order, 8*ulp*(1+math.Abs(s)))), true
}

func (a approximateAtom) pairs() *pld.Pairs {
	keep := 1 - a.delta
	up := keep / (1 + math.Exp(-a.eps))
	down := keep / (1 + math.Exp(a.eps))
	if a.eps == 0 {
		return &pld.Pairs{Remove: pld.NewSymmetric([]float64{0}, []float64{keep}, a.delta)}
	}
	return &pld.Pairs{Remove: pld.NewSymmetric([]float64{-a.eps, a.eps}, []float64{down, up}, a.delta)}
}

func (a approximateAtom) own() (float64, float64) { return a.eps, a.delta }

func (approximateAtom) attained() bool { return true }
