package models

import "github.com/seed7ba64551/privgen/device"

// BlockGradients are per-example gradients that distinguish the blocks of Params, so that groups of
// parameters can be clipped separately.
type BlockGradients interface {
	Gradients
	// BlockSquaredNorms sets dst[b][i] to the squared norm of the part of gᵢ that lies in block b, or
	// to an upper bound of it, on the terms of SquaredNorms.
	//
	// Shapes: dst has one slice for each block of Params.
	BlockSquaredNorms(dst [][]float64)
	// AddBlockSums adds Σ weights[b][i]·gᵢ to block b of dst, for every b. If a weight is 0, that
	// part of gᵢ contributes exactly nothing, even if it is not finite. Slices of weights may be
	// identical.
	AddBlockSums(dst device.Params, weights [][]float32)
}

// A PublicGradient is a network with a part of its loss that does not depend on records, such
// as that of a critic's fakes or a penalty on weights. That part needs neither clipping nor
// noise.
type PublicGradient interface {
	// AddPublicGradient adds the gradient of the public part to dst. It is called once per step,
	// after BeginStep, for every batch, and must depend on released parameters and public randomness
	// only.
	AddPublicGradient(dst device.Params)
}
