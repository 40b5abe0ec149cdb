package models

import "github.com/seed7ba64551/privgen/device"

// BlockGradients are per-example gradients that distinguish the blocks of Params. Groups of
// parameters can then be clipped separately.
type BlockGradients interface {
	Gradients
	// BlockSquaredNorms sets dst[b][i] to the squared norm of the part of gᵢ that lies in block b, or
	// to an upper bound of it. The guarantee of SquaredNorms applies to every block.
	//
	// Shapes: dst has one slice for each block of Params.
	BlockSquaredNorms(dst [][]float64)
	// AddBlockSums adds Σ weights[b][i]·gᵢ to block b of dst, for every b. If a weight is 0, the
	// corresponding part of gᵢ contributes exactly nothing, even if it is not finite. Several blocks
	// may have the same slice of weights.
	AddBlockSums(dst device.Params, weights [][]float32)
}
