package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// delta is that of the printed ε.
const delta = 1e-5

// atOnce is the number of examples in memory at a time: few, so their values stay in the cache.
const atOnce = 32

// example is a network with its data.
type example struct {
	settings
	*data
	compute func(x models.Value) models.Loss
	step    func() error // of run
	batches *fixedBatches
}

// table returns the records for training.
func (e *example) table() (*records.Table, error) {
	classes := strings.Fields(strings.Repeat("class ", e.Classes))
	for i := range classes {
		classes[i] += fmt.Sprint(i)
	}
	schema := records.Interval(e.Dim, 0, e.Most).WithLabels(classes...)
	return records.FromFlat(schema, e.x[:e.Train*e.Dim], e.y[:e.Train]...)
}

// trainer returns a trainer of a new network.
func (e *example) trainer(seed uint64, sampled float64, steps int) (*models.Classifier,
	*ledger.Ledger, *sgd.Trainer, error) {
	net, err := models.Build(device.CPU(), e.Dim, seed, e.compute)
	if err != nil {
		return nil, nil, nil, err
	}
	l := ledger.New(accountant.Budget{Epsilon: 1e12, Delta: delta})
	optimizer := sgd.SGD(e.Rate)
	if e.Optimizer == "adam" {
		optimizer = sgd.Adam(e.Rate)
	}
	t, err := sgd.New(sgd.Config{ClipNorm: e.Clip, NoiseMultiplier: e.Noise, Optimizer: optimizer,
		SamplingProbability: sampled, NominalBatch: float64(e.Batch), Steps: steps,
		MicroBatch: atOnce}, net, l)
	return net, l, t, err
}

// train trains a network with Poisson samples and tests it.
func (e *example) train(w io.Writer, seed uint64) error {
	table, err := e.table()
	if err != nil {
		return err
	}
	sampled := float64(e.Batch) / float64(e.Train)
	net, l, trainer, err := e.trainer(seed, sampled, e.Epochs*e.Train/e.Batch)
	if err != nil {
		return err
	}
	for _, err := range trainer.Steps(context.Background(), table) {
		if err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(w, e.accuracy(net), l.Epsilon().Upper)
	return err
}

// accuracy returns the fraction of test records whose most probable class is theirs.
func (e *example) accuracy(net *models.Classifier) float64 {
	x, y, right := e.x[e.Train*e.Dim:], e.y[e.Train:], 0
	for lo := 0; lo < len(y); lo += e.Batch {
		n := min(e.Batch, len(y)-lo)
		classes := make([]int32, n)
		net.PredictClass(device.Batch{Rows: n,
			Dense: device.HostMatrix(n, e.Dim, x[lo*e.Dim:(lo+n)*e.Dim])}, classes)
		for i, c := range classes {
			if c == y[lo+i] {
				right++
			}
		}
	}
	return float64(right) / float64(len(y))
}

// run takes private steps with batches of constant size for some seconds.
func (e *example) run(w io.Writer, seconds float64) error {
	if e.step == nil {
		if err := e.start(); err != nil {
			return err
		}
	}
	before, start := e.batches.drawn, time.Now()
	for time.Since(start).Seconds() < seconds {
		if err := e.step(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, e.batches.drawn-before, time.Since(start).Seconds())
	return err
}

func (e *example) start() error {
	table, err := e.table()
	if err != nil {
		return err
	}
	e.batches = &fixedBatches{Table: table, batch: e.Batch, rng: rand.New(rand.NewPCG(2, 2))}
	_, _, trainer, err := e.trainer(1, 1, 1<<20)
	if err != nil {
		return err
	}
	next, _ := iter.Pull2(trainer.Steps(context.Background(), e.batches))
	e.step = func() error {
		_, err, ok := next()
		if !ok {
			return io.EOF
		}
		return err
	}
	return nil
}

// fixedBatches presents a table as a data set of batch records. Every reading gives new random
// records of the table. It is for timing only: a guarantee about it is meaningless.
type fixedBatches struct {
	*records.Table
	batch, drawn int
	rng          *rand.Rand
}

// Len returns the size of a batch.
func (d *fixedBatches) Len() int { return d.batch }

// Gather copies as many random records as requested.
func (d *fixedBatches) Gather(asked []int32, b *device.Batch) {
	index := make([]int32, len(asked))
	for i := range index {
		index[i] = int32(d.rng.IntN(d.Table.Len()))
	}
	d.drawn += len(index)
	d.Table.Gather(index, b)
}
