package models

import "github.com/seed7ba64551/privgen/device"

// BlockGradients are per-example gradients that can tell the blocks of Params apart, so that groups
// of parameters can be clipped each by itself.
type BlockGradients interface {
	Gradients
	// BlockSquaredNorms sets dst[b][i] to the squared norm of the part of gᵢ that lies in block b, or
	// to an upper bound of it, on the terms of SquaredNorms.
	//
	// Shapes: dst has one slice for each block of Params.
	BlockSquaredNorms(dst [][]float64)
	// AddBlockSums adds Σ weights[b][i]·gᵢ to block b of dst, for every b. Where a weight is 0 that
	// part of gᵢ contributes exactly nothing, even if it is not finite. Slices of weights may be one
	// and the same.
	AddBlockSums(dst device.Params, weights [][]float32)
}

// A PublicGradient is a network part of whose loss has nothing to do with records: fakes that a
// critic tells from them, a penalty on weights. That part needs neither clip nor noise.
type PublicGradient interface {
	// AddPublicGradient adds the gradient of the public part to dst. It is called once a step, after
	// BeginStep and whatever the batch, and must depend on released parameters and public randomness
	// alone.
	AddPublicGradient(dst device.Params)
}
