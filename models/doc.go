// Package models holds the networks that privgen trains: variational
// autoencoders, restricted Boltzmann machines and multilayer perceptrons.
//
// The package is pure arithmetic on matrices. It knows no noise, no clipping
// and no ledger: a network states its per-example gradients, kept factored, and
// whoever trains it (package sgd privately, package evaluate without privacy)
// asks for their norms and for weighted sums of them. The matrix with one
// row of parameters for each example is never made.
//
// For a dense layer with input aᵢ and back-propagated delta δᵢ the gradient of
// example i is the outer product aᵢδᵢᵀ together with δᵢ for the bias, so its
// squared norm is (‖aᵢ‖²+1)·‖δᵢ‖² and a weighted sum of gradients is one matrix
// product after scaling rows (Goodfellow 2015, "Efficient Per-Example Gradient
// Computations").
//
// Any type with the small interfaces Network and Gradients goes wherever the
// networks of this package go.
package models
