package device

import "errors"

// ErrUnavailable is returned if a device is not compiled in or has no hardware.
var ErrUnavailable = errors.New("device: unavailable")

// Backend multiplies and transforms matrices that live on its device.
//
// Mismatched shapes are a programming error and panic. Sizes of zero are valid everywhere.
// Destinations must not overlap operands unless a method says so. A backend is safe for concurrent
// use by several goroutines as long as they write to different matrices.
//
// Privacy guarantees need more: results of a record that do not depend on other records, and sums
// that one record changes by its own share only. A backend states that it has them by
// implementing Promising and FixedSummer, and devicetest tests them; on other backends a
// guarantee is weaker and says so.
type Backend interface {
	// Name returns the name of the hardware, for example "cpu (avx2)".
	Name() string
	// Workers returns the number of cores or queues worked on at a time.
	Workers() int

	// New allocates a zeroed rows×cols matrix.
	New(rows, cols int) Matrix
	// Upload copies rows·cols numbers from the host, row by row without gaps, into dst.
	Upload(dst Matrix, src []float32)
	// Download copies src to the host, row by row without gaps.
	Download(dst []float32, src Matrix)

	// Gemm sets C = α op(A) op(B) + β C, where op is transposition or the identity. With β = 0 the
	// old C is not read.
	Gemm(transA, transB bool, alpha float32, a, b Matrix, beta float32, c Matrix)
	// SparseGemm sets C = S W + β C at a cost proportional to the ones in S.
	SparseGemm(s *Sparse, w Matrix, beta float32, c Matrix)
	// SparseGemmT sets C = Sᵀ D + β C.
	SparseGemmT(s *Sparse, d Matrix, beta float32, c Matrix)

	// BiasApply sets each row of m to f(row + bias). Bias is 1×cols, or the zero Matrix for none.
	BiasApply(f Func, m, bias Matrix)
	// Apply sets dst = f(src); dst may be src.
	Apply(f Func, dst, src Matrix)
	// Gradient multiplies delta by the derivative of f, expressed in f's output.
	Gradient(f Func, delta, out Matrix)

	// Axpy adds α x to y.
	Axpy(alpha float32, x, y Matrix)
	// Mul sets dst = a ∘ b, element by element; dst may be a or b.
	Mul(dst, a, b Matrix)
	// Sub sets dst = a − b; dst may be a or b.
	Sub(dst, a, b Matrix)
	// Fill sets every element to v.
	Fill(m Matrix, v float32)

	// ScaleRows multiplies row i by w[i].
	ScaleRows(m Matrix, w []float32)
	// ColSums sets dst (1×cols) to Σ wᵢ mᵢ + β dst; a nil w means all ones.
	ColSums(w []float32, m Matrix, beta float32, dst Matrix)
	// RowSquaredNorms sets dst[i] = ‖mᵢ‖², with products and sums in float64.
	RowSquaredNorms(dst []float64, m Matrix)
	// RowDots sets dst[i] = aᵢ·bᵢ, with products and sums in float64.
	RowDots(dst []float64, a, b Matrix)

	// BlockProductNorms sets dst[i] to ‖AᵢᵀDᵢ‖², the sum of squares of the product of the i-th blocks
	// of block rows of a and of d: the squared norm of one record's gradient if a layer is applied at
	// many places.
	//
	// Guarantee: it is an upper bound despite cancellation inside the product, since a rounding bound
	// is added: √dst[i] exceeds the norm by at most about k·2⁻²³·Σ‖a‖‖d‖ over the block's rows, with
	// k the largest of block and columns, or, where the Gram matrices AᵢAᵢᵀ and DᵢDᵢᵀ are the cheaper
	// way, the square exceeds the square by k·2⁻²²·(Σ‖a‖‖d‖)². It is not finite where an operand is
	// not, and where squared norms of rows leave float32.
	BlockProductNorms(dst []float64, block int, a, d Matrix)

	// Im2Col sets row i·Places+p of dst to the patch that the window sees at place p of image i.
	// Shapes: src is images×Len, dst (images·Places)×Patch.
	Im2Col(w Window, dst, src Matrix)
	// Col2Im is the transpose of Im2Col: it sets every pixel to the sum of what patches hold for it.
	// Shapes: dst is images×Len, src (images·Places)×Patch.
	Col2Im(w Window, dst, src Matrix)
	// UpSample doubles height and width. Shapes: src holds images of form m, dst of form m.Doubled().
	UpSample(m Image, u UpSampling, dst, src Matrix)
	// UpSampleGradient is the transpose of UpSample. Shapes: src holds images of form m.Doubled(), dst
	// of form m.
	UpSampleGradient(m Image, u UpSampling, dst, src Matrix)

	// Moments sets the first row of stats (2×cols) to the mean of each column of m and the second to
	// 1/√(variance + eps), the variance being the mean squared deviation; sums are in float64. No rows
	// count as mean and variance 0.
	Moments(stats, m Matrix, eps float32)
	// Normalize sets each column of dst to gain·(src − mean)·scale + shift, with mean and scale as
	// Moments left them; dst may be src.
	Normalize(dst, src, stats, gain, shift Matrix)
	// NormalizeGradient turns delta, the derivative by the dst of Normalize, into the derivative by
	// src if stats are the Moments of src, and sets dGain and dShift (1×cols) to the derivatives by
	// gain and shift.
	NormalizeGradient(delta, src, stats, gain, dGain, dShift Matrix)

	// CosSin sets dst, which has twice as many columns as src, to [scale·cos(src) | scale·sin(src)].
	// src may be the left or the right half of dst.
	CosSin(dst, src Matrix, scale float32)
	// Softmax replaces each row by its softmax.
	Softmax(m Matrix)
	// Adam moves the parameters p by one step of Adam along the gradient g, with first moments m and
	// second moments v.
	Adam(p, g, m, v Matrix, s AdamStep)
}

// AdamStep holds the settings of one step of Adam.
//
// Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1.
type AdamStep struct {
	LR, Beta1, Beta2, Eps float32
	T                     int // number of this step, from 1
}
