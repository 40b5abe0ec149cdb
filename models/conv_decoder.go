package models

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// ConvDecoder describes a network from codes to images. Its dense layers output an image with
// Maps[0] channels. Its sides are Height and Width, halved len(Maps) times. Then come len(Maps)
// steps. Each step doubles the sides and applies a convolution: if Size is odd, by bilinear
// interpolation before the convolution; if it is even, by a transposed convolution of stride 2.
//
// Shapes: codes have the number of coordinates given to NewGenerator; images are
// Height·Width·Channels numbers, with the channels of a pixel adjacent. Height and Width must be
// multiples of 2^len(Maps).
type ConvDecoder struct {
	Height     int        `json:"height"`
	Width      int        `json:"width"`
	Channels   int        `json:"channels"`         // 1 for grey, 3 for colours
	Hidden     []int      `json:"hidden,omitempty"` // widths of the dense layers before the first map
	Maps       []int      `json:"maps"`             // channels before each doubling
	Size       int        `json:"size"`             // side of the windows
	Activation Activation `json:"activation"`       // of all layers except the last
	// Output is the function of the last layer: Sigmoid for pixels in [0,1], Tanh for pixels in
	// [−1,1].
	Output device.Func `json:"output"`
	// BatchNorm normalises every layer except the last over the batch. Set it only for generators
	// that see records only through a private release.
	BatchNorm bool `json:"batch_norm,omitempty"`
}

// Name returns "conv-decoder".
func (ConvDecoder) Name() string { return "conv-decoder" }

// Validate returns every mistake in the description, or nil if there is none.
//
// Errors: *param.Error values, joined.
func (a ConvDecoder) Validate() error {
	var c checker
	c.side("models.ConvDecoder.Channels", a.Channels)
	c.widths("models.ConvDecoder.Hidden", a.Hidden)
	c.OK(len(a.Maps) > 0 &&
		len(a.Maps) < 14, "models.ConvDecoder.Maps", a.Maps, "from 1 to 13 numbers of channels")
	for i, n := range a.Maps {
		c.side(fmt.Sprintf("models.ConvDecoder.Maps[%d]", i), n)
	}
	halvings := 1 << min(len(a.Maps), 14)
	multiple := fmt.Sprintf("a multiple of %d up to %d", halvings, maxSide)
	c.OK(a.Height > 0 && a.Height%halvings == 0 &&
		a.Height <= maxSide, "models.ConvDecoder.Height", a.Height, multiple)
	c.OK(a.Width > 0 && a.Width%halvings == 0 &&
		a.Width <= maxSide, "models.ConvDecoder.Width", a.Width, multiple)
	c.side("models.ConvDecoder.Size", a.Size)
	c.OK(a.Activation.known(), "models.ConvDecoder.Activation", int(a.Activation),
		"a constant of type models.Activation")
	// The derivative of the last function must be computable from the function's value.
	c.OK(slices.Contains([]device.Func{device.Identity, device.Tanh, device.Sigmoid, device.Softplus},
		a.Output), "models.ConvDecoder.Output", int(a.Output), "Identity, Tanh, Sigmoid or Softplus")
	return c.Err()
}

// sketch adds the layers to codes.
func (a ConvDecoder) sketch(latent int) *sketch {
	g := newSketch("decoder")
	g.gain = a.Activation.gain()
	k, f := len(a.Maps), a.Activation.fn()
	m := device.Image{Height: a.Height >> k, Width: a.Width >> k, Channels: a.Maps[0]}
	x := g.input(latent)
	for _, wide := range a.Hidden {
		x = g.normalised(f, a.BatchNorm, wide, func(f device.Func) *node { return g.dense(x, f, wide) })
	}
	x = g.normalised(f, a.BatchNorm, m.Channels, func(f device.Func) *node {
		return g.dense(x, f, m.Len())
	})
	for i := range a.Maps {
		maps, f, norm := a.Channels, a.Output, false
		if i+1 < k {
			maps, f, norm = a.Maps[i+1], a.Activation.fn(), a.BatchNorm
		} else {
			g.gain = 1
		}
		x = g.normalised(f, norm, maps, func(f device.Func) *node { return a.double(g, x, f, m, maps) })
		m = m.Doubled()
		m.Channels = maps
	}
	return g
}

// normalised adds a layer with function f, and batch norm before f if wanted.
func (g *sketch) normalised(f device.Func, norm bool, channels int,
	layer func(f device.Func) *node) *node {
	if !norm {
		return layer(f)
	}
	x := layer(device.Identity)
	return g.add(&batchNorm{gainUnit: gainUnit{x.width / channels, channels}, f: f}, x)
}

// double adds the units that turn images of the form m into images of twice the height and width,
// with maps channels.
func (a ConvDecoder) double(g *sketch, x *node, f device.Func, m device.Image, maps int) *node {
	twice := m.Doubled()
	large := device.Window{Image: twice, Size: a.Size, Stride: 1, Pad: a.Size / 2}
	large.Channels = maps
	if a.Size%2 == 0 {
		large.Stride, large.Pad = 2, a.Size/2-1
		return g.transposed(x, f, large, m.Channels)
	}
	x = g.add(&upSampleUnit{image: m}, x)
	if maps < m.Channels {
		// A convolution of stride 1 and its transpose differ only in the order of the weights. The
		// transpose is cheaper, because it makes patches of the image with fewer channels.
		return g.transposed(x, f, large, m.Channels)
	}
	large.Image = twice
	return g.convolve(x, f, large, maps)
}

// A decoder is the Generator of this package: a network from codes to records. It is trained on
// public noise, against a target that is already released or protected.
//
// Guarantee: none. A decoder is not a Network and has no per-example gradients: with batch
// normalisation, clipping such gradients would protect no record. A decoder must not be trained on
// private records.
type decoder struct{ *decoderState }

type decoderState struct{ *built }

// newDecoder draws weights from a public seed.
func newDecoder(be device.Backend, g *sketch, seed uint64) *decoder {
	for _, u := range g.norms() {
		u.start(be)
	}
	w := newWeights(be, g.done(), rand.New(rand.NewPCG(seed, 0x646563)))
	return &decoder{&decoderState{newBuilt(be, g.graph, w)}}
}

// Latent returns the number of coordinates of a code.
func (n *decoder) Latent() int { return n.g.nodes[0].width }

// Dim returns the length of an image as a vector: pixels times channels.
func (n *decoder) Dim() int { return n.g.last().width }

// Forward computes the images of a batch of codes for training. Batch norm uses the moments of this
// batch and adds them to the running average that Generate uses. The result is valid until the next
// call. The caller must not change codes before the next call.
//
// Shapes: codes is rows×Latent on the backend, the result rows×Dim.
func (n *decoder) Forward(codes device.Matrix) device.Matrix {
	n.tape.run(record{dense: codes}, codes.Rows)
	return n.tape.last()
}

// Backward adds to grad the gradient, summed over the batch, of a loss of the images that the last
// Forward returned. Unless dCodes is the zero Matrix, it sets dCodes to the derivative with respect
// to the codes.
//
// Shapes: delta, the derivative of the loss with respect to the images, is rows×Dim; grad has the
// shapes of Params.
func (n *decoder) Backward(delta device.Matrix, grad device.Params, dCodes device.Matrix) {
	t := n.tape
	if t.rows == 0 {
		return
	}
	n.be.Apply(device.Identity, t.lastDelta(), delta)
	t.dx = dCodes
	t.backward()
	t.AddWeightedSum(grad, nil)
}

// Generate sets dst to the images of codes. Each image depends on its own code only, because batch
// norm uses the average moments of the last batches of Forward. Generate is safe for concurrent use
// unless the network is being trained.
//
// Shapes: codes is rows×Latent and dst rows×Dim, both on the backend.
func (n *decoder) Generate(codes, dst device.Matrix) {
	t := n.idle()
	defer func() {
		t.forget() // the codes of a public encoder are private records
		n.pool.Put(t)
	}()
	for lo := 0; lo < codes.Rows; lo += sampleRows {
		hi := min(lo+sampleRows, codes.Rows)
		t.run(record{dense: codes.RowRange(lo, hi)}, hi-lo)
		n.be.Apply(device.Identity, dst.RowRange(lo, hi), t.last())
	}
}

// norms returns the graph's batchNorm units.
func (g *graph) norms() (list []*batchNorm) {
	for _, n := range g.nodes {
		if b, ok := n.unit.(*batchNorm); ok {
			list = append(list, b)
		}
	}
	return list
}

var errState = errors.New("models: the state does not fit this decoder")

// AppendState appends batch norm's running averages, which Generate needs in addition to the
// parameters.
func (n *decoder) AppendState(dst []byte) []byte {
	for _, b := range n.g.norms() {
		moments := make([]float32, 2*b.channels)
		n.be.Download(moments, b.running)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(b.batches))
		dst, _ = binary.Append(dst, binary.LittleEndian, moments) // numbers have a fixed size
	}
	return dst
}

// SetState restores the state that AppendState wrote.
//
// Errors: an error for a state of another length, or with a moment that is not finite or a negative
// number of batches.
func (n *decoder) SetState(state []byte) error {
	norms := n.g.norms()
	if _, want := n.g.sizes(); int64(len(state)) != want {
		return fmt.Errorf("%w: it has %d bytes; want %d", errState, len(state), want)
	}
	counts, moments := make([]int64, len(norms)), make([][]float32, len(norms))
	for i, b := range norms {
		moments[i] = make([]float32, 2*b.channels)
		for _, part := range []any{&counts[i], moments[i]} {
			size, _ := binary.Decode(state, binary.LittleEndian, part) // state is long enough
			state = state[size:]
		}
		for _, v := range moments[i] {
			if !(math.Abs(float64(v)) <= math.MaxFloat32) {
				return fmt.Errorf("%w: it has the moment %v; want a finite number", errState, v)
			}
		}
		if counts[i] < 0 {
			return fmt.Errorf("%w: it has %d batches; want 0 or more", errState, counts[i])
		}
	}
	for i, b := range norms {
		b.batches = counts[i]
		n.be.Upload(b.running, moments[i])
	}
	return nil
}
