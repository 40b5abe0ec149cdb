package merf

import (
	"context"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/synth"
)

// encoderHeader describes a learned encoder in a checkpoint or an embedding's file. The parameters
// are in a section of the file.
type encoderHeader struct {
	Bandwidth float64 `json:"encoder_bandwidth,omitempty"` // 0 if nothing has been learned
}

// encoded returns the header of an embedding's encoder.
func (e *Embedding) encoded() encoderHeader {
	if e.config.encoder == nil {
		return encoderHeader{}
	}
	return encoderHeader{e.config.encoder.bandwidth}
}

// checkEncoder checks what a file states about learned features.
func (c Config) checkEncoder(h embeddingHeader) error {
	if !(h.Share > 0 && h.Share < 1) || !goodBandwidth(h.Bandwidth) || h.Learned.none() {
		return fmt.Errorf("learned features with a share of %v and a length scale of %v; want a share "+
			"in (0, 1) and a positive length scale", h.Share, h.Bandwidth)
	}
	return c.validateLearned()
}

// learning is the state of learning an encoder.
type learning struct {
	work    *work
	encoder *encoder // nil before it is learned
}

// file returns the state for a checkpoint.
func (l *learning) file() (*synth.File, error) {
	return synth.NewFile(encoderHeader{l.encoder.bandwidth}, l.encoder.part())
}

// RestoreFrom reads an encoder from a checkpoint, which may also be of the training that follows.
//
// Errors: synth.ErrFormat.
func (l *learning) RestoreFrom(f *synth.File) error {
	var h stateHeader
	if err := f.Decode(&h); err != nil || h.Bandwidth == 0 {
		return err
	}
	if !goodBandwidth(h.Bandwidth) {
		return synth.Malformed(fmt.Errorf("the length scale %v; want a positive number", h.Bandwidth))
	}
	c := l.work.config
	l.encoder = &encoder{schema: c.Schema, settings: c.Learned.withDefaults(), bandwidth: h.Bandwidth}
	return f.Load(l.encoder.part())
}

// learn learns an encoder from the first release, and makes the second release. It returns the
// embedding of both.
//
// An interrupted run that had not completed the encoder learns it again, from the same release and
// the same seeds. A completed encoder is in the checkpoint before the second release is drawn.
func (w *work) learn(ctx context.Context, r *synth.Run, first *Embedding) (*Embedding, error) {
	l := &learning{work: w}
	if err := r.Restore(l); err != nil {
		return nil, err
	}
	if l.encoder == nil {
		images, err := w.generated(ctx, r, first)
		if err != nil {
			return nil, err
		}
		if l.encoder, err = w.learnEncoder(ctx, r, images); err != nil {
			return nil, err
		}
		r.Keep(l.file)
		if err := r.Save(); err != nil {
			return nil, err
		}
	}
	second, err := w.describing(l.encoder)
	if err != nil {
		return nil, err
	}
	size := classesOf(w.config.Schema) * second.features.Dim()
	out, err := second.draw(r, PurposeLearned, []int{size},
		func(second *work, r *synth.Run) (*Partial, error) {
			return r.Read(ctx, synth.Pass{Purpose: PurposeLearned, State: l.encoder.state()})
		})
	if err != nil {
		return nil, err
	}
	return first.joined(l.encoder, out[0], second.noise.sum*r.Wider(PurposeLearned))
}

// describing returns the work of the second release.
func (w *work) describing(l *encoder) (*work, error) {
	second := &work{config: w.config, noise: w.config.learnedNoise()}
	joint := l.joint(w.config.Kernel, 0.5) // every share has the same features
	var err error
	second.features, err = l.Embedding(layout(w.config.Schema),
		w.config.Seed+uint64(len(joint.Parts)-1))
	if err != nil {
		return nil, err
	}
	second.pass, err = partial.NewPass(w.pass.String(),
		synth.Pass{Purpose: PurposeLearned, State: l.state()})
	return second, err
}

// joined returns the embedding of both releases. It scales their sums such that the noise on every
// coordinate is the same, and such that the squared factors add up to 1.
func (e *Embedding) joined(l *encoder, sums []float64, std float64) (*Embedding, error) {
	first, second := 1/(e.noise.sum*e.noise.sum), 1/(std*std)
	c := e.config
	c.encoder, c.share = l, shareOfLearned(e.noise.sum, std)
	features, err := c.features()
	if err != nil {
		return nil, err
	}
	out := &Embedding{config: c, features: features, counts: e.counts, guarantee: e.guarantee,
		noise: noise{sum: 1 / math.Sqrt(first+second), count: e.noise.count}}
	a, b := math.Sqrt(1-c.share), math.Sqrt(c.share)
	dim, own := e.Features(), len(sums)/e.Classes()
	for class := range e.Classes() {
		for _, v := range e.sum(class) {
			out.sums = append(out.sums, a*v)
		}
		for _, v := range sums[class*own : (class+1)*own] {
			out.sums = append(out.sums, b*v)
		}
	}
	if features.Dim() != dim+own {
		return nil, fmt.Errorf("merf: %d joint features of %d and %d", features.Dim(), dim, own)
	}
	return out, nil
}
