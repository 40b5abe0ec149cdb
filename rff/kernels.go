package rff

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/param"
)

// RBF is the Gaussian kernel exp(−‖x−y‖²/(2ℓ²)). Its frequencies are normal with variance 1/ℓ² in
// every coordinate.
//
// Source: Rahimi and Recht 2007.
type RBF struct {
	Dim       int     `json:"dim"`       // number of features; even unless Phase
	Bandwidth float64 `json:"bandwidth"` // ℓ, in the units of a record's coordinates

	// Phase selects the features √(2/d)·cos(⟨w,x⟩+b) with random phases b, the map of Acs et al. The
	// norm of the features varies between records and can reach √2.
	Phase bool `json:"phase,omitempty"`
}

// New implements [Kernel].
func (c RBF) New(in int, seed uint64) (*Map, error) {
	draw := func(rng *rand.Rand, w []float64) { normal(rng, w, 1/c.Bandwidth) }
	s := spectrum{name: "RBF", dim: c.Dim, phase: c.Phase, draw: draw}
	var k param.Checker
	checkBandwidth(&k, "RBF.Bandwidth", c.Bandwidth)
	return build(&k, c, s, in, seed)
}

func normal(rng *rand.Rand, w []float64, scale float64) {
	for i := range w {
		w[i] = rng.NormFloat64() * scale
	}
}
