// Command own-loop trains a user-defined model privately, with nothing of this
// module but sgd, accountant and the description of records: a linear regression
// that states its per-example gradients in the plainest way there is. Then it trains
// a classifier of the library with a user-defined optimiser, a learning rate that
// warms up and falls, and a clip norm for every layer: loop.go is all of that.
//
//	go run ./examples/own-loop
//
// It takes a second, prints the noise it needs, the coefficients on the way and
// the guarantee, and saves the ledger, which
//
//	go run ./examples/audit-ledger out/own-loop-ledger.json
//
// explains. The records are made by measurements; records of your own come from
// a file there instead (records.CSV), and nothing else changes but inputs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "own-loop:", err)
		os.Exit(1)
	}
}

// Records are four inputs and the answer, all in [-1, 1] by declaration.
const inputs = 4

func run(ctx context.Context) error {
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	cfg, err := sgd.Config{ClipNorm: 1, SamplingProbability: 0.02, Steps: 400,
		Optimizer: sgd.Momentum(0.05, 0.9), NominalBatch: 400}.Calibrate(budget)
	if err != nil {
		return err
	}
	fmt.Printf("%d steps at ε = %g, δ = %g need a noise multiplier of %.3f\n", cfg.Steps,
		budget.Epsilon, budget.Delta, cfg.NoiseMultiplier)

	truth := []float32{0.5, -0.3, 0.2, 0.1}
	data, err := measurements(20000, truth)
	if err != nil {
		return err
	}
	ledger := accountant.NewLedger(budget)
	net := newRegression()
	trainer, err := sgd.New(cfg, net, ledger)
	if err != nil {
		return err
	}
	for step, err := range trainer.Steps(ctx, data) {
		if err != nil {
			return err
		}
		if step.Number%100 == 0 {
			fmt.Printf("step %3d of %d, ε so far %.3f, coefficients %.3f\n", step.Number, step.Of,
				step.Epsilon, net.params.Flat.Data)
		}
	}
	fmt.Printf("the truth was %.3f\n\n%v\n", truth, ledger.Guarantee())
	if err := signs(ctx, budget); err != nil {
		return err
	}
	return save(ledger, filepath.Join("out", "own-loop-ledger.json"))
}

// signs trains a classifier on records whose class is the sign of the answer.
func signs(ctx context.Context, budget accountant.Budget) error {
	var sets []records.Data
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(2, seed))
		flat, labels := make([]float32, 0, 20000*inputs), make([]int32, 20000)
		for i := range labels {
			y := float32(0)
			for range inputs {
				x := float32(2*rng.Float64() - 1)
				flat, y = append(flat, x), x-y
			}
			if y > 0 {
				labels[i] = 1
			}
		}
		data, err := records.FromFlat(records.Interval(inputs, -1, 1).WithLabels("negative",
			"positive"), flat, labels...)
		if err != nil {
			return err
		}
		sets = append(sets, data)
	}
	net, err := classify(ctx, accountant.NewLedger(budget), sets[0])
	if err != nil {
		return err
	}
	var b device.Batch
	sets[1].Range(0, sets[1].Len(), &b)
	named, right := make([]int32, b.Rows), 0
	net.PredictClass(b, named)
	for i, class := range named {
		if class == b.Labels[i] {
			right++
		}
	}
	fmt.Printf("a classifier at the same budget names %.1f %% of other records rightly\n",
		100*float64(right)/float64(b.Rows))
	return nil
}

// save keeps what was promised and spent, for later audits.
func save(ledger *accountant.Ledger, path string) error {
	bill, err := json.MarshalIndent(ledger, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, bill, 0o644); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}

// regression predicts the last coordinate of a record from the others.
type regression struct {
	params  device.Params
	batch   device.Batch
	residue []float64
}

func newRegression() *regression {
	return &regression{params: device.NewParams(device.CPU(),
		device.Shape{Name: "coefficients", Rows: 1, Cols: inputs})}
}

// Params are the coefficients.
func (r *regression) Params() device.Params { return r.params }

// Gradients of half the squared error: the gradient of one example is its residue
// times its inputs, so its squared norm and a weighted sum are a line each.
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
		if weights[i] == 0 {
			continue
		}
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
			flat = append(flat, x)
			y += w * x
		}
		flat = append(flat, y)
	}
	return records.FromFlat(records.Interval(inputs+1, -1, 1), flat)
}
