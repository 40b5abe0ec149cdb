package device

// A Refresher is a backend whose scratch memory may hold operands after a call.
type Refresher interface {
	// Fresh returns a backend of the same kind, speed and results with unused scratch memory.
	// Matrices of either may be used with the other.
	Fresh() Backend
}

// Fresh returns a backend like b whose scratch memory holds no private records, for networks
// that are released after b has worked on records. A backend that is not a [Refresher] is
// returned unchanged.
func Fresh(b Backend) Backend {
	if r, ok := b.(Refresher); ok {
		return r.Fresh()
	}
	return b
}

// Fresh implements [Refresher]: packed operands stay in the pools of the backend that packed them.
func (c *cpu) Fresh() Backend { return newCPU(c.workers, c.kernels) }
