package device

// A Divider is a backend whose cores can be divided among several callers.
type Divider interface {
	// Divide returns at most n backends that give the same results and divide the cores among them.
	// Each backend has its own scratch memory. Matrices of one backend may be used with all the
	// others.
	Divide(n int) []Backend
}

// Divide returns at most n backends like b, for callers that work at the same time. The backends
// divide the cores of b among them. If b is not a [Divider], Divide returns b alone.
//
// An operation on small matrices keeps only one core busy. So several callers with one core each,
// working at the same time, finish earlier than callers that use all cores one after another.
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
	for i := range list { // the parts work at the same time, so each has its own team
		list[i] = newApart((i+1)*c.workers/n-i*c.workers/n, c.kernels)
	}
	return list
}
