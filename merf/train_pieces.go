package merf

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// A piece holds the features that one step compares: all features or a part of them. It also holds
// the released means of these features for each class.
//
// If the features are computed in stretches, the means have the order of the stretches.
type piece struct {
	features  rff.Embedding
	means     []device.Matrix
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

// divide divides the features of an embedding into parts of about FeaturesPerStep features, or
// returns nil if each step compares all features. All networks of a generator share the parts.
//
// A step uses a part drawn uniformly. Its expected gradient is the gradient with all features, and
// it takes a fraction of the time.
func divide(e *Embedding, g GeneratorConfig) []rff.Division {
	whole, ok := e.features.(rff.Divisible)
	if f := g.FeaturesPerStep; ok && f > 0 && f < e.Features() {
		if n := (e.Features() + f/2) / f; n > 1 {
			return whole.Divide(n)
		}
	}
	return nil
}

// cut sets the pieces: one for each part or, without parts, one piece with all features.
func (t *training) cut(parts []rff.Division) {
	for _, part := range parts {
		t.pieces = append(t.pieces, t.pieceOf(part, func(mean []float32) []float32 {
			return part.Select(nil, mean)
		}))
	}
	if t.pieces == nil {
		all := t.pieceOf(t.e.features, func(mean []float32) []float32 { return mean })
		t.pieces = append(t.pieces, all)
	}
}

func (t *training) pieceOf(e rff.Embedding, pick func(mean []float32) []float32) piece {
	p := piece{features: e}
	if r, ok := e.(rff.RetracingEmbedding); ok && t.batch == nil {
		p.retracing, p.stretches = r, r.Stretches(t.be)
	}
	for _, m := range t.target.means {
		row, values := t.be.New(1, e.Dim()), pick(m)
		if p.stretches != nil {
			inOrder := make([]float32, 0, len(values))
			for _, s := range p.stretches {
				inOrder = s.Select(inOrder, values)
			}
			values = inOrder
		}
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
