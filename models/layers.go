package models

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/enum"
	"github.com/seed7ba64551/privgen/param"
)

// LayerKind is the operation of a Layer.
type LayerKind int

const (
	// y = f(xW + b).
	DenseLayer LayerKind = iota
	// The same matrix at all places of Window: patches·W + b, Maps numbers a place, then f.
	ConvolutionLayer
	// The transpose of a convolution: x holds Maps numbers for each place of Window, x·W paints a
	// patch there, patches that overlap are added up, and then come b and f. W has Maps rows.
	TransposedLayer
	// An image of the form Image becomes one twice as high and wide, by UpSampling.
	EnlargingLayer
	// y = f((x − Centre)∘W + b), for each of as many channels as W has columns, which are the same at
	// all pixels.
	ScaleLayer
	// y = (x − mean)/√(variance + Epsilon), mean and variance those of one record's numbers.
	StandardLayer
	// y = f(x).
	FunctionLayer
	// Runs of numbers leave by Heads.
	HeadsLayer
)

var layerNames = enum.Names[LayerKind]{Type: "models.LayerKind", List: []string{
	DenseLayer: "dense", ConvolutionLayer: "convolution", TransposedLayer: "transposed convolution",
	EnlargingLayer: "enlarging", ScaleLayer: "scale", StandardLayer: "standard",
	FunctionLayer: "function", HeadsLayer: "heads",
}}

// String is the name.
func (k LayerKind) String() string { return layerNames.String(k) }

// A Layer is one step of a network from a row of In numbers to one of Out, described so that
// another program can take it: see connect/onnx. Only the fields that its Kind names are set.
// Images lie as [device.Image] says.
type Layer struct {
	Kind                 LayerKind
	In, Out              int
	Func                 device.Func // f
	Weight, Bias, Centre device.Matrix
	Window               device.Window
	Maps                 int
	Image                device.Image
	UpSampling           device.UpSampling
	Epsilon              float64
	Heads                []Head
}

// A Layered network is layers one after another: the generators, classifiers and critics of this
// package are. Of a VAE the layers are those of its decoder, from draws of the standard Gaussian
// prior to the means that Sample states. An RBM is not layered: its samples come from Gibbs sweeps.
//
// The layers are those of a generator's Generate, of a classifier's Predict, and of the outputs
// from which a critic's score is added up: one for all records and one for each class.
type Layered interface {
	// Layers are copies on the host, which share nothing with the network.
	Layers() []Layer
}

// LayersOf lists the layers of a network.
//
// Errors: *param.Error for a network that is not Layered, with its type.
func LayersOf(net any) ([]Layer, error) {
	n, ok := net.(Layered)
	if !ok {
		return nil, param.New("models.LayersOf", fmt.Sprintf("%T", net), "a network of layers")
	}
	return n.Layers(), nil
}

// Layers are those of Generate.
func (n *decoder) Layers() []Layer { return n.chain.layerList() }

// Layers are those of Predict.
func (n *Classifier) Layers() []Layer {
	list := n.body.layerList()
	return append(list, Layer{Kind: HeadsLayer, In: n.classes, Out: n.classes,
		Heads: []Head{{n.classes, SoftmaxHead}}})
}

// Layers are those that scores are added up from.
func (n *critic) Layers() []Layer { return n.chain.layerList() }

// Layers are those of the decoder.
func (n *vae) Layers() []Layer {
	list := n.dec.layerList()
	if n.layout != nil {
		list = append(list, n.layout.heads.layer())
	}
	return list
}

func (s *stack) layerList() (list []Layer) {
	for l, f := range s.fs {
		list = append(list, Layer{Kind: DenseLayer, In: s.widths[l], Out: s.widths[l+1], Func: f,
			Weight: copied(s.be, s.weights[l]), Bias: copied(s.be, s.biases[l])})
	}
	return list
}

func (c *chain) layerList() (list []Layer) {
	for _, u := range c.units {
		layer := u.layer()
		layer.In, layer.Out = u.in(), u.out()
		list = append(list, layer)
	}
	return list
}

// copied returns a copy of m in new host memory.
func copied(be device.Backend, m device.Matrix) device.Matrix {
	out := device.HostMatrix(m.Rows, m.Cols, make([]float32, m.Rows*m.Cols))
	be.Download(out.Data, m)
	return out
}

func (u *denseUnit) layer() Layer {
	return Layer{Kind: DenseLayer, Func: u.f, Weight: copied(u.be, u.weight),
		Bias: copied(u.be, u.bias)}
}

func (u *convUnit) layer() Layer {
	return Layer{Kind: ConvolutionLayer, Func: u.f, Window: u.window, Maps: u.maps,
		Weight: copied(u.be, u.weight), Bias: copied(u.be, u.bias)}
}

func (u *transposedUnit) layer() Layer {
	return Layer{Kind: TransposedLayer, Func: u.f, Window: u.window, Maps: u.maps,
		Weight: copied(u.be, u.weight), Bias: copied(u.be, u.bias)}
}

func (u *upSampleUnit) layer() Layer {
	return Layer{Kind: EnlargingLayer, Image: u.image, UpSampling: u.how}
}

// layer goes by the moments of Generate: the average over the last batches.
func (u *batchNorm) layer() Layer {
	moments, weight := copied(u.be, u.running), copied(u.be, u.gain)
	for i, scale := range moments.Row(1) {
		weight.Data[i] *= scale
	}
	return Layer{Kind: ScaleLayer, Func: u.f, Centre: moments.RowRange(0, 1), Weight: weight,
		Bias: copied(u.be, u.shift)}
}

func (u *layerNorm) layer() Layer { return Layer{Kind: StandardLayer, Epsilon: layerNormEps} }

func (u *gainUnit) layer() Layer {
	none := device.HostMatrix(1, u.maps, make([]float32, u.maps))
	return Layer{Kind: ScaleLayer, Func: u.f, Centre: none, Weight: copied(u.be, u.gain),
		Bias: copied(u.be, u.shift)}
}

func (u *funcUnit) layer() Layer { return Layer{Kind: FunctionLayer, Func: u.f} }

func (u *headUnit) layer() Layer {
	return Layer{Kind: HeadsLayer, In: u.width, Out: u.width, Heads: slices.Clone(u.heads)}
}
