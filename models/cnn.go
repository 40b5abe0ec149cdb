package models

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// Convolution describes one convolutional layer.
type Convolution struct {
	Maps   int `json:"maps"`             // output channels
	Size   int `json:"size"`             // side of its square window, in pixels
	Stride int `json:"stride,omitempty"` // pixels from one place to the next; 0 means 1
	Pad    int `json:"pad,omitempty"`    // zeros around the image
}

// over returns the layer's window over images of the form m.
func (l Convolution) over(m device.Image) device.Window {
	return device.Window{Image: m, Size: l.Size, Stride: max(l.Stride, 1), Pad: l.Pad}
}

// CNN describes a convolutional network for images: convolutions, each followed by the activation,
// then dense layers as in MLP. Strided convolutions replace pooling.
//
// A CNN has no batch normalisation: a network that is trained privately must not mix records.
//
// Shapes: a record is an image, stored row by row, with the channels of a pixel adjacent.
type CNN struct {
	Height       int           `json:"height"`
	Width        int           `json:"width"`
	Channels     int           `json:"channels"` // 1 for grey, 3 for colours
	Convolutions []Convolution `json:"convolutions"`
	Hidden       []int         `json:"hidden"` // widths of the dense hidden layers
	Activation   Activation    `json:"activation"`
}

// Name returns "cnn".
func (CNN) Name() string { return "cnn" }

// maxSide bounds the sides of images, windows and layers, so sizes stay far from overflowing.
const maxSide = 1 << 14

func (c *checker) side(path string, n int) {
	c.OK(n > 0 && n <= maxSide, path, n, fmt.Sprintf("an integer from 1 to %d", maxSide))
}

// Validate reports every mistake in the description, or nil if there is none.
//
// Errors: *param.Error values, joined.
func (a CNN) Validate() error {
	var c checker
	c.side("models.CNN.Height", a.Height)
	c.side("models.CNN.Width", a.Width)
	c.side("models.CNN.Channels", a.Channels)
	c.OK(len(a.Convolutions) <= mostLayers, "models.CNN.Convolutions", len(a.Convolutions),
		"at most 256 layers")
	for i, l := range a.Convolutions[:min(len(a.Convolutions), mostLayers)] {
		c.convolution(fmt.Sprintf("models.CNN.Convolutions[%d]", i), l)
	}
	c.widths("models.CNN.Hidden", a.Hidden)
	c.OK(a.Activation.known(), "models.CNN.Activation", int(a.Activation),
		"a constant of type models.Activation")
	if c.Err() == nil {
		c.windows(a)
	}
	return c.Err()
}

func (c *checker) convolution(path string, l Convolution) {
	c.side(path+".Maps", l.Maps)
	c.side(path+".Size", l.Size)
	c.OK(l.Stride >= 0 &&
		l.Stride <= maxSide, path+".Stride", l.Stride, "a non-negative integer, 0 meaning 1")
	c.OK(l.Pad >= 0 &&
		l.Pad < max(l.Size, 1), path+".Pad", l.Pad, "a non-negative integer less than Size")
}

// windows checks that every window fits into the output image of the layer before it.
func (c *checker) windows(a CNN) {
	m := a.image()
	for i, l := range a.Convolutions {
		w := l.over(m)
		side := min(m.Height, m.Width) + 2*l.Pad
		path := fmt.Sprintf("models.CNN.Convolutions[%d].Size", i)
		c.OK(l.Size <= side, path, l.Size,
			fmt.Sprintf("at most the %d pixels that earlier layers leave", side))
		if w.Places() == 0 {
			return
		}
		m.Height, m.Width = w.Grid()
		m.Channels = l.Maps
	}
}

// imageLen returns the number of numbers in an image, as text for errors.
func (a CNN) imageLen() string {
	return fmt.Sprintf("%d: Height·Width·Channels", a.image().Len())
}

func (a CNN) image() device.Image {
	return device.Image{Height: a.Height, Width: a.Width, Channels: a.Channels}
}

// Classifier builds a network that classifies images, with weights drawn from a public seed. The
// network can be trained privately: norms and weighted sums of per-example gradients come from
// patches and deltas, and one record's gradient never depends on another record.
//
// Shapes: in must be Height·Width·Channels.
//
// Errors: joined *param.Error values.
func (a CNN) Classifier(be device.Backend, in, classes int, seed uint64) (*Classifier, error) {
	var c checker
	c.OK(be != nil, "models.CNN.Classifier", be, "a backend")
	c.Add(a.Validate())
	c.OK(in == a.image().Len(), "models.CNN.Classifier: in", in, a.imageLen())
	c.positive("models.CNN.Classifier: classes", classes)
	if err := c.Err(); err != nil {
		return nil, err
	}
	g := newSketch("cnn")
	h := a.hidden(g, g.input(in), a.Activation.fn(), false)
	g.end(crossEntropy{}, g.dense(h, device.Identity, classes))
	return newClassifier(be, g.done(), classes, rand.New(rand.NewPCG(seed, 0x636e6e))), nil
}

// hidden adds all layers except the last to x. If f is apart, it is a unit of its own.
func (a CNN) hidden(g *sketch, x *node, f device.Func, apart bool) *node {
	m := a.image()
	g.gain = a.Activation.gain()
	for _, c := range a.Convolutions {
		w := c.over(m)
		x = g.then(f, apart, func(f device.Func) *node { return g.convolve(x, f, w, c.Maps) })
		m.Height, m.Width = w.Grid()
		m.Channels = c.Maps
	}
	for _, wide := range a.Hidden {
		x = g.then(f, apart, func(f device.Func) *node { return g.dense(x, f, wide) })
	}
	g.gain = 1
	return x
}

// then adds a layer with function f, as a unit of its own if f is apart.
func (g *sketch) then(f device.Func, apart bool, layer func(f device.Func) *node) *node {
	if !apart {
		return layer(f)
	}
	return g.apply(f, layer(device.Identity))
}
