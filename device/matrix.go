package device

import "fmt"

// Matrix is a row-major view of float32 numbers. Element (i, j) is number i·Stride + j.
//
// Data holds the numbers if they are in host memory. If they are in the memory of another device,
// Data is nil and Mem is their position there. Copying a Matrix copies the view, not the numbers.
// The zero Matrix is empty; as an optional operand, it means that the operand is absent.
type Matrix struct {
	Rows, Cols, Stride int
	Data               []float32
	Mem                Memory
}

// Memory is a position in the memory of a device other than the host.
type Memory interface {
	// Offset returns the position that is the given number of elements further on.
	Offset(elements int) Memory
}

// HostMatrix returns data, which is in host memory, as a dense rows×cols matrix. It panics if data
// is too short.
func HostMatrix(rows, cols int, data []float32) Matrix {
	if rows < 0 || cols < 0 || len(data) < rows*cols {
		panic(fmt.Sprintf("device: %d numbers cannot hold a %d×%d matrix", len(data), rows, cols))
	}
	return Matrix{Rows: rows, Cols: cols, Stride: cols, Data: data[:rows*cols]}
}

// Empty reports whether m has no elements.
func (m Matrix) Empty() bool { return m.Rows == 0 || m.Cols == 0 }

// Row returns row i of a host matrix, which shares the numbers of m. It panics if m has no row i.
func (m Matrix) Row(i int) []float32 {
	if uint(i) >= uint(m.Rows) {
		panic(fmt.Sprintf("device: row %d of a matrix with %d rows", i, m.Rows))
	}
	if m.Cols == 0 {
		return nil
	}
	lo := i * m.Stride
	return m.Data[lo : lo+m.Cols : lo+m.Cols]
}

// Slice returns a view of rows r0 to r1−1 and columns c0 to c1−1. It panics if m does not have
// them.
func (m Matrix) Slice(r0, r1, c0, c1 int) Matrix {
	if r0 < 0 || r1 < r0 || r1 > m.Rows || c0 < 0 || c1 < c0 || c1 > m.Cols {
		panic(fmt.Sprintf("device: slice [%d:%d, %d:%d] of a %d×%d matrix", r0, r1, c0, c1,
			m.Rows, m.Cols))
	}
	out := Matrix{Rows: r1 - r0, Cols: c1 - c0, Stride: m.Stride}
	if out.Empty() {
		return out
	}
	lo := r0*m.Stride + c0
	if m.Mem != nil {
		out.Mem = m.Mem.Offset(lo)
		return out
	}
	hi := (r1-1)*m.Stride + c1
	out.Data = m.Data[lo:hi:hi]
	return out
}

// RowRange returns a view of rows r0 to r1−1. It panics if m does not have them.
func (m Matrix) RowRange(r0, r1 int) Matrix { return m.Slice(r0, r1, 0, m.Cols) }

// Reshape returns a view of the numbers of m, in the same order, as a rows×cols matrix. It panics
// if m has gaps between rows or a different number of elements.
func (m Matrix) Reshape(rows, cols int) Matrix {
	if rows < 0 || cols < 0 || rows*cols != m.Rows*m.Cols || !m.contiguous() {
		panic(fmt.Sprintf("device: cannot reshape a %d×%d matrix of stride %d to %d×%d", m.Rows, m.Cols, m.Stride,
			rows, cols))
	}
	m.Rows, m.Cols, m.Stride = rows, cols, cols
	return m
}

// contiguous reports whether there are no gaps between rows.
func (m Matrix) contiguous() bool { return m.Stride == m.Cols || m.Rows <= 1 }

// check panics unless m is a well-formed host matrix.
func (m Matrix) check(what string) {
	if m.Rows < 0 || m.Cols < 0 {
		panic(fmt.Sprintf("device: %s: negative shape %d×%d", what, m.Rows, m.Cols))
	}
	if m.Empty() {
		return
	}
	if m.Mem != nil {
		panic("device: " + what + ": the matrix is in the memory of another device, want host memory")
	}
	if m.Rows > 1 && m.Stride < m.Cols {
		panic(fmt.Sprintf("device: %s: stride %d is less than %d columns", what, m.Stride, m.Cols))
	}
	if need := (m.Rows-1)*m.Stride + m.Cols; len(m.Data) < need {
		panic(fmt.Sprintf("device: %s: %d numbers for a %d×%d matrix of stride %d", what, len(m.Data),
			m.Rows, m.Cols, m.Stride))
	}
}

// checkShape panics unless m is a well-formed rows×cols host matrix.
func (m Matrix) checkShape(what string, rows, cols int) {
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("device: %s: %d×%d, want %d×%d", what, m.Rows, m.Cols, rows, cols))
	}
	m.check(what)
}

// checkTurned is checkShape for a matrix that may be given as its transpose.
func (m Matrix) checkTurned(what string, turned bool, rows, cols int) {
	if turned {
		rows, cols = cols, rows
	}
	m.checkShape(what, rows, cols)
}
