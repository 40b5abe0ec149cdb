package rff

import (
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

func (s spectrum) validate(k *param.Checker, in int) {
	k.OK(s.dim >= 1 && s.dim <= maxFrequencies, s.path("Dim"), s.dim,
		fmt.Sprintf("an integer in [1, %d]", maxFrequencies))
	k.OK(s.phase || s.dim%2 == 0, s.path("Dim"), s.dim,
		"an even integer, because features are pairs of cosine and sine")
	k.OK(in >= 1 && in <= maxFrequencies, s.path("New.in"), in,
		fmt.Sprintf("a record width in [1, %d]", maxFrequencies))
	k.OK(in <= maxFrequencies/max(s.frequencies(), 1), s.path("Dim"), s.dim,
		fmt.Sprintf("width × frequencies at most %d", maxFrequencies))
}

func (s spectrum) path(field string) string { return "rff." + s.name + "." + field }

func checkBandwidth(k *param.Checker, name string, b float64) {
	k.OK(b >= minBandwidth && b <= maxBandwidth, "rff."+name, b,
		fmt.Sprintf("a number in [%g, %g]", minBandwidth, maxBandwidth))
}

// lengthOf returns the factor for frequency j.
func (s spectrum) lengthOf(j int) float64 {
	if s.length == nil {
		return 1
	}
	return s.length(j, s.frequencies())
}

// build validates the spectrum and the record width, in addition to what k holds, and returns a
// map, which draws its frequencies when it is first used.
func build(k *param.Checker, of Kernel, s spectrum, in int, seed uint64) (*Map, error) {
	if s.validate(k, in); k.Err() != nil {
		return nil, k.Err()
	}
	return &Map{kernel: of, spectrum: s, in: in, seed: seed}, nil
}
