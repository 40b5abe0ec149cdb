// Package rff maps records to random Fourier features, so that a linear method
// in feature space does what a kernel method does in record space.
//
// A continuous shift-invariant kernel k(x−y) with k(0) = 1 is the Fourier
// transform of a probability distribution over frequencies (Bochner). With
// frequencies w₁…wₘ drawn from it, the inner product of
//
//	√(1/m)·[cos⟨w₁,x⟩ … cos⟨wₘ,x⟩ | sin⟨w₁,x⟩ … sin⟨wₘ,x⟩]
//
// with the same vector of y is an unbiased estimate of k(x−y) (Rahimi and Recht, 2007). The norm of
// that vector is 1 whatever x is, which suits a private sum: the sensitivity is known and nothing
// is clipped.
//
// [Strokes] and [Scattering] map images to other features of bounded norm; images of the same
// symbol have similar features.
//
// The map is public. Frequencies depend on a kernel, an input width and a seed,
// never on records, and a saved map holds just those three.
package rff
