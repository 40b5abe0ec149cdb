// Command peers takes training steps of the paper's VAE on request, with and without privacy. The
// same steps in PyTorch and Opacus are compared with them; see README.md.
//
//	peers CANDIDATE BATCH
//	peers write-mlp FILE     writes gradients of a critic, for comparison; see writeCritic
//	peers write-conv FILE
//
// It reads commands from standard input, one on each line, and answers each with one line, as
// peers.py does:
//
//	check N   takes N steps and answers with the mean loss per example of a new batch
//	run S     takes steps for S seconds and answers "EXAMPLES SECONDS"
package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

const (
	rows            = 6000
	dim             = 784
	learningRate    = 1e-3
	clipNorm        = 1
	noiseMultiplier = 1
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: peers [mlp-|conv-]plain|private|private-poisson BATCH, or peers " +
			"write-mlp|write-conv FILE")
	}
	if name, ok := strings.CutPrefix(os.Args[1], "write-"); ok {
		if err := writeCritic(name, os.Args[2], 256); err != nil {
			log.Fatal(err)
		}
		return
	}
	batch, err := strconv.Atoi(os.Args[2])
	if err != nil || batch <= 0 || batch > rows {
		log.Fatalf("batch %q: want an integer from 1 to %d", os.Args[2], rows)
	}
	c, err := newCandidate(os.Args[1], batch)
	if err != nil {
		log.Fatal(err)
	}
	if err := c.serve(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// A candidate is a network in training.
type candidate struct {
	net      models.Network
	data     *fixedBatches
	step     func() error
	examples func() int // returns the number of examples so far
}

func newCandidate(name string, batch int) (*candidate, error) {
	table, err := records.FromFlat(records.Binary(dim), randomBits())
	if err != nil {
		return nil, err
	}
	net, how, err := network(name)
	if err != nil {
		return nil, err
	}
	c := &candidate{net: net, data: newFixedBatches(table, batch)}
	c.examples = func() int { return c.data.drawn }
	switch how {
	case "plain":
		c.step = plain(net, c.data)
	case "private":
		c.step, err = private(net, c.data, 1)
	case "private-poisson":
		all := &counted{Table: table}
		c.examples = func() int { return all.gathered }
		c.step, err = private(net, all, float64(batch)/rows)
	default:
		err = fmt.Errorf("unknown candidate %q", name)
	}
	return c, err
}

// network returns the network of a candidate, and the rest of the candidate's name.
func network(name string) (models.Network, string, error) {
	if kind, how, ok := strings.Cut(name, "-"); ok && kind != "private" {
		net, err := newCriticNet(kind)
		return net, how, err
	}
	net, err := models.PaperVAE().New(device.CPU(), models.Visible{Dim: dim}, 1)
	return net, name, err
}

// decayOf returns the decay of the optimiser's mean gradient. Critics have that of package gan.
func decayOf(net models.Network) float64 {
	if _, ok := net.(*criticNet); ok {
		return 0.5
	}
	return 0.9
}

func randomBits() []float32 {
	rng := rand.New(rand.NewPCG(1, 1))
	flat := make([]float32, rows*dim)
	for i := range flat {
		if rng.Float64() < 0.2 {
			flat[i] = 1
		}
	}
	return flat
}

// private returns a function that takes a step of sgd's trainer.
func private(net models.Network, data records.Data, probability float64) (func() error, error) {
	l := ledger.New(accountant.Budget{Epsilon: 1e12, Delta: 1e-5})
	trainer, err := sgd.New(sgd.Config{
		ClipNorm:            clipNorm,
		SamplingProbability: probability,
		Steps:               1 << 20,
		NoiseMultiplier:     noiseMultiplier,
		Optimizer:           sgd.AdamWith(learningRate, decayOf(net), 0.999, 1e-8),
	}, net, l)
	if err != nil {
		return nil, err
	}
	next, _ := iter.Pull2(trainer.Steps(context.Background(), data))
	return func() error {
		_, err, ok := next()
		if !ok {
			return io.EOF
		}
		return err
	}, nil
}

// plain returns a function that takes the same step without clipping and noise.
func plain(net models.Network, data *fixedBatches) func() error {
	be, params := device.CPU(), net.Params()
	sum := device.NewParams(be, params.Shapes...)
	mean, square := be.New(1, params.Len()), be.New(1, params.Len())
	adam := device.AdamStep{LR: learningRate, Beta1: float32(decayOf(net)), Beta2: 0.999, Eps: 1e-8}
	weights := make([]float32, data.batch)
	for i := range weights {
		weights[i] = 1 / float32(data.batch)
	}
	var b device.Batch
	return func() error {
		data.next(&b)
		be.Fill(sum.Flat, 0)
		net.Gradients(b).AddWeightedSum(sum, weights)
		adam.T++
		be.Adam(params.Flat, sum.Flat, mean, square, adam)
		return nil
	}
}

// serve answers commands until the input ends.
func (c *candidate) serve(r io.Reader, w io.Writer) error {
	for {
		var command string
		var amount float64
		switch _, err := fmt.Fscanln(r, &command, &amount); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		var err error
		switch command {
		case "check":
			err = c.check(w, int(amount))
		case "run":
			err = c.run(w, amount)
		default:
			err = fmt.Errorf("unknown command %q", command)
		}
		if err != nil {
			return err
		}
	}
}

func (c *candidate) run(w io.Writer, seconds float64) error {
	before, start := c.examples(), time.Now()
	for time.Since(start).Seconds() < seconds {
		if err := c.step(); err != nil {
			return err
		}
	}
	elapsed := time.Since(start).Seconds()
	_, err := fmt.Fprintln(w, c.examples()-before, elapsed)
	return err
}

func (c *candidate) check(w io.Writer, steps int) error {
	for range steps {
		if err := c.step(); err != nil {
			return err
		}
	}
	var b device.Batch
	c.data.next(&b)
	losses := make([]float64, b.Rows)
	c.net.Gradients(b).(interface{ Losses([]float64) }).Losses(losses)
	total := 0.0
	for _, l := range losses {
		total += l
	}
	_, err := fmt.Fprintf(w, "%.2f\n", total/float64(b.Rows))
	return err
}
