package device

import "runtime"

// A Refresher is a backend whose scratch memory may hold operands after a call.
type Refresher interface {
	// Fresh returns a backend of the same kind, with the same speed and results, whose scratch memory
	// is unused. Matrices of either may be used with the other.
	Fresh() Backend
}

// Fresh returns a backend like b whose scratch memory holds no private records. Released networks
// use such a backend if b has processed records. If b is not a [Refresher], Fresh returns b itself.
func Fresh(b Backend) Backend {
	if r, ok := b.(Refresher); ok {
		return r.Fresh()
	}
	return b
}

// Fresh implements [Refresher]. Packed operands remain in the pools of the backend that packed
// them. A team leads to the operands of its current job, so the fresh backend has its own team.
func (c *cpu) Fresh() Backend { return newApart(c.workers, c.kernels) }

// newApart returns a backend that does not share its team.
func newApart(workers int, k *kernels) *cpu {
	c := &cpu{kernels: k, workers: workers, team: newTeam(workers)}
	runtime.AddCleanup(c, (*team).close, c.team)
	return c
}
