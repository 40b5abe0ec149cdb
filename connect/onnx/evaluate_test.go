package onnx_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/seed7ba64551/privgen/connect/onnx/internal/onnxpb"
)

// tensor is an input or output of an operator, in float64.
type tensor struct {
	sides []int
	v     []float64
}

func (t tensor) len() int {
	n := 1
	for _, side := range t.sides {
		n *= side
	}
	return n
}

func made(sides ...int) tensor {
	t := tensor{sides: sides}
	t.v = make([]float64, t.len())
	return t
}

// run evaluates a file's graph on rows by the operators' documentation, without the library's code.
func run(t *testing.T, file []byte, input tensor) tensor {
	t.Helper()
	var m pb.ModelProto
	if err := proto.Unmarshal(file, &m); err != nil {
		t.Fatal(err)
	}
	g := m.GetGraph()
	known := map[string]tensor{g.GetInput()[0].GetName(): input}
	for _, w := range g.GetInitializer() {
		known[w.GetName()] = constant(w)
	}
	for _, n := range g.GetNode() {
		e := node{n: n, t: t}
		for _, name := range n.GetInput() {
			in, ok := known[name]
			if !ok && name != "" {
				t.Fatalf("%s reads %q, which no earlier operator has computed", n.GetOpType(), name)
			}
			e.in = append(e.in, in)
		}
		for i, out := range e.apply() {
			known[n.GetOutput()[i]] = out
		}
	}
	out, ok := known[g.GetOutput()[0].GetName()]
	if !ok {
		t.Fatal("no operator computes the output")
	}
	return out
}

func constant(w *pb.TensorProto) tensor {
	out := tensor{}
	for _, d := range w.GetDims() {
		out.sides = append(out.sides, int(d))
	}
	raw := w.GetRawData()
	for len(raw) > 0 {
		if w.GetDataType() == int32(pb.TensorProto_INT64) {
			out.v, raw = append(out.v, float64(int64(binary.LittleEndian.Uint64(raw)))), raw[8:]
			continue
		}
		out.v = append(out.v, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		raw = raw[4:]
	}
	return out
}

type node struct {
	t  *testing.T
	n  *pb.NodeProto
	in []tensor
}

func (e node) attribute(name string) *pb.AttributeProto {
	for _, a := range e.n.GetAttribute() {
		if a.GetName() == name {
			return a
		}
	}
	return &pb.AttributeProto{}
}

func (e node) ints(name string) (list []int) {
	for _, v := range e.attribute(name).GetInts() {
		list = append(list, int(v))
	}
	return list
}

func (e node) apply() []tensor {
	x := e.in[0]
	switch kind := e.n.GetOpType(); kind {
	case "Identity":
		return []tensor{x}
	case "Gemm":
		return []tensor{gemm(x, e.in[1], e.in[2])}
	case "Reshape":
		return []tensor{reshape(x, e.in[1])}
	case "Transpose":
		return []tensor{transpose(x, e.ints("perm"))}
	case "Conv":
		return []tensor{e.conv()}
	case "ConvTranspose":
		return []tensor{e.paint()}
	case "Resize":
		return []tensor{e.resize()}
	case "Split":
		return split(x, e.in[1])
	case "Concat":
		return []tensor{concat(e.in)}
	case "Sub", "Mul", "Add":
		return []tensor{elementwise(kind, x, e.in[1])}
	case "Softmax":
		return []tensor{e.softmax()}
	}
	out := tensor{x.sides, slices.Clone(x.v)}
	for i, v := range x.v {
		out.v[i] = e.function(v)
	}
	return []tensor{out}
}

func (e node) function(x float64) float64 {
	switch kind := e.n.GetOpType(); kind {
	case "Relu":
		return max(x, 0)
	case "LeakyRelu":
		if x < 0 {
			return float64(e.attribute("alpha").GetF()) * x
		}
		return x
	case "Tanh":
		return math.Tanh(x)
	case "Sigmoid":
		return 1 / (1 + math.Exp(-x))
	case "Softplus":
		return math.Log1p(math.Exp(x))
	case "Exp":
		return math.Exp(x)
	case "Log":
		return math.Log(x)
	default:
		e.t.Fatalf("no operator is called %q", kind)
		return 0
	}
}

func gemm(x, w, b tensor) tensor {
	out := made(x.sides[0], w.sides[1])
	for i := range x.sides[0] {
		for j := range w.sides[1] {
			sum := b.v[j]
			for k := range w.sides[0] {
				sum += x.v[i*w.sides[0]+k] * w.v[k*w.sides[1]+j]
			}
			out.v[i*w.sides[1]+j] = sum
		}
	}
	return out
}

func reshape(x, shape tensor) tensor {
	out := tensor{v: x.v}
	for i, side := range shape.v {
		if side == 0 {
			side = float64(x.sides[i])
		}
		out.sides = append(out.sides, int(side))
	}
	return out
}

func transpose(x tensor, perm []int) tensor {
	out := tensor{v: make([]float64, len(x.v))}
	for _, p := range perm {
		out.sides = append(out.sides, x.sides[p])
	}
	at := make([]int, len(perm))
	for i := range out.v {
		rest := i
		for d := len(perm) - 1; d >= 0; d-- {
			at[perm[d]] = rest % out.sides[d]
			rest /= out.sides[d]
		}
		from := 0
		for d, side := range x.sides {
			from = from*side + at[d]
		}
		out.v[i] = x.v[from]
	}
	return out
}

// pixel returns one number of an image stored channel by channel, or 0 outside the image.
func (t tensor) pixel(image, channel, row, column int) float64 {
	if row < 0 || column < 0 || row >= t.sides[2] || column >= t.sides[3] {
		return 0
	}
	return t.v[((image*t.sides[1]+channel)*t.sides[2]+row)*t.sides[3]+column]
}

func (t tensor) add(image, channel, row, column int, v float64) {
	if row >= 0 && column >= 0 && row < t.sides[2] && column < t.sides[3] {
		t.v[((image*t.sides[1]+channel)*t.sides[2]+row)*t.sides[3]+column] += v
	}
}

// each calls f for all pixels of all channels of all images.
func (t tensor) each(f func(image, channel, row, column int)) {
	for i := range t.sides[0] {
		for c := range t.sides[1] {
			for r := range t.sides[2] {
				for k := range t.sides[3] {
					f(i, c, r, k)
				}
			}
		}
	}
}

func (e node) conv() tensor {
	x, w, b := e.in[0], e.in[1], e.in[2]
	size, stride, pad := w.sides[2], e.ints("strides")[0], e.ints("pads")[0]
	places := func(side int) int { return (side+2*pad-size)/stride + 1 }
	out := made(x.sides[0], w.sides[0], places(x.sides[2]), places(x.sides[3]))
	out.each(func(i, m, r, k int) {
		out.add(i, m, r, k, b.v[m])
		for c := range x.sides[1] {
			for p := range size * size {
				out.add(i, m, r, k, w.v[(m*x.sides[1]+c)*size*size+p]*
					x.pixel(i, c, r*stride-pad+p/size, k*stride-pad+p%size))
			}
		}
	})
	return out
}

func (e node) paint() tensor {
	x, w, b := e.in[0], e.in[1], e.in[2]
	size, stride, pad := w.sides[2], e.ints("strides")[0], e.ints("pads")[0]
	more := e.ints("output_padding")
	side := func(d int) int { return (x.sides[2+d]-1)*stride - 2*pad + size + more[d] }
	out := made(x.sides[0], w.sides[1], side(0), side(1))
	out.each(func(i, c, r, k int) { out.add(i, c, r, k, b.v[c]) })
	x.each(func(i, m, r, k int) {
		for c := range w.sides[1] {
			for p := range size * size {
				out.add(i, c, r*stride-pad+p/size, k*stride-pad+p%size,
					x.pixel(i, m, r, k)*w.v[(m*w.sides[1]+c)*size*size+p])
			}
		}
	})
	return out
}

// resize doubles the size of images: new pixel i interpolates the old ones at (i + ½)/2 − ½, or
// copies the nearest one.
func (e node) resize() tensor {
	x := e.in[0]
	out := made(x.sides[0], x.sides[1], 2*x.sides[2], 2*x.sides[3])
	linear := string(e.attribute("mode").GetS()) == "linear"
	near := func(at, side int) (lo, hi int, part float64) {
		if !linear {
			return at / 2, at / 2, 0
		}
		place := math.Min(math.Max((float64(at)+0.5)/2-0.5, 0), float64(side-1))
		lo = int(place)
		return lo, min(lo+1, side-1), place - float64(lo)
	}
	out.each(func(i, c, r, k int) {
		r0, r1, dr := near(r, x.sides[2])
		k0, k1, dk := near(k, x.sides[3])
		out.add(i, c, r, k, (1-dr)*((1-dk)*x.pixel(i, c, r0, k0)+dk*x.pixel(i, c, r0, k1))+
			dr*((1-dk)*x.pixel(i, c, r1, k0)+dk*x.pixel(i, c, r1, k1)))
	})
	return out
}

func split(x, widths tensor) (list []tensor) {
	lo := 0
	for _, w := range widths.v {
		part := made(x.sides[0], int(w))
		for i := range x.sides[0] {
			copy(part.v[i*int(w):(i+1)*int(w)], x.v[i*x.sides[1]+lo:])
		}
		list, lo = append(list, part), lo+int(w)
	}
	return list
}

func concat(parts []tensor) tensor {
	out := tensor{sides: []int{parts[0].sides[0], 0}}
	for i := range parts[0].sides[0] {
		for _, p := range parts {
			out.v = append(out.v, p.v[i*p.sides[1]:(i+1)*p.sides[1]]...)
		}
	}
	out.sides[1] = len(out.v) / max(out.sides[0], 1)
	return out
}

// elementwise repeats b along the last side of x.
func elementwise(kind string, x, b tensor) tensor {
	out := tensor{x.sides, slices.Clone(x.v)}
	for i := range out.v {
		switch v := b.v[i%len(b.v)]; kind {
		case "Sub":
			out.v[i] -= v
		case "Mul":
			out.v[i] *= v
		default:
			out.v[i] += v
		}
	}
	return out
}

func (e node) softmax() tensor {
	x := e.in[0]
	out, width := tensor{x.sides, slices.Clone(x.v)}, x.sides[1]
	for i := range x.sides[0] {
		row, total := out.v[i*width:(i+1)*width], 0.0
		for _, v := range row {
			total += math.Exp(v)
		}
		for j, v := range row {
			row[j] = math.Exp(v) / total
		}
	}
	return out
}
