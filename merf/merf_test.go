package merf_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// relations lists both relations.
var relations = []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}

// kernels returns feature maps of all kinds, by name. They are small enough for millions of runs.
func kernels() map[string]rff.EmbeddingKernel {
	return map[string]rff.EmbeddingKernel{
		"rbf":      rff.RBF{Dim: 12, Bandwidth: 1},
		"phase":    rff.RBF{Dim: 9, Bandwidth: 0.3, Phase: true},
		"one":      rff.RBF{Dim: 2, Bandwidth: 0.5},
		"pairs":    rff.Pairs{Knots: 3},
		"too long": modest{rff.RBF{Dim: 4, Bandwidth: 1}},
	}
}

// modest is a kernel that states half the true bound on its features' norm. Rows must be clipped to
// the stated bound.
type modest struct{ rff.EmbeddingKernel }

func (k modest) Embedding(l rff.Layout, seed uint64) (rff.Embedding, error) {
	e, err := k.EmbeddingKernel.Embedding(l, seed)
	return modestEmbedding{e}, err
}

type modestEmbedding struct{ rff.Embedding }

func (e modestEmbedding) NormBound() float64   { return e.Embedding.NormBound() / 2 }
func (e modestEmbedding) ChangeBound() float64 { return e.Embedding.NormBound() }

// table returns a small schema with columns of every kind.
func table(t testing.TB, extra ...records.Column) records.Schema {
	t.Helper()
	s := must(records.NewSchema(append([]records.Column{
		records.Numeric("x", -1, 3).WithMissing(),
		records.Integer("n", 0, 4),
		records.Ordinal("size", "s", "m", "l"),
		records.Categorical("colour", "red", "green", "blue").WithMissing(),
		records.Flag("old", "no", "yes"),
	}, extra...)...))(t)
	return s
}

// schemas returns schemas of every kind, with classes and without.
func schemas(t testing.TB) []records.Schema {
	return []records.Schema{
		table(t, records.Label("class", "a", "b", "c")),
		table(t),
		table(t, records.Target("price", 0, 10)),
		records.Binary(6).WithLabels("a", "b"),
		records.Interval(4, -2, 1).WithLabels("a", "b").WithUnknown("b"),
		records.Interval(3, -0.3, 0.1),
		records.Image(2, 3).WithLabels("a", "b"),
		records.BinaryImage(3, 2).WithLabels("a"),
		records.Sets(20, 4),
	}
}

// small returns a configuration for a schema whose runs take milliseconds.
func small(s records.Schema, r accountant.Relation, k rff.EmbeddingKernel) merf.Config {
	c := merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 4, Delta: 1e-5, Relation: r},
		Kernel: k, Seed: 3, Generator: quick}
	if r == accountant.ReplaceOne && s.Classes() < 2 {
		c.Nominal = 12
	}
	return c
}

func mustPlan(t testing.TB, c merf.Config) *merf.Plan {
	t.Helper()
	return must(c.Plan())(t)
}

func mustEmbed(t testing.TB, p *merf.Plan, data records.Data) *merf.Embedding {
	t.Helper()
	return must(p.Embed(context.Background(), ledger.New(p.Budget()), data))(t)
}

// quick is a configuration for training that takes milliseconds.
var quick = merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{8}, BatchNorm: true},
	Latent: 2, Steps: 5, Batch: 12}

// drawTable draws rows of a labelled table whose classes differ in colour, size and numbers.
func drawTable(t testing.TB, n int, seed uint64) *records.Frame {
	t.Helper()
	s := table(t, records.Label("class", "a", "b", "c"))
	b := must(records.NewFrameBuilder(s))(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		class := rng.IntN(10) / 5 * (1 + rng.IntN(2)) // half a, a quarter b, a quarter c
		colour := []string{"red", "green", "blue"}[(class+rng.IntN(10)/8)%3]
		var x any = math.Min(float64(class)+rng.NormFloat64()/2, 3)
		if rng.IntN(8) == 0 {
			x = nil
		}
		old := []string{"no", "yes"}[rng.IntN(3)/2]
		n := class*2 + rng.IntN(2) - rng.IntN(2)*min(class, 1)
		size, label := []string{"s", "m", "l"}[class], []string{"a", "b", "c"}[class]
		if err := b.Append(x, n, size, colour, old, label); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}
