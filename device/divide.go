package device

// A Divider is a backend whose cores can be divided among several callers.
type Divider interface {
	// Divide returns at most n backends that give the same results and divide the cores among them.
	// Each has its own scratch memory. Matrices of one of them may be used with any other.
	Divide(n int) []Backend
}

// Divide returns at most n backends like b, each with its share of the cores of b, for as many
// callers that work at the same time. If b is not a [Divider], it returns b alone.
//
// An operation on small matrices keeps only one core busy. So several callers finish earlier if
// they work at the same time, each on one core, than if they work one after another, each on all
// cores.
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
