package device

// Divide returns at most n backends like b, for callers that work at the same time. The backends
// divide the cores of b among them. If b has no method Divide(n int) []Backend, Divide returns b
// alone. The backends that this method returns must give the same results, and have scratch memory
// of their own; matrices of one may be used with all the others.
//
// An operation on small matrices keeps only one core busy. So several callers with one core each,
// working at the same time, finish earlier than callers that use all cores one after another.
func Divide(b Backend, n int) []Backend {
	if d, ok := b.(interface{ Divide(n int) []Backend }); ok && n > 1 {
		return d.Divide(n)
	}
	return []Backend{b}
}

// Divide divides the cores among at most n backends.
func (c *cpu) Divide(n int) []Backend {
	n = max(min(n, c.workers), 1)
	list := make([]Backend, n)
	for i := range list { // the parts work at the same time, so each has its own team
		list[i] = newApart((i+1)*c.workers/n-i*c.workers/n, c.kernels)
	}
	return list
}
