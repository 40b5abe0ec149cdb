package onnx

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	pb "github.com/seed7ba64551/privgen/connect/onnx/internal/onnxpb"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/synth"
)

// Opset is the version of the standard operators that a file needs.
const Opset = 17

// irVersion is the version of the file format that belongs to Opset.
const irVersion = 8

// mostNumbers is the number of parameters that fit into one protocol buffer of less than 2 GiB.
const mostNumbers = 1 << 28

// A Network is the content of a file.
type Network struct {
	Name   string         // name of the graph; "" means "network"
	Layers []models.Layer // from [models.LayersOf], or from a model's Layers
	// Input and Output are the names of the input and output rows; "" means "input" and "output".
	Input, Output string
	Doc           string // a text for readers of the file
}

// Networks returns the networks of a released generator: one, or one for each cluster. Their Doc is
// the guarantee, their Input is "codes", and their Output is "means".
//
// Errors: *[param.Error] for a generator of a system whose models are not networks of layers.
func Networks(g *synth.Generator) ([]Network, error) {
	named := func(name string, layers []models.Layer) Network {
		return Network{Name: name, Layers: layers, Input: "codes", Output: "means",
			Doc: g.Guarantee().String()}
	}
	switch m := g.Model().(type) {
	case interface {
		Layers() ([]models.Layer, error)
	}:
		layers, err := m.Layers()
		if err != nil {
			return nil, err
		}
		return []Network{named(g.System(), layers)}, nil
	case interface {
		Clusters() int
		Layers(cluster int) ([]models.Layer, error)
	}:
		var list []Network
		for i := range m.Clusters() {
			layers, err := m.Layers(i)
			if err != nil {
				return nil, err
			}
			list = append(list, named(fmt.Sprintf("%s-%d", g.System(), i), layers))
		}
		return list, nil
	}
	return nil, param.New("onnx.Networks", g.System(), "a generator of merf, gan or dpgm")
}

// Write writes a network.
//
// Errors: the writer's errors; *[param.Error] for layers that do not fit together or are of an
// unknown kind, and for more than 2²⁸ parameters.
func Write(w io.Writer, n Network) error {
	g, err := build(n)
	if err != nil {
		return err
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(&pb.ModelProto{
		IrVersion:    proto.Int64(irVersion),
		ProducerName: proto.String("privgen"),
		DocString:    proto.String(n.Doc),
		Graph:        g,
		OpsetImport: []*pb.OperatorSetIdProto{{Domain: proto.String(""),
			Version: proto.Int64(Opset)}},
	})
	if err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("onnx: writing: %w", err)
	}
	return nil
}

// build returns the graph of a network.
func build(n Network) (*pb.GraphProto, error) {
	if err := check(n.Layers); err != nil {
		return nil, err
	}
	name := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	input, output := name(n.Input, "input"), name(n.Output, "output")
	if input == output {
		return nil, param.New("onnx.Network.Output", output, "another name than the input's")
	}
	g := &graph{out: &pb.GraphProto{Name: proto.String(name(n.Name, "network"))}, at: input}
	for i, l := range n.Layers {
		g.prefix = fmt.Sprintf("layer%d", i)
		g.layer(l)
	}
	g.op("Identity", []string{g.at}, output)
	first, last := n.Layers[0], n.Layers[len(n.Layers)-1]
	g.out.Input = []*pb.ValueInfoProto{rows(input, first.In)}
	g.out.Output = []*pb.ValueInfoProto{rows(output, last.Out)}
	return g.out, nil
}

// rows describes a matrix with any number of rows.
func rows(name string, width int) *pb.ValueInfoProto {
	dims := []*pb.TensorShapeProto_Dimension{
		{Value: &pb.TensorShapeProto_Dimension_DimParam{DimParam: "rows"}},
		{Value: &pb.TensorShapeProto_Dimension_DimValue{DimValue: int64(width)}},
	}
	return &pb.ValueInfoProto{Name: proto.String(name), Type: &pb.TypeProto{
		Value: &pb.TypeProto_TensorType{TensorType: &pb.TypeProto_Tensor{
			ElemType: proto.Int32(int32(pb.TensorProto_FLOAT)),
			Shape:    &pb.TensorShapeProto{Dim: dims},
		}}}}
}
