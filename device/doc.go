// Package device defines a small backend interface for the float32 matrix products,
// reductions and element-wise functions that training needs, and implements it on the
// CPU.
//
// It is independent of privacy. Backends differ in where they keep numbers and in speed,
// never in the meaning of a method; package devicetest holds the conformance suite that
// every backend passes.
//
// # Numbers
//
// Matrices hold float32. Norms are accumulated in float64, products included, because
// clipping turns them into a guarantee. NaN and infinities propagate as in IEEE
// arithmetic; a product with β = 0 overwrites the destination, including NaN.
//
// # Reproducibility
//
// The CPU backend gives the same bits for every number of workers, for every GOMAXPROCS and for
// every level of vector instructions (AVX2 or AVX-512). An element of a product is one chain of
// fused multiply-adds over k (eight where the result has at most four columns), so a row of a
// result depends on no other row of the batch. Machines without these instructions run portable Go
// in the same order of operations; whether the compiler fuses operations there is unspecified, so
// their last bits may differ.
//
// # Images
//
// A batch of images is a matrix with one image per row, the channels of a pixel adjacent, so that
// the same numbers are also a matrix of pixels by channels. A convolution is then Im2Col and a
// product with a matrix of patch by channels; its transpose is the product with that matrix
// transposed, and Col2Im. BlockProductNorms has the norms of one record's share in their
// gradients.
package device
