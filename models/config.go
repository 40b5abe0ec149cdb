package models

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// checker collects mistakes, so all of them are reported together.
type checker struct{ param.Checker }

func (c *checker) positive(path string, n int) { c.OK(n > 0, path, n, "a positive integer") }

func (c *checker) nonNegative(path string, n int) {
	c.OK(n >= 0, path, n, "a non-negative integer")
}

// mostLayers bounds what a file of an architecture can make a reader build.
const mostLayers = 256

func (c *checker) widths(path string, widths []int) {
	c.OK(len(widths) <= mostLayers, path, len(widths), "at most 256 layers")
	for i, n := range widths[:min(len(widths), mostLayers)] {
		c.positive(fmt.Sprintf("%s[%d]", path, i), n)
	}
}

func (c *checker) finite(path string, x float64) {
	c.OK(!math.IsNaN(x) && math.Abs(x) <= math.MaxFloat32, path, x, "a finite number")
}

// Likelihood is the distribution of a record given the mean that a network computes.
type Likelihood int

const (
	// Bernoulli coordinates are independently 1, with the mean as the probability. Records may also
	// hold grey values in [0,1], the usual continuous relaxation for images.
	Bernoulli Likelihood = iota
	// GaussianUnit coordinates are independent Gaussians with variance 1 around the mean.
	GaussianUnit
)

var likelihoodNames = param.Names[Likelihood]{Type: "models.Likelihood", List: []string{
	Bernoulli: "bernoulli", GaussianUnit: "gaussian",
}}

func (l Likelihood) known() bool { return likelihoodNames.Known(l) }

// String returns the name.
func (l Likelihood) String() string { return likelihoodNames.String(l) }

// MarshalText writes the name.
//
// Errors: *[param.Error] for a value other than the constants.
func (l Likelihood) MarshalText() ([]byte, error) { return likelihoodNames.Marshal(l) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (l *Likelihood) UnmarshalText(text []byte) error { return likelihoodNames.Unmarshal(text, l) }

// output returns the function that turns the last layer's sum into the mean. For both likelihoods
// the derivative of the loss with respect to this sum is then mean − record.
func (l Likelihood) output() device.Func {
	if l == GaussianUnit {
		return device.Identity
	}
	return device.Sigmoid
}

// Activation is the non-linearity of hidden layers.
type Activation int

// The activations. The zero value is the papers' rectifier.
const (
	ReLU Activation = iota
	LeakyReLU
	Tanh
	Sigmoid
	Softplus
)

var activationNames = param.Names[Activation]{Type: "models.Activation", List: []string{
	ReLU: "relu", LeakyReLU: "leaky-relu", Tanh: "tanh", Sigmoid: "sigmoid", Softplus: "softplus",
}}

func (a Activation) known() bool { return activationNames.Known(a) }

// String returns the name.
func (a Activation) String() string { return activationNames.String(a) }

// MarshalText writes the name.
//
// Errors: *[param.Error] for a value other than the constants.
func (a Activation) MarshalText() ([]byte, error) { return activationNames.Marshal(a) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (a *Activation) UnmarshalText(text []byte) error { return activationNames.Unmarshal(text, a) }

func (a Activation) fn() device.Func {
	return map[Activation]device.Func{ReLU: device.ReLU, LeakyReLU: device.LeakyReLU,
		Tanh: device.Tanh, Sigmoid: device.Sigmoid, Softplus: device.Softplus}[a]
}

// gain is the variance of the initial weights times the fan-in. This value keeps the scale of
// activations from layer to layer: 2 for rectifiers (He et al. 2015), otherwise 1.
func (a Activation) gain() float64 {
	if a == ReLU || a == LeakyReLU {
		return 2
	}
	return 1
}
