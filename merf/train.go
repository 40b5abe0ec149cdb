package merf

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// StageTrain is the name of the stage that trains a generator. This stage costs no privacy.
const StageTrain = "generator"

// Train trains a generator against a released embedding: the mean features of its records approach
// the released means of every class.
//
// Guarantee: training uses the embedding only, so the generator has the embedding's guarantee at no
// further cost. This holds for any number of generators. Errors: *param.Error values, joined;
// ctx.Err().
func Train(ctx context.Context, e *Embedding, g GeneratorConfig,
	opts ...synth.Option) (*synth.Generator, error) {
	if e == nil || e.features == nil {
		return nil, param.New("merf.Train.embedding", nil, "a released embedding")
	}
	r, err := synth.FreeRun(e.guarantee, opts...)
	if err != nil {
		return nil, err
	}
	m, err := train(ctx, r, e, g)
	if err != nil {
		return nil, err
	}
	return synth.NewGenerator(systemName, m, e.guarantee), nil
}

func train(ctx context.Context, r *synth.Run, e *Embedding,
	g GeneratorConfig) (synth.Model, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	g = g.withDefaults()
	t, err := newEnsemble(e, g, r.ReleaseBackend())
	if err != nil {
		return nil, err
	}
	if err := r.Restore(t); err != nil {
		return nil, err
	}
	r.Keep(t.file)
	for t.done < g.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.step()
		r.Report(StageTrain, t.done, g.Steps)
		if err := r.Tick(); err != nil {
			return nil, err
		}
	}
	if err := r.Save(); err != nil { // finishing the training changes the state of batch norm
		return nil, err
	}
	r.Keep(nil)
	return t.model()
}

// training is the state of training one network. Steps after the first allocate no matrices.
type training struct {
	e      *Embedding
	g      GeneratorConfig
	be     device.Backend
	net    models.Generator
	source *rand.PCG
	rng    *rand.Rand // draws from source
	each   int        // records of each class in a batch
	labels []int32    // of a batch
	codes  network.Codes
	target target

	grad, average device.Params
	first, second device.Matrix // Adam's moments
	dx            device.Matrix
	pieces        []piece       // parts of the features; a step compares one of them
	features      device.Matrix // of the batch; then the loss gradient in them
	mean, pull    device.Matrix // sum of one class; pull (see aim) of each class
	own           []float32     // of each class; see aim
	factors       []float32
}

// newTraining prepares the training of one network on the given parts of the features.
func newTraining(e *Embedding, parts []rff.Division, g GeneratorConfig,
	be device.Backend) (*training, error) {
	net, err := g.network(be, e.config.Schema)
	if err != nil {
		return nil, err
	}
	t := &training{e: e, g: g, be: be, net: net, source: rand.NewPCG(g.Seed, 0x6d657266),
		target: e.target(g.Floor), codes: codesOf(be, g.Latent, e.config.Schema)}
	t.rng = rand.New(t.source)
	t.each = max(g.Batch/e.Classes(), 2)
	rows, p := t.each*e.Classes(), net.Params()
	for i := range rows {
		t.labels = append(t.labels, int32(i/t.each))
	}
	t.grad, t.average = device.NewParams(be, p.Shapes...), device.NewParams(be, p.Shapes...)
	be.Apply(device.Identity, t.average.Flat, p.Flat)
	t.first, t.second = be.New(1, p.Len()), be.New(1, p.Len())
	t.dx = be.New(rows, net.Dim())
	t.cut(parts)
	most, stored := 0, 0
	for _, p := range t.pieces {
		most = max(most, p.width())
		if p.batch == nil {
			stored = max(stored, p.width())
		}
	}
	t.features = be.New(rows, stored)
	t.mean, t.pull = be.New(1, most), be.New(e.Classes(), most)
	t.own, t.factors = make([]float32, e.Classes()), make([]float32, t.each)
	return t, nil
}

// step makes one training step.
func (t *training) step(step int) {
	x := t.net.Forward(t.codes.Draw(t.rng, t.labels))
	t.derive(x, t.draw())
	t.be.Fill(t.grad.Flat, 0)
	t.net.Backward(t.dx, t.grad, device.Matrix{})
	t.move(step)
}

// derive sets dx to the derivative of a piece's loss with respect to the batch's records.
func (t *training) derive(x device.Matrix, p piece) {
	switch {
	case p.batch != nil:
		t.deriveByClass(x, p)
	case p.stretches != nil:
		t.deriveByStretch(x, p)
	default:
		t.deriveByRow(x, p)
	}
}

// deriveByRow stores the features of every row of x.
func (t *training) deriveByRow(x device.Matrix, p piece) {
	dim := p.features.Dim()
	features, mean := t.features.Slice(0, x.Rows, 0, dim), t.mean.Slice(0, 1, 0, dim)
	pulls := t.pull.Slice(0, len(p.means), 0, dim)
	p.features.Transform(t.be, device.Batch{Rows: x.Rows, Dense: x}, features)
	for c, target := range p.means {
		t.be.ColSums(nil, features.RowRange(c*t.each, (c+1)*t.each), 0, mean)
		t.own[c] = t.aim(c, mean, target, pulls.RowRange(c, c+1))
	}
	for c, own := range t.own {
		f := features.RowRange(c*t.each, (c+1)*t.each)
		for i := range t.factors {
			t.factors[i] = own
		}
		t.be.ScaleRows(f, t.factors)
		t.be.BiasApply(device.Identity, f, pulls.RowRange(c, c+1))
	}
	p.features.Backward(t.be, x, features, t.dx)
}

// deriveByStretch computes the result of deriveByRow, but stores only one stretch of the features
// at a time. The part own·φ of the derivative contributes nothing, because the features have
// constant norm.
func (t *training) deriveByStretch(x device.Matrix, p piece) {
	from := 0
	for i, s := range p.stretches {
		dim := s.Dim()
		features, mean := t.features.Slice(0, x.Rows, 0, dim), t.mean.Slice(0, 1, 0, dim)
		pulls := t.pull.Slice(0, len(p.means), 0, dim)
		p.retracing.Trace(t.be, s, x, features)
		for c, target := range p.means {
			t.be.ColSums(nil, features.RowRange(c*t.each, (c+1)*t.each), 0, mean)
			t.aim(c, mean, target.Slice(0, 1, from, from+dim), pulls.RowRange(c, c+1))
		}
		p.retracing.Retrace(t.be, s, features, pulls, t.each, float32(min(i, 1)), t.dx)
		from += dim
	}
}

// deriveByClass is deriveByRow, but does not store the features of single records.
func (t *training) deriveByClass(x device.Matrix, p piece) {
	dim := p.batch.Dim()
	mean, pull := t.mean.Slice(0, 1, 0, dim), t.pull.Slice(0, 1, 0, dim)
	for c, target := range p.means {
		lo, hi := c*t.each, (c+1)*t.each
		p.batch.Sum(t.be, x.RowRange(lo, hi), mean)
		own := t.aim(c, mean, target, pull)
		p.batch.PullBack(t.be, x.RowRange(lo, hi), pull, own, t.dx.RowRange(lo, hi))
	}
}

// aim computes the derivative of the loss with respect to the features φᵢ of a class's records from
// their sum. The derivative is pull + own·φᵢ; aim sets pull and returns own.
//
// In expectation, the mean of a batch is farther from the target than the generator's mean: the
// squared distance is larger by the variance of the batch mean. Minimising it would therefore
// reduce the diversity of the records. The following loss, which uses only products of two
// different records, has no such term:
//
//	w·( Σ_{i≠j} φᵢ·φⱼ / (B(B−1)) − 2 μ·Σ φᵢ/B ),
//
// Its derivative with respect to φᵢ is 2w/B·( (Σ φⱼ − φᵢ)/(B−1) − μ ).
//
// Source: Gretton et al. 2012, Lemma 6 (the unbiased statistic).
func (t *training) aim(class int, sum, target, pull device.Matrix) (own float32) {
	b := float32(t.each)
	scale := 2 * t.target.weight[class] / b
	t.be.Fill(pull, 0)
	t.be.Axpy(scale/(b-1), sum, pull)
	t.be.Axpy(-scale, target, pull)
	return -scale / (b - 1)
}

// move takes one step of Adam, with a learning rate that decreases exponentially, and updates the
// moving average. Convolutions have rates that decrease linearly, and moments of fewer steps.
func (t *training) move(step int) {
	p, done := t.net.Params().Flat, float64(step)/float64(t.g.Steps)
	s := device.AdamStep{LR: float32(t.g.LR * math.Pow(t.g.Decay, done)),
		Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: step + 1}
	if _, ok := t.g.Architecture.(models.ConvDecoder); ok {
		s.LR, s.Beta1, s.Beta2 = float32(t.g.LR*(1+(t.g.Decay-1)*done)), 0.5, 0.99
	}
	t.be.Adam(p, t.grad.Flat, t.first, t.second, s)
	keep := min(t.g.Average, float64(1+step)/float64(10+step))
	t.be.Sub(t.grad.Flat, p, t.average.Flat) // the gradient is no longer needed
	t.be.Axpy(float32(1-keep), t.grad.Flat, t.average.Flat)
}

// finish copies the average into the network and recomputes the statistics of batch norm.
func (t *training) finish() {
	t.be.Apply(device.Identity, t.net.Params().Flat, t.average.Flat)
	for range 40 {
		t.net.Forward(t.codes.Draw(t.rng, t.labels))
	}
}
