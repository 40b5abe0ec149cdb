package merf

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// piece is some of the features, and the released means of each class of just those.
type piece struct {
	features    rff.FeaturePart
	means       []device.Matrix
	sums, pulls device.Matrix // classes × features
}

// divide cuts the features into parts of about FeaturesPerStep, if they can be cut.
//
// A step on one part, drawn uniformly, has the gradient of the whole in expectation, up to a factor
// that Adam takes out, at a fraction of the time.
func (t *training) divide() {
	whole, ok := t.e.features.(rff.Divisible)
	if !ok {
		return
	}
	n := 1
	if f := t.g.FeaturesPerStep; f > 0 {
		n = max((whole.Dim()+f/2)/f, 1)
	}
	most := 0
	for _, f := range whole.Divide(n) {
		most = max(most, f.Dim())
		classes := len(t.target.means)
		p := piece{features: f, sums: t.be.New(classes, f.Dim()), pulls: t.be.New(classes, f.Dim())}
		for _, m := range t.target.means {
			row := t.be.New(1, f.Dim())
			t.be.Upload(row, f.Select(nil, m))
			p.means = append(p.means, row)
		}
		t.pieces = append(t.pieces, p)
	}
	t.features = t.be.New(len(t.labels), most)
}

// pick draws the part that a step compares.
func (t *training) pick() int {
	if len(t.pieces) == 1 {
		return 0
	}
	return t.rng.IntN(len(t.pieces))
}

// deriveByPiece sets dx to the derivative of the loss by the batch's records through one part of the
// features. All records' features have one norm, so the pull of a record on itself does nothing.
func (t *training) deriveByPiece(x device.Matrix, p piece) {
	batch := t.features.Slice(0, x.Rows, 0, p.features.Dim())
	p.features.Transform(t.be, x, batch)
	each := float32(t.each)
	for c, target := range p.means {
		sum, pull := p.sums.RowRange(c, c+1), p.pulls.RowRange(c, c+1)
		t.be.ColSums(nil, batch.RowRange(c*t.each, (c+1)*t.each), 0, sum)
		scale := 2 * t.target.weight[c] / each
		t.be.Fill(pull, 0)
		t.be.Axpy(scale/(each-1), sum, pull)
		t.be.Axpy(-scale, target, pull)
	}
	p.features.Backward(t.be, batch, p.pulls, t.dx)
}
