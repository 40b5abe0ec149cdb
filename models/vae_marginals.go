package models

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// A MarginalSetter is a network whose frequency of ones can be set for each coordinate. The
// frequencies must be public or released.
type MarginalSetter interface {
	// SetMarginals sets the network's output biases such that the mean of coordinate j over samples is
	// p[j]. It estimates means from a fixed set of public draws of the latent variables. The sampling
	// code will add one of the numbers in shifts to all logits of a record. It chooses this number
	// uniformly and independently of the latent variables. An empty list means no shift. Shifts are
	// not added to one-hot blocks. The elements of p for a one-hot block are scaled to sum to 1. The
	// element of p for a number is its mean given that it is not missing.
	SetMarginals(p, shifts []float64)
}

const (
	marginalDraws = 512  // number of draws of the latent variables
	marginalCols  = 1024 // number of coordinates computed at a time
	leastMean     = 1e-7 // frequencies are kept this far from 0 and 1
)

// SetMarginals sets the output biases.
func (n *vae) SetMarginals(p, shifts []float64) {
	offsets := stratified(shifts)
	rng := rand.New(rand.NewPCG(0x6d617267, 0x766165))
	normals := make([]float32, marginalDraws*n.arch.Latent)
	for i := range normals {
		normals[i] = float32(rng.NormFloat64())
	}
	h := n.be.New(marginalDraws, n.arch.Latent)
	n.be.Upload(h, normals)
	out := n.output()
	t := n.idle()
	t.begin(record{}, marginalDraws)
	t.set(n.latent, h)
	t.forward(n.latent.id+1, out.id)
	h = t.operand(out, 0)
	biases := make([]float32, n.visible.Dim)
	for lo := 0; lo < n.visible.Dim; lo += marginalCols {
		hi := min(lo+marginalCols, n.visible.Dim)
		w := n.blocks[out.first]
		logits := n.be.New(marginalDraws, hi-lo)
		n.be.Gemm(false, false, 1, h, w.Slice(0, w.Rows, lo, hi), 0, logits)
		fitBiases(biases[lo:hi], toHost(n.be, logits, nil), offsets, p[lo:hi])
	}
	n.fitLevels(h, biases, p)
	n.be.Upload(n.blocks[out.first+1], biases)
}

// fitLevels finds the biases of one-hot blocks, given the draws of the last hidden layer.
func (n *vae) fitLevels(h device.Matrix, biases []float32, p []float64) {
	if n.layout == nil {
		return
	}
	w := n.blocks[n.output().first]
	n.layout.each(func(b Block, lo int) {
		if !b.OneHot {
			return
		}
		logits := n.be.New(marginalDraws, b.Width)
		n.be.Gemm(false, false, 1, h, w.Slice(0, w.Rows, lo, lo+b.Width), 0, logits)
		fitLevelBiases(biases[lo:lo+b.Width], toHost(n.be, logits, nil), p[lo:lo+b.Width])
	})
}

// fitLevelBiases solves mean softmax(logits + biases) = p by iterative scaling, which increases the
// likelihood in every round (Darroch and Ratcliff, "Generalized Iterative Scaling for Log-Linear
// Models", 1972).
func fitLevelBiases(biases []float32, logits device.Matrix, p []float64) {
	want, b := levelShares(p), make([]float64, len(p))
	mean, row := make([]float64, len(p)), make([]float64, len(p))
	for range levelRounds {
		clear(mean)
		for i := range logits.Rows {
			addSoftmax(mean, row, logits.Row(i), b, 1/float64(logits.Rows))
		}
		gap := 0.0
		for j := range b {
			b[j] += math.Log(want[j] / max(mean[j], leastMean/2))
			gap = max(gap, math.Abs(want[j]-mean[j])/want[j])
		}
		if gap <= 1e-6 {
			break
		}
	}
	for j := range b {
		biases[j] = float32(b[j])
	}
}

// levelRounds bounds the rounds of iterative scaling.
const levelRounds = 500

// levelShares returns the frequencies of levels, kept away from 0 and divided by their sum.
func levelShares(p []float64) []float64 {
	out, total := make([]float64, len(p)), 0.0
	for j, v := range p {
		if !(v > leastMean) {
			v = leastMean
		}
		out[j] = min(v, 1)
		total += out[j]
	}
	for j := range out {
		out[j] /= total
	}
	return out
}

// addSoftmax adds weight times softmax(logits + biases) to dst. A logit that is not finite counts
// as 0, as in fitBias.
func addSoftmax(dst, row []float64, logits []float32, biases []float64, weight float64) {
	top := math.Inf(-1)
	for j, v := range logits {
		row[j] = float64(v)
		if row[j] != row[j] || math.IsInf(row[j], 0) {
			row[j] = 0
		}
		row[j] += biases[j]
		top = max(top, row[j])
	}
	sum := 0.0
	for j := range row {
		row[j] = math.Exp(row[j] - top)
		sum += row[j]
	}
	for j := range row {
		dst[j] += weight * row[j] / sum
	}
}

// stratified assigns a shift to every draw. All shifts occur about equally often, in an order that
// is independent of the draws.
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

// fitBias solves mean σ(logit + bias) = p by Newton's method. Every step narrows a bracket of the
// solution, since the mean increases in the bias.
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
	lo, hi := logit-most, logit-least // bias lo gives means ≤ p, bias hi means ≥ p
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
