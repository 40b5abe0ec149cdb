package tutorials_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// line is y = w·x, a network with one parameter. Records are pairs (x, y).
type line struct {
	params device.Params
	batch  device.Batch
}

func newLine() *line {
	return &line{params: device.NewParams(device.CPU(), device.Shape{Name: "w", Rows: 1, Cols: 1})}
}

// Params returns the trained parameters.
func (l *line) Params() device.Params { return l.params }

// Gradients keeps the batch. The methods below compute gradients from it.
func (l *line) Gradients(b device.Batch) models.Gradients {
	l.batch = b
	return l
}

// slope returns the derivative of (w·x − y)²/2 by w for record i.
func (l *line) slope(i int) float32 {
	r := l.batch.Dense.Row(i)
	return (l.params.Flat.Data[0]*r[0] - r[1]) * r[0]
}

// SquaredNorms sets dst to the squared norms of the records' gradients.
func (l *line) SquaredNorms(dst []float64) {
	for i := range dst {
		dst[i] = float64(l.slope(i)) * float64(l.slope(i))
	}
}

// AddWeightedSum adds the weighted sum of the records' gradients.
func (l *line) AddWeightedSum(dst device.Params, weights []float32) {
	for i, w := range weights {
		if w != 0 { // a record of weight 0 must add nothing, even if it is not finite
			dst.Flat.Data[0] += w * l.slope(i)
		}
	}
}

func Example_loop() {
	rng := rand.New(rand.NewPCG(1, 1))
	flat := make([]float32, 0, 2*5000)
	for range 5000 {
		x := 2*rng.Float32() - 1
		flat = append(flat, x, 0.6*x)
	}
	data, err := records.FromFlat(records.Interval(2, -1, 1), flat)
	check(err)

	budget := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	cfg, err := sgd.Config{ClipNorm: 0.5, SamplingProbability: 0.05, Steps: 200,
		NominalBatch: 250, Optimizer: sgd.SGD(1)}.Calibrate(budget)
	check(err)
	l := ledger.New(budget)
	net := newLine()
	trainer, err := sgd.New(cfg, net, l)
	check(err)
	for _, err := range trainer.Steps(context.Background(), data) {
		check(err)
	}
	w := net.params.Flat.Data[0]
	fmt.Println("slope within 0.2 of 0.6:", w > 0.4 && w < 0.8)
	fmt.Println("within the budget:", l.Epsilon().Upper <= budget.Epsilon)
	// Output:
	// slope within 0.2 of 0.6: true
	// within the budget: true
}
