package accountant

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// DiscreteGaussian is one integer release with discrete Gaussian noise. Source: Canonne, Kamath and
// Steinke 2020.
type DiscreteGaussian struct {
	Sigma       float64 `json:"sigma"`       // parameter σ on the integers
	Sensitivity int     `json:"sensitivity"` // largest change of the integer query
}

func (e DiscreteGaussian) check() error {
	return errors.Join(positive("accountant.DiscreteGaussian.Sigma", e.Sigma),
		positiveInt("accountant.DiscreteGaussian.Sensitivity", e.Sensitivity))
}

func (DiscreteGaussian) kind() string { return "discrete_gaussian" }

func (e DiscreteGaussian) describe() string {
	return fmt.Sprintf("discrete Gaussian release, σ %.6g, sensitivity %d", e.Sigma, e.Sensitivity)
}

func (DiscreteGaussian) sampling() sampling { return everyRecord() }

func (e DiscreteGaussian) charge(c *collector, n int) error {
	a := discreteGaussianAtom{sigma: e.Sigma, sensitivity: e.Sensitivity}
	a.made = sync.OnceValue(a.pair)
	return c.push(a, n)
}

func (e DiscreteGaussian) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }

type discreteGaussianAtom struct {
	sigma       float64
	sensitivity int
	made        func() *pld.Discrete // takes long, so it is made once, when it is first needed
}

func (a discreteGaussianAtom) key() string {
	return fmt.Sprintf("dgauss %b %d", a.sigma, a.sensitivity)
}

// rdp returns the divergence of the continuous Gaussian, which is an upper bound. Source:
// Canonne, Kamath and Steinke 2020, Proposition 5.
func (a discreteGaussianAtom) rdp(order float64) (float64, bool) {
	mu := max(float64(a.sensitivity)/a.sigma, leastEffect)
	return order * mu * mu / 2 * (1 + 8*ulp), true
}

func (a discreteGaussianAtom) pairs() *pld.Pairs {
	d := float64(a.sensitivity)
	if a.sigma > maxAtoms/64 || a.sensitivity > maxAtoms/4 ||
		!(d*14/a.sigma+d*d/(a.sigma*a.sigma) <= 1000) {
		return nil
	}
	return &pld.Pairs{Remove: a.made()}
}

// pair returns the pair of the discrete Gaussian, with one loss for each integer. The discrete
// Gaussian is no post-processing of the continuous Gaussian, so it needs its own pair.
func (a discreteGaussianAtom) pair() *pld.Discrete {
	reach, d := int(14*a.sigma)+2, float64(a.sensitivity)
	weight := func(x int) float64 {
		return math.Exp(-float64(x) * float64(x) / (2 * a.sigma * a.sigma))
	}
	total := 0.0
	for x := reach; x > 0; x-- {
		total += 2 * weight(x)
	}
	total++
	var loss, mass []float64
	for x := max(reach, a.sensitivity+reach*2/3); x >= -reach; x-- { // to the neighbour's noise
		loss = append(loss, d*(d-2*float64(x))/(2*a.sigma*a.sigma))
		mass = append(mass, weight(x)/total*(1+32*ulp))
	}
	const beyond = 1e-42 // bounds the mass beyond 14σ on either side
	return pld.NewDiscrete(loss, mass, beyond, 0)
}
