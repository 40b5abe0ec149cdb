package rff

import (
	"math"
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
	return build(c, s, in, seed, checkBandwidth("RBF.Bandwidth", c.Bandwidth))
}

// Custom is a user-defined shift-invariant kernel, given by a sampler of its spectral distribution.
// For example, independent Cauchy variables of scale 1/ℓ give the Laplacian kernel exp(−‖x−y‖₁/ℓ).
//
// The function Frequencies must fill w with one frequency and draw all randomness from rng. A saved
// map of a Custom kernel contains the frequencies, because a file cannot contain the function.
type Custom struct {
	Name        string
	Dim         int
	Phase       bool
	Frequencies func(rng *rand.Rand, w []float64)
}

// New implements [Kernel]. Errors: *param.Error for invalid settings or a drawn frequency that is
// not finite.
func (c Custom) New(in int, seed uint64) (*Map, error) {
	var bad error
	if c.Frequencies == nil {
		bad = param.New("rff.Custom.Frequencies", nil, "a sampler")
	}
	m, err := build(c, spectrum{name: "Custom", dim: c.Dim, phase: c.Phase, draw: c.Frequencies},
		in, seed, bad)
	if err != nil {
		return nil, err
	}
	freq, _ := m.table()
	for _, f := range freq {
		if !finite(f) {
			return nil, param.New("rff.Custom.Frequencies", f, "finite float32 frequencies")
		}
	}
	return m, nil
}

func finite(f float32) bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

func normal(rng *rand.Rand, w []float64, scale float64) {
	for i := range w {
		w[i] = rng.NormFloat64() * scale
	}
}
