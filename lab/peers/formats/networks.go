package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/connect/onnx"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// networks writes networks as ONNX files, each with a file of the library's outputs for some rows.
type networks struct {
	folder string
	rng    *rand.Rand
	count  int
	err    error
}

// asked has the description and the numbers that a program in Python reads together with a network.
type asked struct {
	Name   string
	Input  [][]float32
	Output [][]float32
}

func (n *networks) rows(count, width int) device.Matrix {
	m := device.HostMatrix(count, width, make([]float32, count*width))
	for i := range m.Data {
		m.Data[i] = float32(n.rng.NormFloat64())
	}
	return m
}

// write writes a network and the library's output y for each row of x.
func (n *networks) write(name string, layers []models.Layer, err error, x, y device.Matrix) {
	if n.err != nil || err != nil {
		n.err = first(n.err, err)
		return
	}
	path := filepath.Join(n.folder, fmt.Sprintf("net%02d", n.count))
	n.count++
	file, err := os.Create(path + ".onnx")
	if err == nil {
		err = onnx.Write(file, onnx.Network{Name: name, Layers: layers})
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		n.err = err
		return
	}
	a := asked{Name: name}
	for i := range x.Rows {
		a.Input, a.Output = append(a.Input, x.Row(i)), append(a.Output, y.Row(i))
	}
	text, err := json.Marshal(a)
	if err == nil {
		err = os.WriteFile(path+".json", text, 0o644)
	}
	n.err = err
}

func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// moved changes parameters at random. Afterwards no parameter is exactly 0 or 1.
func (n *networks) moved(p device.Params) {
	for i := range p.Flat.Data {
		p.Flat.Data[i] += float32(0.05 * n.rng.NormFloat64())
	}
}

func (n *networks) generators() {
	be := device.CPU()
	decoder := func(size int, f models.Activation, norm bool, out device.Func) models.ConvDecoder {
		return models.ConvDecoder{Height: 12, Width: 8, Channels: 3, Hidden: []int{7}, Maps: []int{2, 5},
			Size: size, Activation: f, BatchNorm: norm, Output: out}
	}
	heads := []models.Head{{Width: 2, Out: models.SigmoidHead}, {Width: 3, Out: models.SoftmaxHead},
		{Width: 2}, {Width: 1, Out: models.TanhHead}, {Width: 4, Out: models.SoftmaxHead}}
	list := []struct {
		arch  models.GeneratorArchitecture
		heads []models.Head
	}{
		{decoder(3, models.LeakyReLU, true, device.Sigmoid), nil},
		{decoder(5, models.Softplus, false, device.Tanh), nil},
		{decoder(4, models.ReLU, true, device.Softplus), nil},
		{models.Generator28(32, 16), nil},
		{models.Generator28(128, 64), nil},
	}
	for f := models.ReLU; f <= models.Softplus; f++ {
		list = append(list, struct {
			arch  models.GeneratorArchitecture
			heads []models.Head
		}{models.MLP{Hidden: []int{20, 9}, Activation: f, BatchNorm: f%2 == 0}, heads})
	}
	for _, c := range list {
		net, err := c.arch.NewGenerator(be, 6, c.heads, 1)
		if err != nil {
			n.err = first(n.err, err)
			return
		}
		n.moved(net.Params())
		net.Forward(n.rows(20, 6)) // sets the means and variances of batch norm
		x, y := n.rows(5, 6), be.New(5, net.Dim())
		net.Generate(x, y)
		layers, err := models.LayersOf(net)
		n.write(fmt.Sprintf("%+v", c.arch), layers, err, x, y)
	}
}

func (n *networks) critics() {
	be := device.CPU()
	cnn := models.CNN{Height: 9, Width: 8, Channels: 2, Hidden: []int{6},
		Activation:   models.LeakyReLU,
		Convolutions: []models.Convolution{{Maps: 4, Size: 5, Stride: 2, Pad: 2}, {Maps: 3, Size: 3}}}
	for _, a := range []models.CriticArchitecture{cnn,
		models.MLP{Hidden: []int{9, 5}, Activation: models.Tanh}} {
		net, err := a.Critic(be, 9*8*2, 0, 1)
		if err != nil {
			n.err = first(n.err, err)
			return
		}
		n.moved(net.Params())
		x, y, scores := n.rows(5, 144), be.New(5, 1), make([]float64, 5)
		net.ScoreGradient(be.New(5, 144), x, nil, 0, scores)
		for i, s := range scores {
			y.Data[i] = float32(s)
		}
		layers, err := models.LayersOf(net)
		n.write(fmt.Sprintf("critic %+v", a), layers, err, x, y)
	}
}

// vae writes a decoder, and samples whose codes come from a seed.
func (n *networks) vae() {
	be := device.CPU()
	v := models.Visible{Dim: 7, Blocks: []models.Block{{Width: 3, OneHot: true},
		{Width: 2, Missing: true}, {Width: 2}}}
	net, err := models.VAE{Hidden: []int{20, 9}, Latent: 3, Activation: models.Tanh}.New(be, v, 1)
	if err != nil {
		n.err = first(n.err, err)
		return
	}
	n.moved(net.Params())
	x, y, rng := be.New(6, 3), be.New(6, 7), rand.New(rand.NewPCG(9, 9))
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	net.Sample(rand.New(rand.NewPCG(9, 9)), y)
	layers, err := models.LayersOf(net)
	n.write("decoder of a VAE", layers, err, x, y)
}

// labelled returns records whose classes have different distributions.
func (n *networks) labelled(s records.Schema) (*records.Table, error) {
	const count = 90
	lo, hi := s.Bounds()
	flat, labels := make([]float32, count*s.Dim()), make([]int32, count)
	for i := range labels {
		labels[i] = int32(i % s.Classes())
		for j := range s.Dim() {
			flat[i*s.Dim()+j] = float32(lo + (hi-lo)*n.rng.Float64()*float64(labels[i]+1)/3)
		}
	}
	return records.FromFlat(s, flat, labels...)
}

// released writes privately trained generators and the records that they draw from seeded codes.
func (n *networks) released() {
	budget := accountant.Budget{Epsilon: 5, Delta: 1e-5}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 20, Optimizer: sgd.Adam(1e-3)}
	vectors, err := n.labelled(records.Interval(9, -1, 3).WithLabels("a", "b", "c"))
	if err != nil {
		n.err = first(n.err, err)
		return
	}
	net, ctx := models.MLP{Hidden: []int{12}, BatchNorm: true}, context.Background()
	made, err := privgen.GAN(vectors.Schema(), budget).Critic(models.MLP{Hidden: []int{4}}).
		Generator(net, 5).Train(gan.Config{Train: train, CriticSteps: 2}).Fit(ctx, vectors)
	if err != nil {
		n.err = first(n.err, err)
		return
	}
	g := made.Model().(*gan.Model)
	x, y, codes := n.rows(6, 5), device.CPU().New(6, 9), device.CPU().New(6, 8)
	labels := []int32{0, 1, 2, 2, 1, 0}
	for i, l := range labels {
		copy(codes.Row(i), x.Row(i))
		codes.Row(i)[5+l] = 1
	}
	err = g.Generate(x, labels, y)
	layers, more := g.Layers()
	n.write("a released generator of gan", layers, first(err, more), codes, y)

	made, err = privgen.MERF(vectors.Schema(), budget).
		Embed(merf.Config{Kernel: rff.RBF{Dim: 40, Bandwidth: 1}}).
		Train(merf.GeneratorConfig{Architecture: net, Latent: 4, Steps: 30, Batch: 40}).Fit(ctx, vectors)
	if err != nil {
		n.err = first(n.err, err)
		return
	}
	layers, err = made.Model().(*merf.Model).Layers()
	stated, more := made.Sample(ctx, 6, privgen.Seed(3), privgen.OfClass(1))
	x, y = n.drawn(0x6d657267, 6, 4, 3), n.read(stated, more)
	for i := range 6 {
		x.Row(i)[4+1] = 1
		for j, v := range y.Row(i) {
			y.Row(i)[j] = (v + 1) / 4
		}
	}
	n.write("a released generator of merf", layers, err, x, y)

	binary, err := n.labelled(records.BinaryImage(4, 4).WithLabels("a", "b"))
	if err != nil {
		n.err = first(n.err, err)
		return
	}
	made, err = privgen.DPGM(binary.Schema(), budget).Features(rff.RBF{Dim: 20, Bandwidth: 1}).
		Cluster(kmeans.Config{K: 2, Iterations: 2, Share: 0.2}).
		Model(models.VAE{Hidden: []int{5}, Latent: 2}).Train(train).Fit(ctx, binary)
	if err != nil {
		n.err = first(n.err, err)
		return
	}
	for i := range 2 {
		layers, err = made.Model().(*dpgm.Model).Layers(i)
		stated, more := made.Sample(ctx, 6, privgen.Seed(3), privgen.FromCluster(i), privgen.Means())
		n.write(fmt.Sprintf("cluster %d of a released generator of dpgm", i), layers, err,
			n.drawn(0x6470676d, 6, 2, 0), n.read(stated, more))
	}
}

// drawn returns the codes of a seeded draw of a system, with empty columns for classes.
func (n *networks) drawn(system uint64, rows, latent, classes int) device.Matrix {
	rng, x := rand.New(rand.NewPCG(3, system)), device.CPU().New(rows, latent+classes)
	for i := range rows {
		for j := range latent {
			x.Row(i)[j] = float32(rng.NormFloat64())
		}
	}
	return x
}

// read returns records as rows of numbers.
func (n *networks) read(d records.Data, err error) device.Matrix {
	if err != nil {
		n.err = first(n.err, err)
		return device.Matrix{}
	}
	var b device.Batch
	d.Range(0, d.Len(), &b)
	return b.Dense
}

// writeNetworks writes files of every kind of layer.
func writeNetworks(folder string) error {
	n := &networks{folder: folder, rng: rand.New(rand.NewPCG(1, 2))}
	n.generators()
	n.critics()
	n.vae()
	n.released()
	return n.err
}
