package merf

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

func internalEmbedding(t *testing.T, k rff.EmbeddingKernel) *Embedding {
	t.Helper()
	s, err := records.NewSchema(records.Numeric("x", 0, 1), records.Categorical("c", "a", "b", "c"),
		records.Label("y", "p", "q"))
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Schema: s, Budget: accountant.Budget{Epsilon: 300, Delta: 1e-5}, Kernel: k, Seed: 1}
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.FromValues(s, []any{0.3, "a", "p"}, []any{0.8, "b", "q"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Embed(context.Background(), ledger.New(c.Budget), data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// pairs is a kernel whose features can be computed by batches or row by row.
var pairs = rff.Pairs{Knots: 3}

// rowwise hides the batch methods of a kernel's embedding.
type rowwise struct{ rff.EmbeddingKernel }

type plainEmbedding struct{ rff.Embedding }

func (k rowwise) Embedding(l rff.Layout, seed uint64) (rff.Embedding, error) {
	e, err := k.EmbeddingKernel.Embedding(l, seed)
	return plainEmbedding{e}, err
}

// TestDerivative compares the derivative of the loss with respect to the batch's records with
// central differences of the unbiased statistic, for each way of computing the derivative. The
// features of "rbf" are computed in two stretches, of which the second is shorter.
func TestDerivative(t *testing.T) {
	g := GeneratorConfig{Architecture: models.MLP{}, Latent: 2, Batch: 10}.withDefaults()
	for name, k := range map[string]rff.EmbeddingKernel{"rbf": rff.RBF{Dim: 2400, Bandwidth: 0.5},
		"rbf row by row": rowwise{rff.RBF{Dim: 20, Bandwidth: 0.5}},
		"pairs":          pairs, "pairs row by row": rowwise{pairs}} {
		tr, err := newTraining(internalEmbedding(t, k), nil, g, device.CPUWith(1))
		if err != nil {
			t.Fatal(err)
		}
		if byClass := tr.pieces[0].batch != nil; byClass != (name == "pairs") {
			t.Fatalf("%s: derivative by class: got %v", name, byClass)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		x := device.HostMatrix(2*tr.each, 4, make([]float32, 8*tr.each))
		for i := range x.Data {
			// All numbers are between the same two knots, where the loss is differentiable.
			x.Data[i] = 0.05 + 0.4*rng.Float32()
		}
		tr.derive(x, tr.pieces[0])
		for i := range x.Data {
			const h = 1.0 / 256
			save := x.Data[i]
			x.Data[i] = save + h
			up := loss(tr, x)
			x.Data[i] = save - h
			down := loss(tr, x)
			x.Data[i] = save
			want := (up - down) / (2 * h)
			if got := float64(tr.dx.Data[i]); math.Abs(want-got) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s, coordinate %d: derivative %v, want the difference quotient %v", name, i, got,
					want)
			}
		}
	}
}

// loss returns the weighted sum of the classes' unbiased statistics.
func loss(tr *training, x device.Matrix) float64 {
	f := device.CPU().New(x.Rows, tr.e.Features())
	tr.e.features.Transform(device.CPU(), device.Batch{Rows: x.Rows, Dense: x}, f)
	total := 0.0
	for c, w := range tr.target.weight {
		var rows [][]float64
		for i := range tr.each {
			var row []float64
			for _, v := range f.Row(c*tr.each + i) {
				row = append(row, float64(v))
			}
			rows = append(rows, row)
		}
		total += float64(w) * unbiased(rows, tr.target.means[c])
	}
	return total
}

// unbiased returns the unbiased estimate of the squared distance between the generator's mean and
// the target, from products of different records. It omits the target's squared norm, which is
// constant.
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

// TestPiecesPullAsTheWhole checks that the mean of all pieces' derivatives, weighted by their
// numbers of features, is the derivative with all features.
func TestPiecesPullAsTheWhole(t *testing.T) {
	e := internalEmbedding(t, rff.RBF{Dim: 22, Bandwidth: 0.5})
	g := GeneratorConfig{Architecture: models.MLP{}, Latent: 2, Batch: 10}.withDefaults()
	derive := func(g GeneratorConfig, x device.Matrix) (sum []float64) {
		tr, err := newTraining(e, divide(e, g), g, device.CPUWith(1))
		if err != nil {
			t.Fatal(err)
		}
		if want := max((22+g.FeaturesPerStep/2)/max(g.FeaturesPerStep, 1), 1); g.FeaturesPerStep > 0 &&
			len(tr.pieces) != want {
			t.Fatalf("got %d pieces of 22 features with %d features per step", len(tr.pieces),
				g.FeaturesPerStep)
		}
		sum = make([]float64, len(x.Data))
		for _, piece := range tr.pieces {
			tr.derive(x, piece)
			for i, v := range tr.dx.Data {
				sum[i] += float64(v) * float64(piece.features.Dim()) / 22
			}
		}
		return sum
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x := device.HostMatrix(10, 4, make([]float32, 40))
	for i := range x.Data {
		x.Data[i] = rng.Float32()
	}
	whole := derive(g, x)
	g.FeaturesPerStep = 7
	for i, v := range derive(g, x) {
		if math.Abs(v-whole[i]) > 1e-5 {
			t.Errorf("coordinate %d: derivative %v by pieces, want %v", i, v, whole[i])
		}
	}
}

// TestSizesHaveFloors checks that divisors have a lower limit and that proportions are
// probabilities, even if counts are negative.
func TestSizesHaveFloors(t *testing.T) {
	e := internalEmbedding(t, pairs)
	e.counts = []float64{-1e9, 2000}
	for i, n := range e.sizes(3) {
		if n < 3*e.noise.count {
			t.Errorf("class %d has divisor %v, want at least 3 times the noise ±%v", i, n, e.noise.count)
		}
	}
	if p := e.proportions(); p[0] != 0 || p[1] != 1 {
		t.Errorf("proportions %v, want 0 and 1", p)
	}
	e.counts = []float64{-5, -6}
	if p := e.proportions(); p[0] != 0.5 || p[1] != 0.5 {
		t.Errorf("proportions %v, want one half each", p)
	}
	e.counts, e.config.Nominal = []float64{60, 30}, 100
	if p := e.proportions(); math.Abs(p[0]-0.65) > 1e-12 {
		t.Errorf("counts of 60 and 30 of 100 records give proportions %v, want 0.65 and 0.35", p)
	}
}

// TestWienerWeights checks that a class whose sum is mostly noise has weight 0. A class with a
// strong signal must have nearly weight 1.
func TestWienerWeights(t *testing.T) {
	e := internalEmbedding(t, pairs)
	for j := range e.sum(0) {
		e.sum(0)[j] = 0.5 * e.noise.sum
		e.sum(1)[j] = 100 * e.noise.sum
	}
	tgt := e.target(3)
	if tgt.weight[0] != 0 || tgt.weight[1] < 0.999 {
		t.Errorf("weights %v, want 0 and almost 1", tgt.weight)
	}
}
