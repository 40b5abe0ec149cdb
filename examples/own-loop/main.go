// Command own-loop trains a user-defined model privately with packages sgd and ledger: a linear
// regression that states its per-example gradients.
//
//	go -C examples run ./own-loop                 a second
//
// It prints the coefficients and the guarantee, and saves the ledger in out/own-loop-ledger.json.
// Command audit-ledger explains this file.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func main() { program.Main("own-loop", run) }

const inputs = 4 // inputs and the answer are declared to be in [-1, 1]

func run(ctx context.Context, _ []string) error {
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	cfg, err := sgd.Config{ClipNorm: 1, SamplingProbability: 0.02, Steps: 400,
		Optimizer: sgd.Momentum(0.05, 0.9), NominalBatch: 400}.Calibrate(budget)
	if err != nil {
		return err
	}
	truth := []float32{0.5, -0.3, 0.2, 0.1}
	data, err := measurements(20000, truth)
	if err != nil {
		return err
	}
	l := ledger.New(budget)
	net := &regression{params: device.NewParams(device.CPU(),
		device.Shape{Name: "coefficients", Rows: 1, Cols: inputs})}
	trainer, err := sgd.New(cfg, net, l)
	if err != nil {
		return err
	}
	for _, err := range trainer.Steps(ctx, data) {
		if err != nil {
			return err
		}
	}
	fmt.Printf("coefficients %.3f, truth %.3f\n", net.params.Flat.Data, truth)
	fmt.Println(l.Guarantee())
	if err := os.MkdirAll("out", 0o755); err != nil {
		return err
	}
	return program.Save("out/own-loop-ledger.json", func(w io.Writer) error {
		return json.NewEncoder(w).Encode(l)
	})
}

// regression predicts the last coordinate of a record from the others.
type regression struct {
	params  device.Params
	batch   device.Batch
	residue []float64
}

// Params returns the coefficients.
func (r *regression) Params() device.Params { return r.params }

// Gradients of half the squared error: the gradient of an example is its residual times its inputs.
func (r *regression) Gradients(b device.Batch) models.Gradients {
	r.batch, r.residue = b, r.residue[:0]
	for i := range b.Rows {
		x := b.Dense.Row(i)
		e := -float64(x[inputs])
		for j, w := range r.params.Flat.Data {
			e += float64(w) * float64(x[j])
		}
		r.residue = append(r.residue, e)
	}
	return r
}

// SquaredNorms sets dst[i] to ‖gᵢ‖².
func (r *regression) SquaredNorms(dst []float64) {
	for i, e := range r.residue {
		dst[i] = 0
		for _, x := range r.batch.Dense.Row(i)[:inputs] {
			dst[i] += e * e * float64(x) * float64(x)
		}
	}
}

// AddWeightedSum adds Σ wᵢ gᵢ.
func (r *regression) AddWeightedSum(dst device.Params, weights []float32) {
	for i, e := range r.residue {
		for j, x := range r.batch.Dense.Row(i)[:inputs] {
			dst.Flat.Data[j] += weights[i] * float32(e) * x
		}
	}
}

// measurements draws records that follow the truth with some error.
func measurements(n int, truth []float32) (*records.Table, error) {
	rng := rand.New(rand.NewPCG(1, 1))
	flat := make([]float32, 0, n*(inputs+1))
	for range n {
		y := float32(rng.NormFloat64() * 0.1)
		for _, w := range truth {
			x := float32(2*rng.Float64() - 1)
			flat, y = append(flat, x), y+w*x
		}
		flat = append(flat, y)
	}
	return records.FromFlat(records.Interval(inputs+1, -1, 1), flat)
}
