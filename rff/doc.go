// Package rff maps records to random Fourier features. A linear method on the features then
// approximates a kernel method on the records.
//
// A continuous shift-invariant kernel k(x−y) with k(0) = 1 is the Fourier transform of a
// probability distribution over frequencies (Bochner). Let the frequencies w₁…wₘ be drawn from it,
// and let z(x) be the vector
//
//	√(1/m)·[cos⟨w₁,x⟩ … cos⟨wₘ,x⟩ | sin⟨w₁,x⟩ … sin⟨wₘ,x⟩]
//
// Then ⟨z(x), z(y)⟩ is an unbiased estimate of k(x−y) (Rahimi and Recht, 2007). The norm of z(x) is
// 1 for every x. A private sum therefore has a known sensitivity without clipping.
//
// [Strokes] and [Scattering] map images to other features of bounded norm. Images of the same
// symbol have similar features.
//
// The map is public. Frequencies depend only on a kernel, a record width and a seed, never on
// records. A saved map contains only these three.
package rff
