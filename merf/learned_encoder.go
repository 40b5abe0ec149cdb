package merf

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// encoder is the kernel of learned features: the parameters of a trained network, and the length
// scale of the Gaussian kernels on its codes. It is a function of the first release and of public
// seeds. It does not change.
type encoder struct {
	schema    records.Schema
	settings  Learned // with defaults
	bandwidth float64
	params    []float32
}

// size returns the number of parameters, and the number of products that a code takes. It allocates
// no network, since settings may come from a file.
func (l *encoder) size() (params, products int) {
	width, hidden := l.schema.Dim(), hiddenOfRows
	if l.schema.IsImage() {
		a := imageNetwork(l.schema)
		m := device.Image{Height: a.Height, Width: a.Width, Channels: a.Channels}
		for _, c := range a.Convolutions {
			w := device.Window{Image: m, Size: c.Size, Stride: c.Stride, Pad: c.Pad}
			params += (w.Patch() + 1) * c.Maps
			products += w.Places() * w.Patch() * c.Maps
			m.Height, m.Width = w.Grid()
			m.Channels = c.Maps
		}
		width, hidden = m.Len(), a.Hidden
	}
	for _, wide := range append(slices.Clone(hidden), l.settings.Code) {
		params += (width + 1) * wide
		products += width * wide
		width = wide
	}
	return params, products
}

// part returns the file's part for the parameters.
func (l *encoder) part() synth.Part {
	n, _ := l.size()
	return synth.Part32("encoder", &l.params, n)
}

// build returns an untrained network, or an error if the settings do not fit the schema.
func (l *encoder) build(be device.Backend, seed uint64) (models.Encoder, error) {
	if l.schema.IsImage() {
		return imageNetwork(l.schema).Encoder(be, l.schema.Dim(), l.settings.Code, seed)
	}
	return models.MLP{Hidden: hiddenOfRows}.Encoder(be, l.schema.Dim(), l.settings.Code, seed)
}

// on returns a copy of the trained network on a backend.
func (l *encoder) on(be device.Backend) models.Encoder {
	net, err := l.build(be, 0)
	if err != nil {
		panic(fmt.Sprintf("merf: an encoder that was not checked: %v", err))
	}
	be.Upload(net.Params().Flat, l.params)
	return net
}

// state encodes the encoder as the state of a pass over records.
func (l *encoder) state() []byte {
	state := binary.LittleEndian.AppendUint64(nil, math.Float64bits(l.bandwidth))
	return append(state, synth.Floats32(l.params)...)
}

// readState decodes an encoder that state encoded. It reports whether the state has the form that
// state returns.
func (l *encoder) readState(state []byte) bool {
	n, _ := l.size()
	if len(state) != 8+4*n {
		return false
	}
	l.bandwidth = math.Float64frombits(binary.LittleEndian.Uint64(state))
	var err error
	l.params, err = synth.ReadFloats32(state[8:], n)
	return err == nil && goodBandwidth(l.bandwidth)
}

func goodBandwidth(x float64) bool { return x >= leastBandwidth && x <= mostBandwidth }

// The bounds keep frequencies far from overflow.
const leastBandwidth, mostBandwidth = 0x1p-50, 0x1p50

// spreadOfScales is the ratio of the longest length scale of the kernels on codes to the mean one,
// and of the mean one to the shortest.
const spreadOfScales = 1.7

// Embedding implements rff.EmbeddingKernel.
func (l *encoder) Embedding(_ rff.Layout, seed uint64) (rff.Embedding, error) {
	k := rff.Scales{Dim: l.settings.Features, Low: l.bandwidth / spreadOfScales,
		High: l.bandwidth * spreadOfScales}
	inner, err := k.Embedding(rff.Layout{In: l.settings.Code}, seed)
	if err != nil {
		return nil, err
	}
	return &learnedFeatures{encoder: l, inner: inner}, nil
}

// learnedFeatures are random features of codes. It is safe for concurrent use.
type learnedFeatures struct {
	encoder *encoder
	inner   rff.Embedding

	mu   sync.Mutex
	nets []placedEncoder
	pull device.Matrix
}

// mostPlaced bounds the number of backends on which copies are kept.
const mostPlaced = 8

type placedEncoder struct {
	be  device.Backend
	net models.Encoder
}

// on returns the network on a backend.
func (e *learnedFeatures) on(be device.Backend) models.Encoder {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.placed(be)
}

func (e *learnedFeatures) placed(be device.Backend) models.Encoder {
	for _, p := range e.nets {
		if p.be == be {
			return p.net
		}
	}
	net := e.encoder.on(be)
	if len(e.nets) == mostPlaced {
		e.nets = e.nets[1:]
	}
	e.nets = append(e.nets, placedEncoder{be, net})
	return net
}

func (e *learnedFeatures) In() int              { return e.encoder.schema.Dim() }
func (e *learnedFeatures) Dim() int             { return e.inner.Dim() }
func (e *learnedFeatures) NormBound() float64   { return e.inner.NormBound() }
func (e *learnedFeatures) ChangeBound() float64 { return e.inner.ChangeBound() }

// Transform computes the features of each record's code.
func (e *learnedFeatures) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	if b.Rows == 0 {
		return
	}
	x := b.Dense
	if b.Sparse != nil {
		x = spread01(be, b)
	}
	net := e.on(be)
	codes := be.New(b.Rows, net.Dim())
	net.Generate(device.Colocate(be, x, dst), codes)
	e.inner.Transform(be, device.Batch{Rows: b.Rows, Dense: codes}, dst)
	be.Fill(codes, 0)
}

// Backward propagates derivatives through the features and then through the network.
func (e *learnedFeatures) Backward(be device.Backend, x, delta, dx device.Matrix) {
	e.mu.Lock()
	defer e.mu.Unlock()
	net := e.placed(be)
	if e.pull.Rows < x.Rows {
		e.pull = be.New(x.Rows, net.Dim())
	}
	pull := e.pull.RowRange(0, x.Rows)
	e.inner.Backward(be, net.Forward(x), delta, pull)
	net.PullBack(pull, dx)
}
