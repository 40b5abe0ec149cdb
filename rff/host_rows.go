package rff

import (
	"sync"

	"github.com/seed7ba64551/privgen/device"
)

// hostCopy returns m if it is in host memory, and otherwise a copy in host memory.
func hostCopy(be device.Backend, m device.Matrix) device.Matrix {
	if m.Mem == nil {
		return m
	}
	out := device.HostMatrix(m.Rows, m.Cols, make([]float32, m.Rows*m.Cols))
	be.Download(out.Data, m)
	return out
}

// hostRows returns a batch's records as a dense matrix on the host.
func hostRows(be device.Backend, b device.Batch) device.Matrix {
	if b.Sparse == nil {
		return hostCopy(be, b.Dense)
	}
	out := device.HostMatrix(b.Rows, b.Sparse.Cols, make([]float32, b.Rows*b.Sparse.Cols))
	for i := range b.Rows {
		row := out.Row(i)
		for _, item := range b.Sparse.Row(i) {
			row[item]++
		}
	}
	return out
}

// hostDst returns the host matrix to which the caller writes the values of m. If m is in device
// memory, toDevice must copy the matrix to m afterwards. Otherwise the matrix is m itself.
func hostDst(_ device.Backend, m device.Matrix) device.Matrix {
	if m.Mem == nil {
		return m
	}
	return device.HostMatrix(m.Rows, m.Cols, make([]float32, m.Rows*m.Cols))
}

func toDevice(be device.Backend, m, host device.Matrix) {
	if m.Mem != nil {
		be.Upload(m, host.Data)
	}
}

// parallel calls f for consecutive parts of the rows, concurrently if there is enough work. Each
// row must be computed independently of the others, so results do not depend on the division.
func parallel(be device.Backend, rows, work int, f func(lo, hi int)) {
	parts := min(be.Workers(), rows, 1+rows*work/(1<<16))
	if parts <= 1 {
		f(0, rows)
		return
	}
	var wg sync.WaitGroup
	for k := range parts {
		wg.Go(func() { f(rows*k/parts, rows*(k+1)/parts) })
	}
	wg.Wait()
}
