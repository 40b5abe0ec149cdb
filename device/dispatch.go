package device

// fastest is the best set of kernels for this machine.
func fastest() *kernels { return generic() }
