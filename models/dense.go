package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// A stack is a chain of dense layers h ← f(hW + b). Layer l owns the parameter
// blocks 2l (weights, in×out) and 2l+1 (bias, 1×out) of its range.
type stack struct {
	be     device.Backend
	widths []int // input width, then the width after each layer
	fs     []device.Func

	weights, biases []device.Matrix
}

func newStack(be device.Backend, widths []int, fs []device.Func) *stack {
	return &stack{be: be, widths: widths, fs: fs}
}

func (s *stack) layers() int { return len(s.fs) }

// shapes lists the stack's parameter blocks.
func (s *stack) shapes(prefix string) []device.Shape {
	var list []device.Shape
	for l := range s.fs {
		name := fmt.Sprintf("%s.%d", prefix, l)
		list = append(list,
			device.Shape{Name: name + ".weight", Rows: s.widths[l], Cols: s.widths[l+1]},
			device.Shape{Name: name + ".bias", Rows: 1, Cols: s.widths[l+1]})
	}
	return list
}

// bind makes the stack read its parameters from blocks first, first+1, … of p.
func (s *stack) bind(p device.Params, first int) {
	s.weights, s.biases = s.weights[:0], s.biases[:0]
	for l := range s.fs {
		s.weights = append(s.weights, p.Block(first+2*l))
		s.biases = append(s.biases, p.Block(first+2*l+1))
	}
}

// initialise draws Gaussian weights of variance gain/fan-in for hidden layers and
// 1/fan-in for the last; biases stay zero.
func (s *stack) initialise(rng *rand.Rand, gain float64) {
	for l, w := range s.weights {
		g := gain
		if l == len(s.weights)-1 {
			g = 1
		}
		uploadNormals(s.be, w, rng, math.Sqrt(g/float64(w.Rows)))
	}
}

func uploadNormals(be device.Backend, m device.Matrix, rng *rand.Rand, std float64) {
	if m.Mem == nil { // in place, one row after another
		for i := range m.Rows {
			normals(m.Row(i), rng, std)
		}
		return
	}
	values := make([]float32, m.Rows*m.Cols)
	normals(values, rng, std)
	be.Upload(m, values)
}

func normals(dst []float32, rng *rand.Rand, std float64) {
	for i := range dst {
		dst[i] = float32(std * rng.NormFloat64())
	}
}

// infer runs the stack on x, with hidden outputs in bufs and the last output in dst.
func (s *stack) infer(bufs []device.Matrix, x device.Matrix, dst device.Matrix) {
	for l, f := range s.fs {
		out := dst
		if l < len(s.fs)-1 {
			out = bufs[l].RowRange(0, x.Rows)
		}
		s.be.Gemm(false, false, 1, x, s.weights[l], 0, out)
		s.be.BiasApply(f, out, s.biases[l])
		x = out
	}
}

// A trace is one pass of a batch through a stack. It holds the inputs and the deltas of every
// layer, which together determine the per-example gradients.
type trace struct {
	s        *stack
	capacity int
	rows     int
	x        record
	outBuf   []device.Matrix
	deltaBuf []device.Matrix
	scaleBuf []device.Matrix
	outs     []device.Matrix // outBuf cut to rows
	deltas   []device.Matrix // deltaBuf cut to rows; derivatives with respect to the sums before f
	na, nd   []float64
	list     [][]float32 // scratch of forAll
}

// A record holds the input of a first layer: records as dense rows or as sparse sets.
type record struct {
	dense  device.Matrix
	sparse *device.Sparse
}

func newTrace(s *stack) *trace {
	n := s.layers()
	return &trace{s: s,
		outBuf: make([]device.Matrix, n), deltaBuf: make([]device.Matrix, n),
		scaleBuf: make([]device.Matrix, n),
		outs:     make([]device.Matrix, n), deltas: make([]device.Matrix, n)}
}

// resize makes room for rows, so steady training allocates nothing.
func (t *trace) resize(rows int) {
	if rows > t.capacity {
		t.capacity = roomFor(rows)
		t.na, t.nd = make([]float64, t.capacity), make([]float64, t.capacity)
		for l := range t.outBuf {
			in, out := t.s.widths[l], t.s.widths[l+1]
			t.outBuf[l] = t.s.be.New(t.capacity, out)
			t.deltaBuf[l] = t.s.be.New(t.capacity, out)
			t.scaleBuf[l] = t.s.be.New(t.capacity, min(in, out))
			if l == 0 { // a sparse input cannot be the factor that is scaled
				t.scaleBuf[l] = t.s.be.New(t.capacity, max(min(in, out), out))
			}
		}
	}
	t.rows = rows
	for l := range t.outs {
		t.outs[l] = t.outBuf[l].RowRange(0, rows)
		t.deltas[l] = t.deltaBuf[l].RowRange(0, rows)
	}
}

// roomFor returns a capacity somewhat above rows, because the size of Poisson batches varies. It is
// small for a few rows, which may be wide.
func roomFor(rows int) int {
	step := min(max(rows, 8), 64)
	return (rows + rows/8 + step - 1) / step * step
}

func (t *trace) last() device.Matrix      { return t.outs[len(t.outs)-1] }
func (t *trace) lastDelta() device.Matrix { return t.deltas[len(t.deltas)-1] }

// forward runs the stack on x and keeps every layer's output.
func (t *trace) forward(x record, rows int) {
	t.resize(rows)
	t.x = x
	if rows == 0 {
		return
	}
	s := t.s
	for l, f := range s.fs {
		if l == 0 && x.sparse != nil {
			s.be.SparseGemm(x.sparse, s.weights[0], 0, t.outs[0])
		} else {
			s.be.Gemm(false, false, 1, t.input(l), s.weights[l], 0, t.outs[l])
		}
		s.be.BiasApply(f, t.outs[l], s.biases[l])
	}
}

// input returns the dense matrix that layer l reads.
func (t *trace) input(l int) device.Matrix {
	if l == 0 {
		return t.x.dense
	}
	return t.outs[l-1]
}

// backward propagates the last layer's delta back to the first layer.
func (t *trace) backward() {
	if t.rows == 0 {
		return
	}
	for l := t.s.layers() - 1; l > 0; l-- {
		t.s.be.Gemm(false, true, 1, t.deltas[l], t.s.weights[l], 0, t.deltas[l-1])
		t.s.be.Gradient(t.s.fs[l-1], t.deltas[l-1], t.outs[l-1])
	}
}

// inputDelta sets dst to the derivative with respect to the stack's input.
func (t *trace) inputDelta(dst device.Matrix) {
	if t.rows > 0 {
		t.s.be.Gemm(false, true, 1, t.deltas[0], t.s.weights[0], 0, dst)
	}
}

// largeSquare is the squared norm from which a factor of a gradient counts as not finite. Below
// this value, the float32 products wᵢ·δᵢ·aᵢ of a clipped row cannot overflow, and their error from
// underflow stays below 2⁻⁸⁰.
const largeSquare = 0x1p120

// addSquaredNorms adds Σ over layers (‖a‖²+1)·‖δ‖² to dst: the squared norm of the gradient whose
// factors are the float32 vectors a and δ.
func (t *trace) addSquaredNorms(dst []float64) {
	if t.rows == 0 {
		return
	}
	na, nd := t.na[:t.rows], t.nd[:t.rows]
	for l := range t.deltas {
		if l == 0 && t.x.sparse != nil {
			sparseSquaredNorms(na, t.x.sparse)
		} else {
			t.s.be.RowSquaredNorms(na, t.input(l))
		}
		t.s.be.RowSquaredNorms(nd, t.deltas[l])
		for i := range na {
			dst[i] += (bounded(na[i]) + 1) * bounded(nd[i])
		}
	}
}

// bounded returns NaN for a square that is too large or NaN, and the square itself otherwise. Sums
// that contain the NaN are NaN too.
func bounded(squared float64) float64 {
	if squared < largeSquare {
		return squared
	}
	return math.NaN()
}

// sparseSquaredNorms sets dst to the squared norms of rows of ones. An item that is listed twice is
// added twice to its coordinate, so it counts as 2² = 4.
func sparseSquaredNorms(dst []float64, s *device.Sparse) {
	for i := range dst {
		items := s.Items[s.Offsets[i]:s.Offsets[i+1]]
		dst[i] = float64(len(items))
		if !strictlyIncreasing(items) {
			dst[i] = squaredCounts(items)
		}
	}
}

func strictlyIncreasing(items []uint32) bool {
	for i := 1; i < len(items); i++ {
		if items[i] <= items[i-1] {
			return false
		}
	}
	return true
}

func squaredCounts(items []uint32) float64 {
	sorted := slices.Sorted(slices.Values(items))
	total, run := 0.0, 0.0
	for i, item := range sorted {
		if i > 0 && item != sorted[i-1] {
			total, run = total+run*run, 0
		}
		run++
	}
	return total + run*run
}

// addWeightedSum adds Σ wᵢ gᵢ to the stack's blocks of dst. It scales a copy of the narrower factor
// of every layer, so the trace does not change.
func (t *trace) addWeightedSum(dst device.Params, first int, weights []float32) {
	t.addBlockSums(dst, first, t.forAll(weights))
}

// addBlockSums is addWeightedSum with weights for every block.
func (t *trace) addBlockSums(dst device.Params, first int, weights [][]float32) {
	if t.rows == 0 {
		return
	}
	be := t.s.be
	for l := range t.deltas {
		weight, bias := dst.Block(first+2*l), dst.Block(first+2*l+1)
		delta, w := t.deltas[l], weights[2*l]
		t.dropNonFinite(l, w, weights[2*l+1])
		switch {
		case l == 0 && t.x.sparse != nil:
			be.SparseGemmT(t.x.sparse, t.scaled(l, delta, w), 1, weight)
		case t.input(l).Cols <= delta.Cols:
			be.Gemm(true, false, 1, t.scaled(l, t.input(l), w), delta, 1, weight)
		default:
			be.Gemm(true, false, 1, t.input(l), t.scaled(l, delta, w), 1, weight)
		}
		be.ColSums(weights[2*l+1], delta, 1, bias)
	}
}

// forAll returns a list that has the same weights for every block.
func (t *trace) forAll(w []float32) [][]float32 {
	t.list = t.list[:0]
	for range t.deltas {
		t.list = append(t.list, w, w)
	}
	return t.list
}

func (t *trace) scaled(l int, m device.Matrix, w []float32) device.Matrix {
	c := t.scaleBuf[l].Slice(0, t.rows, 0, m.Cols)
	t.s.be.Apply(device.Identity, c, m)
	t.s.be.ScaleRows(c, w)
	return c
}

// dropNonFinite clears factors of layer l that are not finite and belong to examples of weight
// zero. Since 0·NaN is not 0, one such record would otherwise spoil the sum. If a delta is not
// finite, the norms of the weights' and of the bias's gradients are not finite either, so both
// weights are zero.
func (t *trace) dropNonFinite(l int, weight, bias []float32) {
	for i, w := range weight[:t.rows] {
		if w == 0 && (l > 0 || t.x.sparse == nil) {
			clearNonFinite(t.s.be, t.input(l).RowRange(i, i+1), t.na[:1])
		}
		if w == 0 || bias[i] == 0 {
			clearNonFinite(t.s.be, t.deltas[l].RowRange(i, i+1), t.na[:1])
		}
	}
}

func clearNonFinite(be device.Backend, row device.Matrix, norm []float64) {
	be.RowSquaredNorms(norm, row)
	if !(norm[0] <= math.MaxFloat64) {
		be.Fill(row, 0)
	}
}
