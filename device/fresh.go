package device

// A Refresher is a backend with scratch memory that still holds, after a call, what the call worked
// on.
type Refresher interface {
	// Fresh returns a backend of the same kind, speed and results that has worked on nothing yet.
	// Matrices of either may be used with the other.
	Fresh() Backend
}

// Fresh returns a backend like b in whose scratch memory no private record is: for networks that
// are released after b has worked on records. A backend that is no [Refresher] is returned as it
// is.
func Fresh(b Backend) Backend {
	if r, ok := b.(Refresher); ok {
		return r.Fresh()
	}
	return b
}

// Fresh implements [Refresher]: packed operands stay in the pools of the backend that packed them.
func (c *cpu) Fresh() Backend { return newCPU(c.workers, c.kernels) }
