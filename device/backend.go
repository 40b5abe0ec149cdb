package device

import "errors"

// ErrUnavailable is returned if the build does not support a device, or if the machine does not
// have the device.
var ErrUnavailable = errors.New("device: unavailable")

// Backend multiplies and transforms matrices that live on its device.
//
// Mismatched shapes are a programming error and panic. Sizes of zero are valid everywhere.
// Destinations must not overlap operands unless the documentation of a method allows it. A backend
// is safe for concurrent use by several goroutines if they write to different matrices.
//
// Privacy guarantees need two more properties. The results for a record must not depend on other
// records. One record must change a sum by its own contribution only. A backend promises these
// properties by a method Promises and by implementing FixedSummer, and package devicetest tests
// them. With other backends, guarantees are weaker and name the noise class "real".
type Backend interface {
	// Name returns the name of the hardware, for example "cpu (avx2)".
	Name() string
	// Workers returns the number of cores or queues that can work at the same time.
	Workers() int

	// New allocates a zeroed rows×cols matrix.
	New(rows, cols int) Matrix
	// Upload copies rows·cols numbers from the host, row by row without gaps, into dst.
	Upload(dst Matrix, src []float32)
	// Download copies src to the host, row by row without gaps.
	Download(dst []float32, src Matrix)

	// Gemm sets C = α op(A) op(B) + β C, where op is the transpose or the identity. If β is 0, the
	// old C is not read.
	Gemm(transA, transB bool, alpha float32, a, b Matrix, beta float32, c Matrix)
	// SparseGemm sets C = S W + β C. Its cost is proportional to the number of ones in S.
	SparseGemm(s *Sparse, w Matrix, beta float32, c Matrix)
	// SparseGemmT sets C = Sᵀ D + β C.
	SparseGemmT(s *Sparse, d Matrix, beta float32, c Matrix)

	// BiasApply sets each row of m to f(row + bias). The bias is 1×cols, or the zero Matrix for no
	// bias.
	BiasApply(f Func, m, bias Matrix)
	// Apply sets dst = f(src); dst may be src.
	Apply(f Func, dst, src Matrix)
	// Gradient multiplies delta by the derivative of f, computed from the output of f.
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
	// ColSums sets dst (1×cols) to Σ wᵢ mᵢ + β dst, where mᵢ is row i of m. A nil w means that all
	// weights are 1.
	ColSums(w []float32, m Matrix, beta float32, dst Matrix)
	// RowSquaredNorms sets dst[i] = ‖mᵢ‖², with products and sums in float64.
	RowSquaredNorms(dst []float64, m Matrix)
	// RowDots sets dst[i] = aᵢ·bᵢ, with products and sums in float64.
	RowDots(dst []float64, a, b Matrix)

	// BlockProductNorms sets dst[i] to ‖AᵢᵀDᵢ‖², the sum of the squared elements of the product. Here
	// Aᵢ and Dᵢ are the i-th groups of block consecutive rows of a and of d. For a layer that is
	// applied at many places of a record, this is the squared norm of the record's gradient.
	//
	// Guarantee: dst[i] is an upper bound even if terms of the product cancel, because a bound on the
	// rounding errors is added. √dst[i] exceeds the norm by at most about k·2⁻²³·Σ‖a‖‖d‖. Here the
	// sum is over the rows of the block, and k is the largest of block and the numbers of columns.
	// Where the Gram matrices AᵢAᵢᵀ and DᵢDᵢᵀ are cheaper to compute, dst[i] exceeds the squared norm
	// by at most k·2⁻²²·(Σ‖a‖‖d‖)². If the block holds a number that is not finite, or if squared
	// norms of its rows overflow float32, dst[i] is not finite.
	BlockProductNorms(dst []float64, block int, a, d Matrix)

	// Im2Col sets row i·Places+p of dst to the patch that the window sees at place p of image i.
	//
	// Shapes: src is images×Len, dst is (images·Places)×Patch.
	Im2Col(w Window, dst, src Matrix)
	// Col2Im is the transpose of Im2Col: it sets every pixel to the sum of its values in all patches
	// that contain it.
	//
	// Shapes: dst is images×Len, src is (images·Places)×Patch.
	Col2Im(w Window, dst, src Matrix)
	// UpSample doubles the height and width of images. A pixel is ¾ of the nearest pixel and ¼ of
	// the second nearest in each direction; edges are repeated.
	//
	// Shapes: src holds images of form m, dst images of form m.Doubled().
	UpSample(m Image, dst, src Matrix)
	// UpSampleGradient is the transpose of UpSample.
	//
	// Shapes: src holds images of form m.Doubled(), dst images of form m.
	UpSampleGradient(m Image, dst, src Matrix)

	// Moments sets the first row of stats (2×cols) to the mean of each column of m and the second row
	// to 1/√(variance + eps). The variance is the mean squared deviation. Sums are in float64. If m
	// has no rows, mean and variance are 0.
	Moments(stats, m Matrix, eps float32)
	// Normalize sets each column of dst to gain·(src − mean)·scale + shift, where mean and scale are
	// the rows of stats that Moments wrote; dst may be src.
	Normalize(dst, src, stats, gain, shift Matrix)
	// NormalizeGradient replaces delta, the derivative with respect to the result of Normalize, with
	// the derivative with respect to src, where stats holds the Moments of src. It sets dGain and
	// dShift (1×cols) to the derivatives with respect to gain and shift.
	NormalizeGradient(delta, src, stats, gain, dGain, dShift Matrix)

	// CosSin sets dst, which has twice as many columns as src, to [scale·cos(src) | scale·sin(src)].
	// src may be the left or the right half of dst.
	CosSin(dst, src Matrix, scale float32)
	// Softmax replaces each row with its softmax.
	Softmax(m Matrix)
	// Adam moves the parameters p by one step of the Adam optimizer for the gradient g, with the
	// first moments m and the second moments v.
	Adam(p, g, m, v Matrix, s AdamStep)
}

// AdamStep holds the settings of one step of Adam.
//
// Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1.
type AdamStep struct {
	LR, Beta1, Beta2, Eps float32
	T                     int // number of this step, counted from 1
}
