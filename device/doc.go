// Package device is where matrices live and multiply: a small backend interface for the
// float32 products, reductions and element-wise functions that training needs, and its
// implementation on the CPU.
//
// It knows nothing of privacy. Backends differ in where the numbers are kept and how fast
// they are worked on, never in what a method means; package devicetest holds the one suite
// that every backend passes.
//
// # Numbers
//
// Matrices hold float32. Norms are accumulated in float64, products included, because
// clipping turns them into a guarantee. NaN and infinities propagate as IEEE arithmetic
// has it; a product with β = 0 overwrites what was there, NaN included.
//
// # Reproducibility
//
// The CPU backend gives the same bits for every number of workers, for every GOMAXPROCS and for
// every level of vector instructions (AVX2 or AVX-512). An element of a product is one chain of
// fused multiply-adds over k (eight where the result has at most four columns), so a row of a
// result depends on no other row of the batch. Machines without these instructions run portable Go
// in the same order of operations; whether the compiler fuses there is up to it, so their last bits
// may differ.
//
// # Images
//
// A batch of images is a matrix with an image a row, channels side by side, so that the same
// numbers are also a matrix of pixels by channels. A convolution is then Im2Col and a product with
// a matrix of patch by channels; its transpose is the product with that matrix transposed, and
// Col2Im. BlockProductNorms has the norms of one record's share in their gradients.
package device
