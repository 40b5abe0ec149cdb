package rff

import (
	"sync"

	"github.com/seed7ba64551/privgen/device"
)

// A placement holds a map's tables in the memory of one device, and scratch rows for later calls.
type placement struct {
	be    device.Backend
	freq  device.Matrix
	phase device.Matrix

	mu   sync.Mutex
	free []device.Matrix

	packing           sync.Once
	forward, backward *device.Packed // freq and its transpose; nil if packing has no advantage
}

// packed returns the frequencies in the layout that is fastest for small matrix products: forward
// is for computing features, and backward for propagating derivatives. Both are made on first use.
func (p *placement) packed() (forward, backward *device.Packed) {
	p.packing.Do(func() {
		if be, ok := p.be.(device.Packer); ok {
			p.forward, p.backward = be.Pack(false, p.freq), be.Pack(true, p.freq)
		}
	})
	return p.forward, p.backward
}

const (
	maxPlacements = 4 // devices with tables; the oldest placement is dropped
	maxScratch    = 8 // scratch matrices kept for later calls
)

// place returns the map's tables in be's memory. The first call copies them to a device with
// separate memory. Other devices share the host's tables.
func (m *Map) place(be device.Backend) *placement {
	freq, phase := m.table()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.placed {
		if p.be == be {
			return p
		}
	}
	p := &placement{be: be, freq: hostMatrix(m.in, freq), phase: hostMatrix(1, phase)}
	if !isHost(be) {
		p.freq, p.phase = copyTo(be, m.in, freq), copyTo(be, 1, phase)
	}
	if len(m.placed) == maxPlacements {
		m.placed = m.placed[1:]
	}
	m.placed = append(m.placed, p)
	return p
}

func isHost(be device.Backend) bool { return be.New(1, 1).Mem == nil }

func hostMatrix(rows int, data []float32) device.Matrix {
	if len(data) == 0 {
		return device.Matrix{}
	}
	cols := len(data) / rows
	return device.Matrix{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

func copyTo(be device.Backend, rows int, data []float32) device.Matrix {
	if len(data) == 0 {
		return device.Matrix{}
	}
	dst := be.New(rows, len(data)/rows)
	be.Upload(dst, data)
	return dst
}

func (p *placement) take(be device.Backend, rows, cols int) device.Matrix {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		m := p.free[n-1]
		p.free = p.free[:n-1]
		return m
	}
	return be.New(rows, cols)
}

func (p *placement) give(m device.Matrix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < maxScratch {
		p.free = append(p.free, m)
	}
}
