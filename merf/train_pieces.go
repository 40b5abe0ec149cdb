package merf

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/rff"
)

// A piece holds features that a step compares: all features, a part of them, or a part of one of
// several joined embeddings. It also holds the released means of these features for each class.
//
// If the features are computed in stretches, the means have the order of the stretches.
type piece struct {
	features  rff.Embedding
	means     []device.Matrix
	weight    float32                // of the squared distance of these features
	batch     rff.BatchEmbedding     // features; nil if features are stored row by row
	retracing rff.RetracingEmbedding // features; nil if stretches is nil
	stretches []rff.Stretch
	encoder   *encoding // computes the codes that the features describe; nil for records
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

// encoding computes codes and pulls derivatives back through the encoder. Each network that is
// trained has its own.
type encoding struct {
	net models.Encoder
	dx  device.Matrix // derivative of the loss with respect to codes
}

// A selection is a part of the features of an embedding. All networks of a generator share it.
type selection struct {
	features rff.Embedding
	scale    float32                             // of these features within the embedding
	pick     func(mean []float32) []float32      // takes the mean of these features, without scale
	encoder  func(device.Backend) models.Encoder // makes a copy of the encoder; nil for none
}

// divide divides the features of an embedding into parts of about FeaturesPerStep features. A step
// compares one of the parts. A part has a selection for each of several joined embeddings.
//
// A step uses a part drawn uniformly. Its expected gradient is the gradient with all features, and
// it takes a fraction of the time.
func divide(e *Embedding, g GeneratorConfig) [][]selection {
	n := 1
	if f := g.FeaturesPerStep; f > 0 && f < e.Features() {
		n = max((e.Features()+f/2)/f, 1)
	}
	list := []rff.ScaledEmbedding{{Embedding: e.features, Scale: 1}}
	if compound, ok := e.features.(rff.CompoundEmbedding); ok {
		list = compound.Scaled()
	}
	parts := make([][]selection, n)
	from, different := 0, 1
	for _, whole := range list {
		if whole.Scale*whole.Scale == 0 { // its distance has the weight 0
			from += whole.Dim()
			continue
		}
		pieces := divisions(whole, from, n)
		different = max(different, len(pieces))
		for i := range parts {
			parts[i] = append(parts[i], pieces[i%len(pieces)])
		}
		from += whole.Dim()
	}
	return parts[:different]
}

// divisions returns n selections of the features of one embedding, which begin at the given feature
// of the whole. It returns a single selection of all of them if they cannot be divided.
func divisions(whole rff.ScaledEmbedding, from, n int) (list []selection) {
	inner, encoder := whole.Embedding, (func(device.Backend) models.Encoder)(nil)
	if l, ok := inner.(*learnedFeatures); ok {
		inner, encoder = l.inner, l.encoder.on
	}
	own := func(mean []float32) []float32 {
		out := make([]float32, whole.Dim())
		for i, v := range mean[from : from+whole.Dim()] {
			out[i] = v / whole.Scale
		}
		return out
	}
	if d, ok := inner.(rff.Divisible); ok && n > 1 {
		for _, part := range d.Divide(n) {
			list = append(list, selection{part, whole.Scale,
				func(mean []float32) []float32 { return part.Select(nil, own(mean)) }, encoder})
		}
	}
	if list == nil {
		list = []selection{{inner, whole.Scale, own, encoder}}
	}
	return list
}

// cut sets the pieces of every part.
func (t *training) cut(parts [][]selection) {
	encoders := make([]*encoding, len(parts[0])) // one for each joined embedding
	for _, part := range parts {
		var own []piece
		for i, s := range part {
			if s.encoder != nil && encoders[i] == nil {
				net := s.encoder(t.be)
				encoders[i] = &encoding{net, t.be.New(len(t.labels), net.Dim())}
			}
			own = append(own, t.pieceOf(s, encoders[i]))
		}
		t.choices = append(t.choices, own)
	}
}

func (t *training) pieceOf(s selection, encoder *encoding) piece {
	p := piece{features: s.features, weight: s.scale * s.scale, encoder: encoder}
	if b, ok := s.features.(rff.BatchEmbedding); ok && t.dx.Mem == nil {
		p.batch = b
	} else if r, ok := s.features.(rff.RetracingEmbedding); ok {
		p.retracing, p.stretches = r, r.Stretches(t.be)
	}
	for _, m := range t.target.means {
		row, values := t.be.New(1, s.features.Dim()), s.pick(m)
		if p.stretches != nil {
			inOrder := make([]float32, 0, len(values))
			for _, stretch := range p.stretches {
				inOrder = stretch.Select(inOrder, values)
			}
			values = inOrder
		}
		t.be.Upload(row, values)
		p.means = append(p.means, row)
	}
	return p
}

// draw returns the pieces that the next step compares.
func (t *training) draw() []piece {
	if len(t.choices) == 1 {
		return t.choices[0]
	}
	return t.choices[t.rng.IntN(len(t.choices))]
}
