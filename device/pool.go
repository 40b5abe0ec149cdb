package device

import "sync"

// pool keeps values for reuse. Unlike sync.Pool, it never releases them. So the steady state of a
// training loop allocates nothing, even after the garbage collector has run. The number of values
// is at most the largest number of simultaneous callers.
type pool[T any] struct {
	mu   sync.Mutex
	free []*T
}

func (p *pool[T]) get() *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		v := p.free[n-1]
		p.free = p.free[:n-1]
		return v
	}
	return new(T)
}

func (p *pool[T]) put(v *T) {
	p.mu.Lock()
	p.free = append(p.free, v)
	p.mu.Unlock()
}
