package merf

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// piece is features that a step compares, all or a part of them, and each class's released means of
// just those.
type piece struct {
	features rff.Embedding
	means    []device.Matrix
}

// cut sets the pieces: parts of about FeaturesPerStep features if they can be cut, or one of all.
//
// A step on a part that is drawn uniformly has the gradient of the whole in expectation, at a
// fraction of the time.
func (t *training) cut() {
	whole, ok := t.e.features.(rff.Divisible)
	if n := t.divisions(); ok && n > 1 {
		for _, part := range whole.Divide(n) {
			t.pieces = append(t.pieces, t.pieceOf(part, func(mean []float32) []float32 {
				return part.Select(nil, mean)
			}))
		}
	}
	if t.pieces == nil {
		all := t.pieceOf(t.e.features, func(mean []float32) []float32 { return mean })
		t.pieces = append(t.pieces, all)
	}
}

// divisions returns the number of parts that features are cut into.
func (t *training) divisions() int {
	if f := t.g.FeaturesPerStep; f > 0 {
		return (t.e.Features() + f/2) / f
	}
	return 1
}

func (t *training) pieceOf(e rff.Embedding, pick func(mean []float32) []float32) piece {
	p := piece{features: e}
	for _, m := range t.target.means {
		row := t.be.New(1, e.Dim())
		t.be.Upload(row, pick(m))
		p.means = append(p.means, row)
	}
	return p
}

// draw returns the piece that a step compares.
func (t *training) draw() piece {
	if len(t.pieces) == 1 {
		return t.pieces[0]
	}
	return t.pieces[t.rng.IntN(len(t.pieces))]
}
