//go:build !amd64 || purego

package sampler

// Fastest returns the best set of kernels for this machine.
func Fastest() *Kernels { return portable() }

// Available lists the sets of kernels that this machine can run, slowest first.
func Available() []*Kernels { return []*Kernels{portable()} }
