package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

const (
	latent  = 32
	penalty = 10
)

// criticNet is a Wasserstein critic as package gan trains it: every record has a fake and a place
// between record and fake, which depend on the record's key.
type criticNet struct {
	models.Critic
	generator models.Generator
	codes     device.Matrix
	made      device.Matrix
	mix       []float32
}

// newCriticNet returns a critic and its generator: "mlp" or "conv".
func newCriticNet(name string) (*criticNet, error) {
	var critic models.CriticArchitecture = models.MLP{Hidden: []int{256}, Activation: models.LeakyReLU}
	var generator models.GeneratorArchitecture = models.MLP{Hidden: []int{512, 512}, BatchNorm: true}
	switch name {
	case "mlp":
	case "conv":
		critic, generator = models.Critic28(16), models.Generator28(32, 16)
	default:
		return nil, fmt.Errorf("critic %q: want mlp or conv", name)
	}
	c, err := critic.Critic(device.CPU(), dim, 0, 1)
	if err != nil {
		return nil, err
	}
	g, err := generator.NewGenerator(device.CPU(), latent,
		[]models.Head{{Width: dim, Out: models.SigmoidHead}}, 1)
	return &criticNet{Critic: c, generator: g}, err
}

// Gradients returns the gradients of the critic's loss on records.
func (n *criticNet) Gradients(b device.Batch) models.Gradients {
	return n.PairGradients(b, n.fakes(b.Keys), n.mix, penalty)
}

// fakes generates one fake for each key and draws the places.
func (n *criticNet) fakes(keys []uint64) device.Matrix {
	if n.codes.Rows < len(keys) {
		n.codes, n.made = device.CPU().New(len(keys), latent), device.CPU().New(len(keys), dim)
	}
	n.mix = n.mix[:0]
	for i, key := range keys {
		models.KeyedCode(n.codes.Row(i), key)
		n.mix = append(n.mix, models.KeyedShare(key))
	}
	made := n.made.RowRange(0, len(keys))
	n.generator.Generate(n.codes.RowRange(0, len(keys)), made)
	return made
}

// writeCritic writes a batch with its losses, norms and clipped mean gradient to a file, for
// comparison with another program. The file has float32 numbers, least significant byte first:
// parameters, records, fakes, places, losses, norms and gradient.
func writeCritic(name, path string, batch int) error {
	net, err := newCriticNet(name)
	if err != nil {
		return err
	}
	table, err := records.FromFlat(records.Binary(dim), randomBits())
	if err != nil {
		return err
	}
	var b device.Batch
	newFixedBatches(table, batch).next(&b)
	g := net.Gradients(b)
	losses, squares, weights := make([]float64, batch), make([]float64, batch), make([]float32, batch)
	g.(interface{ Losses([]float64) }).Losses(losses)
	g.SquaredNorms(squares)
	norms := make([]float64, batch)
	for i, s := range squares {
		norms[i] = math.Sqrt(s)
		weights[i] = float32(min(1, clipNorm/norms[i]) / float64(batch))
	}
	sum := device.NewParams(device.CPU(), net.Params().Shapes...)
	g.AddWeightedSum(sum, weights)
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	for _, m := range []device.Matrix{net.Params().Flat, b.Dense, net.made} {
		for i := range m.Rows {
			write(w, m.Row(i))
		}
	}
	write(w, net.mix)
	write(w, floats(losses))
	write(w, floats(norms))
	write(w, sum.Flat.Row(0))
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// write writes numbers to a buffer, which keeps the first error.
func write(w io.Writer, x []float32) { _ = binary.Write(w, binary.LittleEndian, x) }

func floats(x []float64) []float32 {
	out := slices.Grow([]float32(nil), len(x))
	for _, v := range x {
		out = append(out, float32(v))
	}
	return out
}
