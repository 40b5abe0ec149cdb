//go:build cuda && cgo

package cuda

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"gorgonia.org/cu"
)

// want panics unless m is a well-formed matrix of this device.
func (g *gpu) want(what string, m device.Matrix) {
	if m.Rows < 0 || m.Cols < 0 {
		panic(fmt.Sprintf("cuda: %s: negative shape %d×%d", what, m.Rows, m.Cols))
	}
	if m.Empty() {
		return
	}
	mem, ok := m.Mem.(memory)
	if !ok || mem.pool != g.pool {
		panic("cuda: " + what + ": the matrix is not in the memory of this device")
	}
	if m.Rows > 1 && m.Stride < m.Cols {
		panic(fmt.Sprintf("cuda: %s: stride %d is less than %d columns", what, m.Stride, m.Cols))
	}
	if need := mem.offset + (m.Rows-1)*m.Stride + m.Cols; mem.offset < 0 || need > mem.len {
		panic(fmt.Sprintf("cuda: %s: %d numbers for a %d×%d matrix of stride %d", what,
			mem.len-mem.offset, m.Rows,
			m.Cols, m.Stride))
	}
}

// wantShape panics unless m is a well-formed rows×cols matrix of this device.
func (g *gpu) wantShape(what string, m device.Matrix, rows, cols int) {
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("cuda: %s: %d×%d, want %d×%d", what, m.Rows, m.Cols, rows, cols))
	}
	g.want(what, m)
}

// wantLike panics unless all matrices are well-formed matrices of this device with the shape of the
// first one.
func (g *gpu) wantLike(what string, first device.Matrix, others ...device.Matrix) {
	g.want(what, first)
	for _, m := range others {
		g.wantShape(what, m, first.Rows, first.Cols)
	}
}

// address returns the address of the first number of a matrix that is not empty.
func address(m device.Matrix) cu.DevicePtr {
	mem := m.Mem.(memory)
	return mem.at + cu.DevicePtr(4*mem.offset)
}

func contiguous(m device.Matrix) bool { return m.Stride == m.Cols || m.Rows <= 1 }

// flat turns matrices of one shape into single rows if none of them has gaps between rows. Kernels
// then do not have to find the ends of rows.
func flat(all ...*device.Matrix) {
	for _, m := range all {
		if !contiguous(*m) {
			return
		}
	}
	for _, m := range all {
		m.Rows, m.Cols, m.Stride = 1, m.Rows*m.Cols, m.Rows*m.Cols
	}
}

// int32s panics if a dimension exceeds 31 bits, the range of dimensions of products.
func int32s(what string, sizes ...int) {
	for _, n := range sizes {
		if n > math.MaxInt32 {
			panic(fmt.Sprintf("cuda: %s: dimension %d, want at most %d", what, n, math.MaxInt32))
		}
	}
}
