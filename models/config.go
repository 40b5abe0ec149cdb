package models

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
)

// checker collects mistakes, so that a user sees all of them at once.
type checker struct{ param.Checker }

func (c *checker) positive(path string, n int) { c.OK(n > 0, path, n, "a positive integer") }

func (c *checker) nonNegative(path string, n int) {
	c.OK(n >= 0, path, n, "a non-negative integer")
}

func (c *checker) widths(path string, widths []int) {
	for i, n := range widths {
		c.positive(fmt.Sprintf("%s[%d]", path, i), n)
	}
}

func (c *checker) finite(path string, x float64) {
	c.OK(!math.IsNaN(x) && math.Abs(x) <= math.MaxFloat32, path, x, "a finite number")
}

// Likelihood is the distribution of a record given the mean a generator states.
type Likelihood int

const (
	// Bernoulli coordinates are independently 1 with the stated probability;
	// records may also hold grey values in [0,1] (the continuous relaxation
	// usual for images).
	Bernoulli Likelihood = iota
	// GaussianUnit coordinates are Gaussian with variance 1 around the mean.
	GaussianUnit
)

var likelihoodNames = [...]string{Bernoulli: "bernoulli", GaussianUnit: "gaussian"}

func (l Likelihood) known() bool { return l >= 0 && int(l) < len(likelihoodNames) }

func (l Likelihood) String() string { return nameOf(likelihoodNames[:], int(l), "Likelihood") }

// MarshalText writes the name.
func (l Likelihood) MarshalText() ([]byte, error) {
	return textOf(likelihoodNames[:], int(l), "likelihood")
}

// UnmarshalText reads a name that MarshalText wrote.
func (l *Likelihood) UnmarshalText(text []byte) error {
	i, err := indexOf(likelihoodNames[:], string(text), "likelihood")
	*l = Likelihood(i)
	return err
}

// output is the function that turns the last layer's sum into the mean. For both
// likelihoods the derivative of the loss by that sum is then mean − record.
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

var activationNames = [...]string{ReLU: "relu", LeakyReLU: "leaky-relu", Tanh: "tanh", Sigmoid: "sigmoid", Softplus: "softplus"}

func (a Activation) known() bool { return a >= 0 && int(a) < len(activationNames) }

func (a Activation) String() string { return nameOf(activationNames[:], int(a), "Activation") }

// MarshalText writes the name.
func (a Activation) MarshalText() ([]byte, error) {
	return textOf(activationNames[:], int(a), "activation")
}

// UnmarshalText reads a name that MarshalText wrote.
func (a *Activation) UnmarshalText(text []byte) error {
	i, err := indexOf(activationNames[:], string(text), "activation")
	*a = Activation(i)
	return err
}

func (a Activation) fn() device.Func {
	switch a {
	case LeakyReLU:
		return device.LeakyReLU
	case Tanh:
		return device.Tanh
	case Sigmoid:
		return device.Sigmoid
	case Softplus:
		return device.Softplus
	}
	return device.ReLU
}

// gain is the factor of the initial weights' variance times fan-in that keeps the
// scale of activations (He et al. 2015 for rectifiers; 1 otherwise).
func (a Activation) gain() float64 {
	if a == ReLU || a == LeakyReLU {
		return 2
	}
	return 1
}

func nameOf(names []string, i int, kind string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, i)
	}
	return names[i]
}

func textOf(names []string, i int, kind string) ([]byte, error) {
	if i < 0 || i >= len(names) {
		return nil, fmt.Errorf("models: unknown %s %d", kind, i)
	}
	return []byte(names[i]), nil
}

func indexOf(names []string, name, kind string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("models: unknown %s %q", kind, name)
}
