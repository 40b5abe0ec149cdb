package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "github.com/seed7ba64551/privgen/connect/onnx/internal/onnxpb"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// graph is a graph under construction. Its field at is the name of the value computed last.
type graph struct {
	out    *pb.GraphProto
	at     string
	prefix string // prefix of the names in this layer
	count  int
}

// functions are the operators of element-wise functions.
var functions = map[device.Func]string{device.ReLU: "Relu", device.LeakyReLU: "LeakyRelu",
	device.Tanh: "Tanh", device.Sigmoid: "Sigmoid", device.Softplus: "Softplus", device.Exp: "Exp",
	device.Log: "Log"}

func (g *graph) layer(l models.Layer) {
	switch l.Kind {
	case models.DenseLayer:
		g.next("Gemm", g.matrix("weight", l.Weight), g.vector("bias", l.Bias))
	case models.ConvolutionLayer:
		g.convolution(l)
	case models.TransposedLayer:
		g.transposed(l)
	case models.EnlargingLayer:
		g.enlarge(l)
	case models.ScaleLayer:
		g.scale(l)
	case models.HeadsLayer:
		g.heads(l)
	}
	g.function(l.Func)
}

func (g *graph) function(f device.Func) {
	if f == device.Identity {
		return
	}
	g.next(functions[f])
	if f == device.LeakyReLU {
		g.set(float("alpha", device.LeakySlope))
	}
}

// asImages converts rows to images with one plane for each channel, as ONNX stores them; asRows
// converts back.
func (g *graph) asImages(m device.Image) {
	g.reshape(0, m.Height, m.Width, m.Channels)
	g.next("Transpose")
	g.set(integers("perm", 0, 3, 1, 2))
}

func (g *graph) asRows(width int) {
	g.next("Transpose")
	g.set(integers("perm", 0, 2, 3, 1))
	g.reshape(0, width)
}

// reshape changes the shape; a side of 0 keeps its size.
func (g *graph) reshape(sides ...int) { g.next("Reshape", g.integers("shape", sides...)) }

// convolution adds a convolution. Its weights are maps × channels × rows × columns.
func (g *graph) convolution(l models.Layer) {
	w := l.Window
	weights := make([]float32, 0, l.Maps*w.Patch())
	for m := range l.Maps {
		for c := range w.Channels {
			for p := range w.Size * w.Size {
				weights = append(weights, l.Weight.Row(p*w.Channels + c)[m])
			}
		}
	}
	g.asImages(w.Image)
	g.next("Conv", g.floats("weight", weights, l.Maps, w.Channels, w.Size, w.Size),
		g.vector("bias", l.Bias))
	g.set(window(w)...)
	g.asRows(l.Out)
}

// transposed adds a transposed convolution. Its weights are also maps × channels × rows × columns;
// its input has maps channels.
func (g *graph) transposed(l models.Layer) {
	w := l.Window
	weights := make([]float32, 0, l.Maps*w.Patch())
	for m := range l.Maps {
		row := l.Weight.Row(m)
		for c := range w.Channels {
			for p := range w.Size * w.Size {
				weights = append(weights, row[p*w.Channels+c])
			}
		}
	}
	height, width := w.Grid()
	g.asImages(device.Image{Height: height, Width: width, Channels: l.Maps})
	g.next("ConvTranspose", g.floats("weight", weights, l.Maps, w.Channels, w.Size, w.Size),
		g.vector("bias", l.Bias))
	g.set(window(w)...)
	over := func(places, side int) int { return side - ((places-1)*w.Stride + w.Size - 2*w.Pad) }
	g.set(integers("output_padding", over(height, w.Height), over(width, w.Width)))
	g.asRows(l.Out)
}

func window(w device.Window) []*pb.AttributeProto {
	return []*pb.AttributeProto{integers("kernel_shape", w.Size, w.Size),
		integers("strides", w.Stride, w.Stride), integers("pads", w.Pad, w.Pad, w.Pad, w.Pad)}
}

func (g *graph) enlarge(l models.Layer) {
	g.asImages(l.Image)
	g.next("Resize", "", g.floats("scales", []float32{1, 1, 2, 2}, 4))
	g.set(text("mode", "linear"), text("coordinate_transformation_mode", "half_pixel"))
	g.asRows(l.Out)
}

func (g *graph) scale(l models.Layer) {
	channels := l.Weight.Cols
	apart := channels > 1 && channels < l.In
	if apart {
		g.reshape(0, l.In/channels, channels)
	}
	g.next("Sub", g.vector("centre", l.Centre))
	g.next("Mul", g.vector("weight", l.Weight))
	g.next("Add", g.vector("bias", l.Bias))
	if apart {
		g.reshape(0, l.Out)
	}
}

func (g *graph) heads(l models.Layer) {
	if len(l.Heads) == 1 {
		g.head(l.Heads[0])
		return
	}
	var widths []int
	var parts []string
	for i, h := range l.Heads {
		widths = append(widths, h.Width)
		parts = append(parts, fmt.Sprintf("%s.head%d", g.prefix, i))
	}
	g.op("Split", []string{g.at, g.integers("widths", widths...)},
		slices.Clone(parts)...)
	g.set(integer("axis", 1))
	for i, h := range l.Heads {
		g.at = parts[i]
		g.head(h)
		parts[i] = g.at
	}
	g.at = g.name("Concat")
	g.op("Concat", parts, g.at)
	g.set(integer("axis", 1))
}

func (g *graph) head(h models.Head) {
	switch h.Out {
	case models.SigmoidHead:
		g.next("Sigmoid")
	case models.TanhHead:
		g.next("Tanh")
	case models.SoftmaxHead:
		g.next("Softmax")
		g.set(integer("axis", 1))
	}
}

// next applies an operator to the value computed last.
func (g *graph) next(kind string, others ...string) {
	to := g.name(kind)
	g.op(kind, append([]string{g.at}, others...), to)
	g.at = to
}

func (g *graph) name(what string) string {
	g.count++
	return fmt.Sprintf("%s.%s.%d", g.prefix, what, g.count)
}

func (g *graph) op(kind string, from []string, to ...string) {
	g.out.Node = append(g.out.Node, &pb.NodeProto{OpType: proto.String(kind), Input: from, Output: to,
		Name: proto.String(to[0])})
}

// set adds attributes to the last operator.
func (g *graph) set(attributes ...*pb.AttributeProto) {
	last := g.out.Node[len(g.out.Node)-1]
	last.Attribute = append(last.Attribute, attributes...)
}

func (g *graph) matrix(name string, m device.Matrix) string {
	return g.floats(name, flat(m), m.Rows, m.Cols)
}

func (g *graph) vector(name string, m device.Matrix) string {
	return g.floats(name, flat(m), m.Cols)
}

func flat(m device.Matrix) []float32 {
	out := make([]float32, 0, m.Rows*m.Cols)
	for i := range m.Rows {
		out = append(out, m.Row(i)...)
	}
	return out
}

// floats adds numbers to the file and returns their name.
func (g *graph) floats(name string, values []float32, sides ...int) string {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return g.add(name, pb.TensorProto_FLOAT, raw, sides...)
}

func (g *graph) integers(name string, values ...int) string {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return g.add(name, pb.TensorProto_INT64, raw, len(values))
}

func (g *graph) add(name string, kind pb.TensorProto_DataType, raw []byte, sides ...int) string {
	t := &pb.TensorProto{Name: proto.String(g.name(name)), DataType: proto.Int32(int32(kind)),
		RawData: raw}
	for _, n := range sides {
		t.Dims = append(t.Dims, int64(n))
	}
	g.out.Initializer = append(g.out.Initializer, t)
	return t.GetName()
}

func attribute(name string, kind pb.AttributeProto_AttributeType) *pb.AttributeProto {
	return &pb.AttributeProto{Name: proto.String(name), Type: &kind}
}

func integer(name string, v int) *pb.AttributeProto {
	a := attribute(name, pb.AttributeProto_INT)
	a.I = proto.Int64(int64(v))
	return a
}

func integers(name string, values ...int) *pb.AttributeProto {
	a := attribute(name, pb.AttributeProto_INTS)
	for _, v := range values {
		a.Ints = append(a.Ints, int64(v))
	}
	return a
}

func float(name string, v float64) *pb.AttributeProto {
	a := attribute(name, pb.AttributeProto_FLOAT)
	a.F = proto.Float32(float32(v))
	return a
}

func text(name, v string) *pb.AttributeProto {
	a := attribute(name, pb.AttributeProto_STRING)
	a.S = []byte(v)
	return a
}
