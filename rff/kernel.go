package rff

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Kernel describes a shift-invariant kernel and the size of its feature map.
//
// New draws a map for records of the given width. The same kernel, width and
// seed give the same map. Errors: *param.Error, joined.
type Kernel interface {
	New(in int, seed uint64) (*Map, error)
}

const (
	// maxFrequencies is the largest product of record width and number of frequencies. A small file
	// can therefore not request more than 2 GiB of frequencies.
	maxFrequencies = 1 << 29
	// With bandwidths outside this range, frequencies would be infinite or zero as float32 for every
	// kernel.
	minBandwidth, maxBandwidth = 1e-18, 1e18
)

// spectrum describes how to draw the frequencies of a kernel's map.
type spectrum struct {
	name  string // of the kernel's type, for errors and files
	dim   int
	phase bool
	// draw fills w with one frequency.
	draw func(rng *rand.Rand, w []float64)
	// length, if not nil, returns a factor for frequency j of n, by which it is multiplied.
	length func(j, n int) float64
}

// frequencies returns the number of frequencies that dim features need.
func (s spectrum) frequencies() int {
	if s.phase {
		return s.dim
	}
	return s.dim / 2
}

func (s spectrum) validate(in int) error {
	var errs []error
	switch {
	case s.dim < 1:
		errs = append(errs, param.New(s.path("Dim"), s.dim, "a positive integer"))
	case !s.phase && s.dim%2 != 0:
		errs = append(errs,
			param.New(s.path("Dim"), s.dim,
				"an even integer, because features are pairs of cosine and sine"))
	case s.dim > maxFrequencies:
		errs = append(errs, param.New(s.path("Dim"), s.dim, fmt.Sprintf("at most %d", maxFrequencies)))
	}
	if in < 1 || in > maxFrequencies {
		errs = append(errs,
			param.New(s.path("New.in"), in, fmt.Sprintf("a record width in [1, %d]", maxFrequencies)))
	}
	if len(errs) == 0 && in > maxFrequencies/s.frequencies() {
		errs = append(errs,
			param.New(s.path("Dim"), s.dim, fmt.Sprintf("width × frequencies at most %d", maxFrequencies)))
	}
	return errors.Join(errs...)
}

func (s spectrum) path(field string) string { return "rff." + s.name + "." + field }

func checkBandwidth(name string, b float64) error {
	if !(b >= minBandwidth && b <= maxBandwidth) {
		return param.New("rff."+name, b, fmt.Sprintf("a number in [%g, %g]", minBandwidth, maxBandwidth))
	}
	return nil
}

// lengthOf returns the factor for frequency j.
func (s spectrum) lengthOf(j int) float64 {
	if s.length == nil {
		return 1
	}
	return s.length(j, s.frequencies())
}

// build validates the spectrum and the record width and returns a map, which draws its frequencies
// when it is first used.
func build(k Kernel, s spectrum, in int, seed uint64, more ...error) (*Map, error) {
	if err := errors.Join(append([]error{s.validate(in)}, more...)...); err != nil {
		return nil, err
	}
	return &Map{kernel: k, spectrum: s, in: in, seed: seed}, nil
}
