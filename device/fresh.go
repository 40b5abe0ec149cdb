package device

import "runtime"

// Fresh returns a backend like b whose scratch memory holds no private records. Released networks
// use such a backend if b has processed records. A backend whose scratch memory may hold operands
// after a call has a method Fresh() Backend, which returns a backend of the same kind with the same
// speed and results, whose scratch memory is unused. Without this method, Fresh returns b itself.
func Fresh(b Backend) Backend {
	if r, ok := b.(interface{ Fresh() Backend }); ok {
		return r.Fresh()
	}
	return b
}

// Fresh returns a backend that shares nothing. Packed operands remain in the pools of the backend
// that packed them. A team leads to the operands of its current job, so the fresh backend has its
// own team.
func (c *cpu) Fresh() Backend { return newApart(c.workers, c.kernels) }

// newApart returns a backend that does not share its team.
func newApart(workers int, k *kernels) *cpu {
	c := &cpu{kernels: k, workers: workers, team: newTeam(workers)}
	runtime.AddCleanup(c, (*team).close, c.team)
	return c
}
