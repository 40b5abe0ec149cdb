// Package device defines a small backend interface for the float32 matrix products,
// reductions and element-wise functions that training needs, and implements it on the
// CPU.
//
// It is independent of privacy. Backends differ in speed and in the memory that holds the numbers,
// never in the meaning of a method. Every backend passes the conformance suite in package
// devicetest.
//
// # Numbers
//
// Matrices hold float32. Norms are computed in float64, products included, because the guarantee of
// clipped sums depends on norms. NaN and infinities propagate as in IEEE arithmetic. A product with
// β = 0 overwrites the destination, even where the destination holds NaN.
//
// # Reproducibility
//
// The CPU backend gives the same bits for every number of workers, for every GOMAXPROCS and on
// every processor: with AVX2, AVX-512 or NEON, and in portable Go on machines without them. An
// element of a product is one chain of fused multiply-adds over k (eight chains if the result has
// at most four columns), so a row of a result depends on no other row of the batch. There are two
// exceptions. Cosines and sines of numbers beyond ±65,536 are from package math, whose last bits
// may differ between processors. And NaN or infinities that a convolution reads may spread to
// neighbouring places at one level and not at another.
//
// # Images
//
// A batch of images is a matrix with one image in each row. The channels of a pixel are adjacent,
// so the same numbers are also a matrix of pixels by channels. A convolution is Im2Col followed by
// a product with a matrix of patch by channels. The transpose of a convolution is the product with
// the transposed matrix, followed by Col2Im. BlockProductNorms computes the norm of each record's
// gradient.
package device
