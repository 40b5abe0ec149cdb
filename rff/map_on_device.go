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

	packing   sync.Mutex
	stretches map[Stretch]packedStretch
}

// packedStretch holds the frequencies of a stretch in the layout that is fastest for small matrix
// products: forward is for computing features, and backward for propagating derivatives. Both are
// nil if packing has no advantage.
type packedStretch struct{ forward, backward *device.Packed }

// packed returns the frequencies of a stretch, which are packed on first use.
func (p *placement) packed(s Stretch) packedStretch {
	p.packing.Lock()
	defer p.packing.Unlock()
	t, ok := p.stretches[s]
	if !ok {
		if be, packs := p.be.(device.Packer); packs {
			t = packedStretch{be.Pack(false, p.columns(s)), be.Pack(true, p.columns(s))}
		}
		if p.stretches == nil {
			p.stretches = map[Stretch]packedStretch{}
		}
		p.stretches[s] = t
	}
	return t
}

// columns returns the frequencies of a stretch.
func (p *placement) columns(s Stretch) device.Matrix {
	return p.freq.Slice(0, p.freq.Rows, s.lo, s.hi)
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
	if be.New(1, 1).Mem != nil { // the device has memory of its own
		p.freq, p.phase = copyTo(be, m.in, freq), copyTo(be, 1, phase)
	}
	if len(m.placed) == maxPlacements {
		m.placed = m.placed[1:]
	}
	m.placed = append(m.placed, p)
	return p
}

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
