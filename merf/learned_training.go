package merf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/records/retouch"
	"github.com/seed7ba64551/privgen/synth"
)

// Names of the stages of progress reports before the second release. They cost no privacy.
const (
	StageFirst   = "first generator"
	StageEncoder = "encoder"
)

const (
	firstNetworks = 2
	encoderBatch  = 100
	encoderRate   = 2e-3 // learning rate of Adam, which falls to 0
	distanceOf    = 1000 // records whose codes' distances set the length scale
)

// Numbers that distinguish the public random streams of learned features.
const (
	streamFirst   = 0x6669727374
	streamRecords = 0x696d61676573
	streamDistort = 0x6469737430
	streamEncoder = 0x656e636f6465
)

// generated trains networks against the first release and draws labelled records from them. It
// distorts images. All classes have equal probabilities.
func (w *work) generated(ctx context.Context, r *synth.Run, e *Embedding) (*records.Table, error) {
	l := w.config.Learned.withDefaults()
	g := w.config.Generator.withDefaults()
	g.Generators, g.Steps, g.Labels = firstNetworks, l.Steps, UniformLabels
	g.Seed += streamFirst
	m, err := newEnsemble(e, g, r.ReleaseBackend())
	if err != nil {
		return nil, err
	}
	for m.done < g.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.step()
		r.Report(StageFirst, m.done, g.Steps)
	}
	model, err := m.model()
	if err != nil {
		return nil, err
	}
	drawn, err := synth.NewGenerator(systemName, model, accountant.Guarantee{}).Sample(ctx, l.Records,
		synth.Means(), synth.Seed(w.config.Seed+streamRecords), synth.Unconstrained())
	if err != nil {
		return nil, err
	}
	if f, ok := drawn.(*records.Frame); ok {
		return f.Encoded(), nil
	}
	t, ok := drawn.(*records.Table)
	if !ok {
		return nil, fmt.Errorf("merf: generated records are %T, want a table", drawn)
	}
	if !t.Schema().IsImage() {
		return t, nil
	}
	return retouch.Distortion{Strength: l.Distort, Seed: w.config.Seed + streamDistort}.Apply(t)
}

// learnEncoder trains the encoder on generated records, and sets the length scale of its codes.
func (w *work) learnEncoder(ctx context.Context, r *synth.Run, t *records.Table) (*encoder, error) {
	l := &encoder{schema: w.config.Schema, settings: w.config.Learned.withDefaults()}
	be := r.ReleaseBackend()
	c, err := newClassifying(l, be, w.config.Seed+streamEncoder)
	if err != nil {
		return nil, err
	}
	n, batch := t.Len(), min(encoderBatch, t.Len())
	each := n / batch
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	rows := reader{unit: network.UnitOf(t.Schema())}
	rng := rand.New(rand.NewPCG(w.config.Seed, streamEncoder))
	for step := range l.settings.Epochs * each {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		i := step % each
		if i == 0 {
			rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		c.step(rows.gather(t, order[i*batch:(i+1)*batch]), step, l.settings.Epochs*each)
		r.Report(StageEncoder, step+1, l.settings.Epochs*each)
	}
	l.params = make([]float32, c.net.Params().Len())
	be.Download(l.params, c.net.Params().Flat)
	some := rows.read(t, 0, min(distanceOf, n))
	l.bandwidth = l.settings.Bandwidth * c.distance(some)
	if !goodBandwidth(l.bandwidth) { // all codes are equal: any length scale will do
		l.bandwidth = 1
	}
	return l, nil
}

// classifying is the training of an encoder with a linear classifier of its codes.
type classifying struct {
	be         device.Backend
	net        models.Encoder
	head       models.Generator
	nets       [2]models.Generator // net and head
	grad       [2]device.Params
	first      [2]device.Matrix // Adam's moments
	second     [2]device.Matrix
	delta, out device.Matrix // derivatives of codes and of the classifier's outputs
	host       []float32
}

func newClassifying(l *encoder, be device.Backend, seed uint64) (*classifying, error) {
	net, err := l.build(be, seed)
	if err != nil {
		return nil, err
	}
	classes := l.schema.Classes()
	head, err := models.MLP{}.NewGenerator(be, l.settings.Code, []models.Head{{Width: classes}}, seed)
	if err != nil {
		return nil, err
	}
	c := &classifying{be: be, net: net, head: head, nets: [2]models.Generator{net, head},
		delta: be.New(encoderBatch, l.settings.Code), out: be.New(encoderBatch, classes),
		host: make([]float32, encoderBatch*classes)}
	for i, n := range c.nets {
		c.grad[i] = device.NewParams(be, n.Params().Shapes...)
		c.first[i], c.second[i] = be.New(1, n.Params().Len()), be.New(1, n.Params().Len())
	}
	return c, nil
}

// step makes one step of Adam on the cross entropy of a batch.
func (c *classifying) step(b device.Batch, step, of int) {
	x := device.Colocate(c.be, b.Dense, c.out)
	codes := c.net.Forward(x)
	c.derive(c.head.Forward(codes), b.Labels)
	out, delta := c.out.RowRange(0, b.Rows), c.delta.RowRange(0, b.Rows)
	for i := range c.nets {
		c.be.Fill(c.grad[i].Flat, 0)
	}
	c.head.Backward(out, c.grad[1], delta)
	c.net.Backward(delta, c.grad[0], device.Matrix{})
	rate := encoderRate * (1 - float64(step)/float64(of))
	for i, n := range c.nets {
		c.be.Adam(n.Params().Flat, c.grad[i].Flat, c.first[i], c.second[i],
			device.AdamStep{LR: float32(rate), Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: step + 1})
	}
}

// derive sets out to the derivative of the mean cross entropy with respect to the scores.
func (c *classifying) derive(scores device.Matrix, labels []int32) {
	n, classes := scores.Rows, scores.Cols
	host := c.host[:n*classes]
	c.be.Download(host, scores)
	for i, label := range labels {
		row := host[i*classes : (i+1)*classes]
		top, sum := math.Inf(-1), 0.0
		for _, v := range row {
			top = max(top, float64(v))
		}
		for _, v := range row {
			sum += math.Exp(float64(v) - top)
		}
		for k, v := range row {
			p := math.Exp(float64(v)-top) / sum
			if k == int(label) {
				p--
			}
			row[k] = float32(p / float64(n))
		}
	}
	c.be.Upload(c.out.RowRange(0, n), host)
}

// distance returns the mean distance between the codes of the first and the second half of a batch.
func (c *classifying) distance(b device.Batch) float64 {
	codes := c.be.New(b.Rows, c.net.Dim())
	c.net.Generate(device.Colocate(c.be, b.Dense, c.out), codes)
	host, dim, half := make([]float32, b.Rows*codes.Cols), codes.Cols, b.Rows/2
	c.be.Download(host, codes)
	total := 0.0
	for i := range half {
		sum := 0.0
		for k := range dim {
			d := float64(host[i*dim+k]) - float64(host[(i+half)*dim+k])
			sum += d * d
		}
		total += math.Sqrt(sum) / float64(half)
	}
	return total
}
