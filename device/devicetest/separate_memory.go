package devicetest

import (
	"unsafe"

	"github.com/seed7ba64551/privgen/device"
)

// SeparateMemory returns a backend whose matrices hide their numbers, like matrices of a device
// with separate memory. Its methods panic if an operand is a host matrix. Tests use it to check, on
// any machine, that code does not read the numbers of device matrices as if they were in host
// memory. The results of its methods have the same bits as the results of b.
func SeparateMemory(b device.Backend) device.Backend { return separateMemory{b} }

type separateMemory struct{ b device.Backend }

// place is a position in memory. Values of place can be compared with ==.
type place struct {
	memory *[]float32
	at     int
}

// Offset returns the position that is the given number of elements further on.
func (p place) Offset(elements int) device.Memory { return place{p.memory, p.at + elements} }

// open returns m as a host matrix, which b can read.
func open(m device.Matrix) device.Matrix {
	if m.Data != nil && !m.Empty() {
		panic("devicetest: the matrix is in host memory, want one in the memory of the device")
	}
	if m.Mem == nil || m.Empty() {
		m.Mem, m.Data = nil, nil
		return m
	}
	p := m.Mem.(place)
	m.Mem, m.Data = nil, (*p.memory)[p.at:p.at+(m.Rows-1)*m.Stride+m.Cols]
	return m
}

func (a separateMemory) Name() string { return a.b.Name() + " apart" }
func (a separateMemory) Workers() int { return a.b.Workers() }

func (a separateMemory) New(rows, cols int) device.Matrix {
	m := a.b.New(rows, cols)
	if !m.Empty() {
		m.Mem = place{&m.Data, 0}
	}
	return device.Matrix{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Mem: m.Mem}
}

func (a separateMemory) Upload(dst device.Matrix, src []float32)   { a.b.Upload(open(dst), src) }
func (a separateMemory) Download(dst []float32, src device.Matrix) { a.b.Download(dst, open(src)) }

func (a separateMemory) Gemm(transA, transB bool, alpha float32, x, y device.Matrix, beta float32,
	c device.Matrix) {
	a.b.Gemm(transA, transB, alpha, open(x), open(y), beta, open(c))
}

func (a separateMemory) SparseGemm(s *device.Sparse, w device.Matrix, beta float32,
	c device.Matrix) {
	a.b.SparseGemm(s, open(w), beta, open(c))
}

func (a separateMemory) SparseGemmT(s *device.Sparse, d device.Matrix, beta float32,
	c device.Matrix) {
	a.b.SparseGemmT(s, open(d), beta, open(c))
}

func (a separateMemory) BiasApply(f device.Func, m, bias device.Matrix) {
	a.b.BiasApply(f, open(m), open(bias))
}
func (a separateMemory) Apply(f device.Func, dst, src device.Matrix) {
	a.b.Apply(f, open(dst), open(src))
}
func (a separateMemory) Gradient(f device.Func, delta, out device.Matrix) {
	a.b.Gradient(f, open(delta), open(out))
}
func (a separateMemory) Axpy(alpha float32, x, y device.Matrix) {
	a.b.Axpy(alpha, open(x), open(y))
}
func (a separateMemory) Mul(dst, x, y device.Matrix) {
	a.b.Mul(open(dst), open(x), open(y))
}
func (a separateMemory) Sub(dst, x, y device.Matrix) {
	a.b.Sub(open(dst), open(x), open(y))
}
func (a separateMemory) Fill(m device.Matrix, v float32)        { a.b.Fill(open(m), v) }
func (a separateMemory) ScaleRows(m device.Matrix, w []float32) { a.b.ScaleRows(open(m), w) }
func (a separateMemory) RowSquaredNorms(dst []float64, m device.Matrix) {
	a.b.RowSquaredNorms(dst, open(m))
}
func (a separateMemory) RowDots(dst []float64, x, y device.Matrix) {
	a.b.RowDots(dst, open(x), open(y))
}
func (a separateMemory) Softmax(m device.Matrix) { a.b.Softmax(open(m)) }

func (a separateMemory) ColSums(w []float32, m device.Matrix, beta float32, dst device.Matrix) {
	a.b.ColSums(w, open(m), beta, open(dst))
}

func (a separateMemory) BlockProductNorms(dst []float64, block int, x, d device.Matrix) {
	a.b.BlockProductNorms(dst, block, open(x), open(d))
}

func (a separateMemory) Im2Col(w device.Window, dst, src device.Matrix) {
	a.b.Im2Col(w, open(dst), open(src))
}
func (a separateMemory) Col2Im(w device.Window, dst, src device.Matrix) {
	a.b.Col2Im(w, open(dst), open(src))
}

func (a separateMemory) UpSample(m device.Image, dst, src device.Matrix) {
	a.b.UpSample(m, open(dst), open(src))
}

func (a separateMemory) UpSampleGradient(m device.Image, dst,
	src device.Matrix) {
	a.b.UpSampleGradient(m, open(dst), open(src))
}

func (a separateMemory) Moments(stats, m device.Matrix, eps float32) {
	a.b.Moments(open(stats), open(m), eps)
}

func (a separateMemory) Normalize(dst, src, stats, gain, shift device.Matrix) {
	a.b.Normalize(open(dst), open(src), open(stats), open(gain), open(shift))
}

func (a separateMemory) NormalizeGradient(delta, src, stats, gain, dGain, dShift device.Matrix) {
	a.b.NormalizeGradient(open(delta), open(src), open(stats), open(gain), open(dGain), open(dShift))
}

func (a separateMemory) CosSin(dst, src device.Matrix, scale float32) {
	a.b.CosSin(open(dst), open(src), scale)
}

func (a separateMemory) Adam(p, g, m, v device.Matrix, s device.AdamStep) {
	a.b.Adam(open(p), open(g), open(m), open(v), s)
}

// Promises repeats the promises of b, or makes none if b has no sums in fixed point.
func (a separateMemory) Promises() device.Promises {
	if _, ok := a.b.(device.FixedSummer); !ok {
		return device.Promises{}
	}
	return device.PromisesOf(a.b)
}

// fixed returns a block in the separate memory as a block in host memory.
func (a separateMemory) fixed(c device.FixedBlock) (device.FixedSummer, device.FixedBlock) {
	if c.Units != nil {
		panic("devicetest: the sum is in host memory, want one in the memory of the device")
	}
	if n := c.Rows * c.Cols; n > 0 {
		p := c.Mem.(place)
		c.Units = unsafe.Slice((*int32)(unsafe.Pointer(&(*p.memory)[p.at])), n)
	}
	c.Mem = nil
	return a.b.(device.FixedSummer), c
}

func (a separateMemory) ScaleOdd(dst, m device.Matrix, w []float32) {
	a.b.(device.FixedSummer).ScaleOdd(open(dst), open(m), w)
}

func (a separateMemory) AddFixedProduct(x, d device.Matrix, c device.FixedBlock) {
	b, c := a.fixed(c)
	b.AddFixedProduct(open(x), open(d), c)
}

func (a separateMemory) AddFixedSparse(s *device.Sparse, d device.Matrix, c device.FixedBlock) {
	b, c := a.fixed(c)
	b.AddFixedSparse(s, open(d), c)
}

func (a separateMemory) AddFixedRows(w []float32, m device.Matrix, c device.FixedBlock) {
	b, c := a.fixed(c)
	b.AddFixedRows(w, open(m), c)
}

func (a separateMemory) AddFixedBlocks(w []float32, block int, x, d device.Matrix,
	c device.FixedBlock) {
	b, c := a.fixed(c)
	b.AddFixedBlocks(w, block, open(x), open(d), c)
}
