package rff

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/param"
)

// RBF is the Gaussian kernel exp(−‖x−y‖²/(2ℓ²)). Its frequencies are normal with variance 1/ℓ² in
// every coordinate.
//
// Source: Rahimi and Recht 2007; orthogonal frequencies: Yu et al. 2016.
type RBF struct {
	Dim       int     `json:"dim"`       // number of features; even unless Phase
	Bandwidth float64 `json:"bandwidth"` // ℓ, in the units of a record's coordinates

	// Phase selects the features √(2/d)·cos(⟨w,x⟩+b) with random phases b, the map of Acs et al. The
	// norm of the features varies between records and can reach √2.
	Phase bool `json:"phase,omitempty"`
	// Orthogonal makes the directions of frequencies orthogonal within blocks whose size is the record
	// width. The estimate of the kernel stays unbiased and has less variance.
	Orthogonal bool `json:"orthogonal,omitempty"`
}

// New implements [Kernel].
func (c RBF) New(in int, seed uint64) (*Map, error) {
	draw := func(rng *rand.Rand, w []float64) { normal(rng, w, 1/c.Bandwidth) }
	s := spectrum{name: "RBF", dim: c.Dim, phase: c.Phase, orthogonal: c.Orthogonal, draw: draw}
	return build(c, s, in, seed, checkBandwidth("RBF.Bandwidth", c.Bandwidth))
}

// Laplacian is the kernel exp(−‖x−y‖₁/ℓ). The coordinates of its frequencies are independent Cauchy
// variables of scale 1/ℓ.
type Laplacian struct {
	Dim       int     `json:"dim"`
	Bandwidth float64 `json:"bandwidth"` // ℓ
	Phase     bool    `json:"phase,omitempty"`
}

// New implements [Kernel].
func (c Laplacian) New(in int, seed uint64) (*Map, error) {
	draw := func(rng *rand.Rand, w []float64) {
		for i := range w {
			w[i] = math.Tan(math.Pi*(rng.Float64()-0.5)) / c.Bandwidth
		}
	}
	s := spectrum{name: "Laplacian", dim: c.Dim, phase: c.Phase, draw: draw}
	return build(c, s, in, seed, checkBandwidth("Laplacian.Bandwidth", c.Bandwidth))
}

// Cauchy is the product kernel Π 1/(1+(xᵢ−yᵢ)²/ℓ²). The coordinates of its frequencies are
// independent Laplace variables of scale 1/ℓ.
type Cauchy struct {
	Dim       int     `json:"dim"`
	Bandwidth float64 `json:"bandwidth"` // ℓ
	Phase     bool    `json:"phase,omitempty"`
}

// New implements [Kernel].
func (c Cauchy) New(in int, seed uint64) (*Map, error) {
	draw := func(rng *rand.Rand, w []float64) {
		for i := range w {
			w[i] = (rng.ExpFloat64() - rng.ExpFloat64()) / c.Bandwidth
		}
	}
	s := spectrum{name: "Cauchy", dim: c.Dim, phase: c.Phase, draw: draw}
	return build(c, s, in, seed, checkBandwidth("Cauchy.Bandwidth", c.Bandwidth))
}

// Matern is the Matérn kernel of smoothness ν and length scale ℓ. It is exp(−‖x−y‖/ℓ) at ν = 1/2
// and approaches the RBF kernel as ν grows. Its frequencies have a multivariate t distribution with
// 2ν degrees of freedom and scale 1/ℓ.
//
// Source: Rasmussen and Williams 2006, equation 4.15 (spectral density).
type Matern struct {
	Dim        int     `json:"dim"`
	Smoothness float64 `json:"smoothness"` // ν, in [0.05, 1000]
	Bandwidth  float64 `json:"bandwidth"`  // ℓ
	Phase      bool    `json:"phase,omitempty"`
	Orthogonal bool    `json:"orthogonal,omitempty"`
}

// New implements [Kernel].
func (c Matern) New(in int, seed uint64) (*Map, error) {
	draw := func(rng *rand.Rand, w []float64) {
		// t = normal/√(χ²/(2ν)), and χ² with 2ν degrees of freedom is 2·Gamma(ν).
		normal(rng, w, math.Sqrt(c.Smoothness/gamma(rng, c.Smoothness))/c.Bandwidth)
	}
	var bad error
	if !(c.Smoothness >= 0.05 && c.Smoothness <= 1000) {
		bad = param.New("rff.Matern.Smoothness", c.Smoothness, "a number in [0.05, 1000]")
	}
	s := spectrum{name: "Matern", dim: c.Dim, phase: c.Phase, orthogonal: c.Orthogonal, draw: draw}
	return build(c, s, in, seed, checkBandwidth("Matern.Bandwidth", c.Bandwidth), bad)
}

// Custom is a user-defined shift-invariant kernel, given by a sampler of its spectral distribution.
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

// gamma draws from Gamma(shape, 1) by the method of Marsaglia and Tsang. For a shape below 1 it
// draws with shape+1 and multiplies by U^(1/shape) for a uniform U.
func gamma(rng *rand.Rand, shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = math.Pow(positive(rng), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(positive(rng)) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return max(d*v*boost, math.SmallestNonzeroFloat32)
		}
	}
}

// positive returns a uniform number in (0, 1].
func positive(rng *rand.Rand) float64 { return 1 - rng.Float64() }
