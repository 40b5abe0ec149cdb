package rff

import (
	"sync"

	"github.com/seed7ba64551/privgen/device"
)

// rowPool keeps scratch matrices for later calls. It is safe for concurrent use.
type rowPool struct {
	mu   sync.Mutex
	free []pooled
}

type pooled struct {
	be device.Backend
	m  device.Matrix
}

// take returns a rows×cols matrix with arbitrary contents.
func (p *rowPool) take(be device.Backend, rows, cols int) device.Matrix {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, f := range p.free {
		if f.be == be && f.m.Cols == rows*cols {
			last := len(p.free) - 1
			p.free[i] = p.free[last]
			p.free = p.free[:last]
			return f.m.Reshape(rows, cols)
		}
	}
	return be.New(1, rows*cols).Reshape(rows, cols)
}

// give returns matrices to the pool. If the pool then has too many, it drops the oldest.
func (p *rowPool) give(be device.Backend, list ...device.Matrix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range list {
		p.free = append(p.free, pooled{be, m.Reshape(1, m.Rows*m.Cols)})
	}
	if n := len(p.free) - 4*maxScratch; n > 0 {
		p.free = append(p.free[:0], p.free[n:]...)
	}
}
