//go:build !(amd64 || arm64) || purego

package device

// fastest returns the fastest set of kernels for this machine.
func fastest() *kernels { return generic() }

// available returns the sets of kernels that this machine can run, slowest first.
func available() []*kernels { return []*kernels{generic()} }
