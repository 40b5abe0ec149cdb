package merf

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// A piece holds features that a step compares: all features, or a part of them. It also holds the
// released means of these features for each class.
//
// If the features are computed in stretches, the means have the order of the stretches.
type piece struct {
	features  rff.Embedding
	means     []device.Matrix
	batch     rff.BatchEmbedding     // features; nil if features are stored row by row
	retracing rff.RetracingEmbedding // features; nil if stretches is nil
	stretches []rff.Stretch
}

// width returns the number of features that are stored at a time.
func (p *piece) width() int {
	if p.stretches == nil {
		return p.features.Dim()
	}
	most := 0
	for _, s := range p.stretches {
		most = max(most, s.Dim())
	}
	return most
}

// divide divides the features of an embedding into parts of about FeaturesPerStep features. It
// returns nil if they are not divided. All networks of a generator share the parts.
//
// A step uses a part drawn uniformly. Its expected gradient is the gradient with all features, and
// it takes a fraction of the time.
func divide(e *Embedding, g GeneratorConfig) []rff.Division {
	f := g.FeaturesPerStep
	if f <= 0 || f >= e.Features() {
		return nil
	}
	n := max((e.Features()+f/2)/f, 1)
	if d, ok := e.features.(rff.Divisible); ok && n > 1 {
		return d.Divide(n)
	}
	return nil
}

// cut sets the pieces: one for each part, or one of all features if there are no parts.
func (t *training) cut(parts []rff.Division) {
	for _, p := range parts {
		var means [][]float32
		for _, m := range t.target.means {
			means = append(means, p.Select(nil, m))
		}
		t.pieces = append(t.pieces, t.pieceOf(p, means))
	}
	if len(parts) == 0 {
		t.pieces = []piece{t.pieceOf(t.e.features, t.target.means)}
	}
}

// pieceOf returns a piece of the given features and their means.
func (t *training) pieceOf(features rff.Embedding, means [][]float32) piece {
	p := piece{features: features}
	if b, ok := features.(rff.BatchEmbedding); ok && t.dx.Mem == nil {
		p.batch = b
	} else if r, ok := features.(rff.RetracingEmbedding); ok {
		p.retracing, p.stretches = r, r.Stretches(t.be)
	}
	for _, values := range means {
		if p.stretches != nil {
			inOrder := make([]float32, 0, len(values))
			for _, stretch := range p.stretches {
				inOrder = stretch.Select(inOrder, values)
			}
			values = inOrder
		}
		row := t.be.New(1, features.Dim())
		t.be.Upload(row, values)
		p.means = append(p.means, row)
	}
	return p
}

// draw returns the piece that the next step compares.
func (t *training) draw() piece {
	if len(t.pieces) == 1 {
		return t.pieces[0]
	}
	return t.pieces[t.rng.IntN(len(t.pieces))]
}
