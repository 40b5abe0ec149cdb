package device

import "fmt"

// Matrix is a row-major view of float32 numbers: element (i, j) is number i·Stride + j.
//
// Data holds the numbers when they live on the host; Mem stands for them, opaquely, when they live
// on another device, and Data is then nil. Copying a Matrix copies the view, not the numbers. The
// zero Matrix is empty and stands for "none" where an operand is optional.
type Matrix struct {
	Rows, Cols, Stride int
	Data               []float32
	Mem                Memory
}

// Memory is a place on a device that is not the host.
type Memory interface {
	// Offset returns the place that many elements further on.
	Offset(elements int) Memory
}

// HostMatrix views data as a dense rows×cols matrix. It panics if data is too short.
func HostMatrix(rows, cols int, data []float32) Matrix {
	if rows < 0 || cols < 0 || len(data) < rows*cols {
		panic(fmt.Sprintf("device: %d numbers cannot hold a %d×%d matrix", len(data), rows, cols))
	}
	return Matrix{Rows: rows, Cols: cols, Stride: cols, Data: data[:rows*cols]}
}

// Empty reports whether m has no elements.
func (m Matrix) Empty() bool { return m.Rows == 0 || m.Cols == 0 }

// Row is row i of a host matrix. It shares m's numbers.
func (m Matrix) Row(i int) []float32 {
	if uint(i) >= uint(m.Rows) {
		panic(fmt.Sprintf("device: row %d of %d", i, m.Rows))
	}
	if m.Cols == 0 {
		return nil
	}
	lo := i * m.Stride
	return m.Data[lo : lo+m.Cols : lo+m.Cols]
}

// Slice returns the view of rows r0 to r1−1 and columns c0 to c1−1.
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

// RowRange returns the view of rows r0 to r1−1.
func (m Matrix) RowRange(r0, r1 int) Matrix { return m.Slice(r0, r1, 0, m.Cols) }

// Reshape returns the view of m's numbers, in order, as a rows×cols matrix. It panics if m has gaps
// between rows or another number of elements.
func (m Matrix) Reshape(rows, cols int) Matrix {
	if rows < 0 || cols < 0 || rows*cols != m.Rows*m.Cols || !m.contiguous() {
		panic(fmt.Sprintf("device: a %d×%d matrix of stride %d seen as %d×%d", m.Rows, m.Cols, m.Stride,
			rows, cols))
	}
	m.Rows, m.Cols, m.Stride = rows, cols, cols
	return m
}

// contiguous reports whether the elements follow each other without gaps.
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
		panic("device: " + what + ": the matrix lives on another device")
	}
	if m.Rows > 1 && m.Stride < m.Cols {
		panic(fmt.Sprintf("device: %s: stride %d under %d columns", what, m.Stride, m.Cols))
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
