// Package cuda is the backend of NVIDIA graphics processors.
//
// A binary has it if it is built with -tags cuda, cgo and a CUDA toolkit; in any other build Open
// returns device.ErrUnavailable, so that programs compile everywhere. The README beside this file
// says how to build.
//
// # Where matrices live
//
// Matrices that New returns lie in the device's memory from the upload of a batch to the summed
// gradient; what comes to the host is what the interface hands to the host: row norms, and
// Download. Host matrices are no operands here. All work is queued in one order, so that a result
// is what it would be if every call waited for its work.
//
// # Numbers
//
// Everything is float32 with float64 sums of squares, as package device has it; tensor cores are
// not used, because their 11 bits would make a clipped sum another than the one whose norms were
// measured. Element-wise functions are our own and give the same bits on every device. Sums are
// taken in a fixed order, products in that of cuBLAS: a device and library version repeat their own
// results, but they are not the CPU's to the bit.
//
// # Ends
//
// A binary with the tag needs a driver to start at all: the linker's loader ends it where libcuda
// is missing (status 127), and gorgonia.org/cu where there is no device (status 1). Errors that a
// running device reports, lack of memory included, are no mistakes of the caller and have no way
// back: they panic with an *Error.
package cuda

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
)

// Option is a choice about a device.
type Option func(*settings)

type settings struct{ ordinal int }

// Device chooses one of several devices by its number; the default is 0.
func Device(ordinal int) Option { return func(s *settings) { s.ordinal = ordinal } }

// Open makes a backend of a device.
//
// Errors: device.ErrUnavailable, wrapped, where the build has no CUDA or the machine no such
// device.
func Open(opts ...Option) (device.Backend, error) {
	var s settings
	for _, o := range opts {
		o(&s)
	}
	return open(s)
}

// Error is a failure that a device reported in the middle of its work.
type Error struct {
	Op  string // what was tried
	Err error  // what the driver said
}

// Error describes the failure.
func (e *Error) Error() string { return fmt.Sprintf("cuda: %s: %v", e.Op, e.Err) }

// Unwrap returns the driver's own error.
func (e *Error) Unwrap() error { return e.Err }
