package merf

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

func internalEmbedding(t *testing.T) *Embedding {
	t.Helper()
	s, err := records.NewSchema(records.Numeric("x", 0, 1), records.Categorical("c", "a", "b", "c"), records.Label("y", "p", "q"))
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}, Kernel: rff.RBF{Dim: 20, Bandwidth: 0.5}, Seed: 1}
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.FromValues(s, []any{0.3, "a", "p"}, []any{0.8, "b", "q"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Embed(context.Background(), p, data, accountant.NewLedger(c.Budget))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestStepsAllocateNothing once they are warm.
func TestStepsAllocateNothing(t *testing.T) {
	g := GeneratorConfig{Architecture: models.MLP{Hidden: []int{8}, BatchNorm: true}, Latent: 3, Batch: 16}.withDefaults()
	tr, err := newTraining(internalEmbedding(t), g, device.CPUWith(1))
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	step := func() { tr.step(i); i++ }
	step()
	if a := testing.AllocsPerRun(100, step); a > 0 {
		t.Errorf("%v allocations a step", a)
	}
}

// TestDerivative compares what derive leaves with central differences of the unbiased statistic, from its definition.
func TestDerivative(t *testing.T) {
	g := GeneratorConfig{Architecture: models.MLP{}, Latent: 2, Batch: 10, Weights: ByProportion}.withDefaults()
	tr, err := newTraining(internalEmbedding(t), g, device.CPUWith(1))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for class, w := range tr.target.weight {
		f := tr.features.RowRange(class*tr.each, (class+1)*tr.each)
		rows := make([][]float64, tr.each)
		for i := range rows {
			rows[i] = make([]float64, f.Cols)
			for j := range rows[i] {
				f.Row(i)[j] = float32(rng.NormFloat64())
				rows[i][j] = float64(f.Row(i)[j])
			}
		}
		loss := func() float64 { return float64(w) * unbiased(rows, tr.target.means[class]) }
		tr.derive(class, f)
		for i := range rows {
			for j := range rows[i] {
				const h = 1e-4
				rows[i][j] += h
				up := loss()
				rows[i][j] -= 2 * h
				down := loss()
				rows[i][j] += h
				if want := (up - down) / (2 * h); math.Abs(want-float64(f.Row(i)[j])) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("class %d, record %d, feature %d: %v, difference quotient %v", class, i, j, f.Row(i)[j], want)
				}
			}
		}
	}
}

// unbiased is the squared distance of the generator's mean to the target as products of different records estimate it,
// without the target's own square.
func unbiased(rows [][]float64, mean []float32) float64 {
	b, sum := float64(len(rows)), 0.0
	for i, x := range rows {
		for k, y := range rows {
			for j := range x {
				if i != k {
					sum += x[j] * y[j] / (b * (b - 1))
				}
			}
		}
		for j := range x {
			sum -= 2 * x[j] * float64(mean[j]) / b
		}
	}
	return sum
}

// TestSizesHaveFloors: no noise makes a divisor small, and proportions are probabilities.
func TestSizesHaveFloors(t *testing.T) {
	e := internalEmbedding(t)
	e.counts = []float64{-1e9, 2000}
	for i, n := range e.sizes(3) {
		if n < 3*e.noise.count {
			t.Errorf("class %d is divided by %v, with noise ±%v", i, n, e.noise.count)
		}
	}
	if p := e.proportions(); p[0] != 0 || p[1] != 1 {
		t.Errorf("proportions %v", p)
	}
	e.counts = []float64{-5, -6}
	if p := e.proportions(); p[0] != 0.5 || p[1] != 0.5 {
		t.Errorf("proportions %v", p)
	}
	e.counts, e.config.Nominal = []float64{60, 30}, 100
	if p := e.proportions(); math.Abs(p[0]-0.65) > 1e-12 {
		t.Errorf("proportions %v where 100 records are known to be there", p)
	}
}

// TestWienerWeights: a class that drowns in the noise counts little, one that does not counts fully.
func TestWienerWeights(t *testing.T) {
	e := internalEmbedding(t)
	for j := range e.sum(0) {
		e.sum(0)[j] = 0.5 * e.noise.sum
		e.sum(1)[j] = 100 * e.noise.sum
	}
	tgt := e.target(GeneratorConfig{Shrink: true}.withDefaults())
	if tgt.weight[0] != 0 || tgt.weight[1] < 0.999 {
		t.Errorf("weights %v", tgt.weight)
	}
	if tgt.means[0][0] != 0 || tgt.means[1][0] == 0 {
		t.Errorf("shrunk means %v, %v", tgt.means[0][0], tgt.means[1][0])
	}
}
