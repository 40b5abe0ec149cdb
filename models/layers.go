package models

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// LayerKind is the operation of a Layer.
type LayerKind int

const (
	// y = f(xW + b).
	DenseLayer LayerKind = iota
	// y = f(patches·W + b), with the same matrix W at all places of Window, and Maps numbers at each
	// place.
	ConvolutionLayer
	// The transpose of a convolution: x holds Maps numbers for each place of Window, and x·W is the
	// patch at that place. Overlapping patches are added, then b is added and f applied. W has Maps
	// rows.
	TransposedLayer
	// An image of the form Image becomes an image twice as high and wide; see
	// device.Backend.UpSample.
	EnlargingLayer
	// y = f((x − Centre)∘W + b). W has one column for each channel, and is the same at all pixels.
	ScaleLayer
	// y = f(x).
	FunctionLayer
	// Each run of numbers goes through its head of Heads.
	HeadsLayer
)

var layerNames = param.Names[LayerKind]{Type: "models.LayerKind", List: []string{
	DenseLayer: "dense", ConvolutionLayer: "convolution", TransposedLayer: "transposed convolution",
	EnlargingLayer: "enlarging", ScaleLayer: "scale",
	FunctionLayer: "function", HeadsLayer: "heads",
}}

// String returns the name.
func (k LayerKind) String() string { return layerNames.String(k) }

// A Layer describes one step of a network, from a row of In numbers to a row of Out numbers.
// Another program can then run the step; see connect/onnx. The comment of the layer's Kind names
// the fields that are set. For the layout of images, see [device.Image].
type Layer struct {
	Kind                 LayerKind
	In, Out              int
	Func                 device.Func // f
	Weight, Bias, Centre device.Matrix
	Window               device.Window
	Maps                 int
	Image                device.Image
	Heads                []Head
}

// A Layered network is a sequence of layers. The generators, classifiers and critics of this
// package are Layered. The layers of a VAE are the layers of its decoder. They map draws from the
// standard Gaussian prior to the means that Sample returns. An RBM is not Layered: its samples come
// from Gibbs sweeps.
//
// The layers of a generator compute Generate, and the layers of a classifier compute Predict. The
// last layer of a critic has one output for all records and one output for each class. The score is
// the first output plus the output of the record's class.
type Layered interface {
	// Layers returns copies in host memory that share no memory with the network.
	Layers() []Layer
}

// LayersOf lists the layers of a network.
//
// Errors: *param.Error for a network that is not Layered; the error contains its type. The same for
// a network of Build that is not a sequence of layers.
func LayersOf(net any) ([]Layer, error) {
	if n, ok := net.(Layered); ok {
		if list := n.Layers(); len(list) > 0 {
			return list, nil
		}
	}
	return nil, param.New("models.LayersOf", fmt.Sprintf("%T", net),
		"a network that implements models.Layered and is a sequence of layers")
}

// Layers returns the layers of Generate.
func (n *decoder) Layers() []Layer { return n.layers(0, len(n.g.nodes)) }

// Layers returns the layers of Predict.
func (n *Classifier) Layers() []Layer {
	list := n.layers(0, len(n.g.nodes)-1)
	if list == nil {
		return nil
	}
	if u, ok := n.g.last().unit.(*reconstruction); ok {
		return append(list, Layer{Kind: FunctionLayer, In: n.classes, Out: n.classes, Func: u.output})
	}
	return append(list, Layer{Kind: HeadsLayer, In: n.classes, Out: n.classes,
		Heads: []Head{{n.classes, SoftmaxHead}}})
}

// Layers returns the layers that end in the terms of a score.
func (n *critic) Layers() []Layer { return n.layers(0, len(n.g.nodes)) }

// Layers returns the layers of the decoder.
func (n *vae) Layers() []Layer {
	list := n.layers(n.latent.id+1, len(n.g.nodes)-1)
	if n.layout != nil {
		list = append(list, n.layout.heads.layer(n.built, nil))
	}
	return list
}

// A layerUnit is a unit that other programs can run.
type layerUnit interface {
	// layer describes the unit without In and Out.
	layer(n *built, at *node) Layer
}

// layers describes nodes lo to hi−1, each of which must read the node before it. It returns nil if
// there is another node.
func (n *built) layers(lo, hi int) (list []Layer) {
	for _, at := range n.g.nodes[lo:hi] {
		if at.unit == nil {
			continue
		}
		u, ok := at.unit.(layerUnit)
		if d, dense := u.(*denseUnit); !ok || dense && d.places > 1 || at.from[0].id != at.id-1 {
			return nil
		}
		layer := u.layer(n, at)
		layer.In, layer.Out = at.from[0].width, at.width
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

// affine describes a layer with a matrix and a bias.
func (n *built) affine(at *node, l Layer) Layer {
	l.Weight, l.Bias = copied(n.be, n.blocks[at.first]), copied(n.be, n.blocks[at.first+1])
	return l
}

func (u *denseUnit) layer(n *built, at *node) Layer {
	return n.affine(at, Layer{Kind: DenseLayer, Func: u.f})
}

func (u *convUnit) layer(n *built, at *node) Layer {
	return n.affine(at, Layer{Kind: ConvolutionLayer, Func: u.f, Window: u.window, Maps: u.maps})
}

func (u *transposedUnit) layer(n *built, at *node) Layer {
	return n.affine(at, Layer{Kind: TransposedLayer, Func: u.f, Window: u.window, Maps: u.maps})
}

func (u *upSampleUnit) layer(*built, *node) Layer {
	return Layer{Kind: EnlargingLayer, Image: u.image}
}

// layer uses the moments that Generate uses: the average over the last batches.
func (u *batchNorm) layer(n *built, at *node) Layer {
	l := n.affine(at, Layer{Kind: ScaleLayer, Func: u.f})
	moments := copied(n.be, u.running)
	for i, scale := range moments.Row(1) {
		l.Weight.Data[i] *= scale
	}
	l.Centre = moments.RowRange(0, 1)
	return l
}

func (u *funcUnit) layer(*built, *node) Layer { return Layer{Kind: FunctionLayer, Func: u.f} }

func (u *headUnit) layer(*built, *node) Layer {
	return Layer{Kind: HeadsLayer, In: u.width, Out: u.width, Heads: slices.Clone(u.heads)}
}
