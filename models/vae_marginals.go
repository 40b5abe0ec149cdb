package models

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// A MarginalSetter is a network that can be told how often each coordinate of its samples is to be 1. The
// frequencies must be public or released.
type MarginalSetter interface {
	// SetMarginals moves the network's outputs, and nothing else about them, until the mean of coordinate j over
	// samples is p[j], as closely as a fixed set of public draws of the latent variables tells. Shifts are
	// equally likely numbers, independent of the latent variables, that whoever samples the network is going to
	// add to the logits of a whole record; none stand for 0.
	SetMarginals(p, shifts []float64)
}

const (
	marginalDraws = 512  // of the latent variables
	marginalCols  = 1024 // coordinates at a time
	leastMean     = 1e-7 // frequencies are kept this far from 0 and 1
)

// SetMarginals finds the output biases.
func (n *vae) SetMarginals(p, shifts []float64) {
	offsets := stratified(shifts)
	rng := rand.New(rand.NewPCG(0x6d617267, 0x766165))
	normals := make([]float32, marginalDraws*n.arch.Latent)
	for i := range normals {
		normals[i] = float32(rng.NormFloat64())
	}
	h := n.be.New(marginalDraws, n.arch.Latent)
	n.be.Upload(h, normals)
	last := n.dec.layers() - 1
	for l := range last {
		out := n.be.New(marginalDraws, n.dec.widths[l+1])
		n.be.Gemm(false, false, 1, h, n.dec.weights[l], 0, out)
		n.be.BiasApply(n.dec.fs[l], out, n.dec.biases[l])
		h = out
	}
	biases := make([]float32, n.visible.Dim)
	for lo := 0; lo < n.visible.Dim; lo += marginalCols {
		hi := min(lo+marginalCols, n.visible.Dim)
		w := n.dec.weights[last]
		logits := n.be.New(marginalDraws, hi-lo)
		n.be.Gemm(false, false, 1, h, w.Slice(0, w.Rows, lo, hi), 0, logits)
		fitBiases(biases[lo:hi], toHost(n.be, logits, nil), offsets, p[lo:hi])
	}
	n.be.Upload(n.dec.biases[last], biases)
}

// stratified spreads the shifts evenly over the draws, in an order that has nothing to do with the draws'.
func stratified(shifts []float64) []float64 {
	offsets := make([]float64, marginalDraws)
	for i := range offsets {
		if len(shifts) > 0 {
			offsets[i] = shifts[i*len(shifts)/marginalDraws]
		}
	}
	rng := rand.New(rand.NewPCG(0x73687566, 0x766165))
	rng.Shuffle(len(offsets), func(i, j int) { offsets[i], offsets[j] = offsets[j], offsets[i] })
	return offsets
}

// fitBiases solves mean σ(logit + offset + bias) = p in every column.
func fitBiases(biases []float32, logits device.Matrix, offsets, p []float64) {
	column := make([]float64, logits.Rows)
	for j := range biases {
		for i := range column {
			column[i] = float64(logits.Data[i*logits.Stride+j]) + offsets[i]
		}
		biases[j] = float32(fitBias(column, p[j]))
	}
}

// fitBias is Newton's method inside a bracket that every step narrows: the mean increases in the bias.
func fitBias(logits []float64, p float64) float64 {
	p = min(max(p, leastMean), 1-leastMean)
	if p != p {
		p = leastMean
	}
	least, most := math.Inf(1), math.Inf(-1)
	for i, l := range logits {
		if l != l || math.IsInf(l, 0) {
			logits[i], l = 0, 0
		}
		least, most = min(least, l), max(most, l)
	}
	logit := math.Log(p) - math.Log1p(-p)
	lo, hi := logit-most, logit-least // where every draw is below p, and above it
	b := (lo + hi) / 2
	for range 60 {
		mean, slope := 0.0, 0.0
		for _, l := range logits {
			s := 1 / (1 + math.Exp(-l-b))
			mean += s
			slope += s * (1 - s)
		}
		gap := p*float64(len(logits)) - mean
		if math.Abs(gap) <= 1e-7*p*float64(len(logits)) {
			return b
		}
		if gap > 0 {
			lo = b
		} else {
			hi = b
		}
		if b += gap / slope; !(b > lo && b < hi) {
			b = (lo + hi) / 2
		}
	}
	return b
}
