// Package cuda is the backend for NVIDIA graphics processors.
//
// The backend is available in binaries that are built with -tags cuda, cgo and a CUDA toolkit. In
// all other builds Open returns device.ErrUnavailable, so programs compile everywhere. The README
// in this folder explains how to build.
//
// # Memory
//
// Matrices that New returns are in the memory of the device. Only two kinds of results are copied
// to the host: norms and dot products of rows, and the numbers that Download returns. Methods panic
// if an operand is a host matrix. All work is queued in one order, so results are the same as if
// every call waited for its work to finish.
//
// # Numbers
//
// Numbers are float32 and sums of squares float64, as in package device. Every operation of every
// kernel rounds as in IEEE arithmetic, and every sum has a fixed order. Products and sums in whole
// units (see device.FixedSummer) have the bits of the CPU, and element-wise functions are
// implemented in this package. So all devices give the same bits, and the result for a record does
// not depend on other records. The noise class is exact.
//
// Neither cuBLAS nor tensor cores are used. cuBLAS chooses its order of summation by the number of
// rows, so the bits of one record would depend on how many others there are. Tensor cores round
// operands to 11 bits, so the rows in a clipped sum would differ from the rows whose norms were
// measured.
//
// # Failures
//
// A binary that is built with the tag does not start without a driver and a device. Without
// libcuda, the dynamic loader ends the process with status 127; without a device, gorgonia.org/cu
// ends it with status 1. If a device reports an error during its work, such as lack of memory, the
// method panics with an *Error, because the methods of device.Backend return no errors.
package cuda

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
)

// Option is an option of Open.
type Option func(*settings)

type settings struct{ ordinal int }

// Device selects a device by its number, counted from 0. The default is 0.
func Device(ordinal int) Option { return func(s *settings) { s.ordinal = ordinal } }

// Open returns a backend for a device.
//
// Errors: device.ErrUnavailable, wrapped, if the build does not include CUDA or the machine does
// not have the device; *Error if the device fails while it is prepared.
func Open(opts ...Option) (device.Backend, error) {
	var s settings
	for _, o := range opts {
		o(&s)
	}
	return open(s)
}

// Error is a failure that a device reported during its work.
type Error struct {
	Op  string // the operation that failed
	Err error  // the error that the driver returned
}

// Error describes the failure.
func (e *Error) Error() string { return fmt.Sprintf("cuda: %s: %v", e.Op, e.Err) }

// Unwrap returns the error of the driver.
//
// Errors: Err, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }
