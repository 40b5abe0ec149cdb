//go:build !amd64 || purego

package mechanism

// fastest is the best set of kernels for this machine.
func fastest() *kernels { return portable() }

// available lists the sets of kernels that this machine can run, slowest first.
func available() []*kernels { return []*kernels{portable()} }
