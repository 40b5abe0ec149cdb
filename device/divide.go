package device

// A Divider is a backend whose cores can serve several callers side by side.
type Divider interface {
	// Divide returns at most n backends of the same results, which share the cores among them. Each
	// has scratch memory of its own. Matrices of one may be used with any other.
	Divide(n int) []Backend
}

// Divide returns at most n backends like b for as many callers that work at the same time, each
// with its share of b's cores; b alone, if it is not a [Divider].
//
// Small matrices keep one core busy and no more, so that callers side by side, each on a core,
// finish earlier than one after another, each on all cores.
func Divide(b Backend, n int) []Backend {
	if d, ok := b.(Divider); ok && n > 1 {
		return d.Divide(n)
	}
	return []Backend{b}
}

// Divide implements [Divider].
func (c *cpu) Divide(n int) []Backend {
	n = max(min(n, c.workers), 1)
	list := make([]Backend, n)
	for i := range list {
		list[i] = newCPU((i+1)*c.workers/n-i*c.workers/n, c.kernels)
	}
	return list
}
