package merf

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// twoRows is a kernel for records of one coordinate, which is 0 or 1. The first feature is -0.8 or
// 0.8. All other features have the same positive value; their norm is lowNorm or 0.6.
type twoRows struct{ dim int }

func (k twoRows) Embedding(rff.Layout, uint64) (rff.Embedding, error) { return twoRowsMap(k), nil }

type twoRowsMap struct{ dim int }

const lowNorm = 0.124999 // just below four steps of the grid in every coordinate

func (k twoRowsMap) In() int              { return 1 }
func (k twoRowsMap) Dim() int             { return k.dim }
func (k twoRowsMap) NormBound() float64   { return math.Hypot(0.6, 0.8) }
func (k twoRowsMap) ChangeBound() float64 { return math.Hypot(0.6-lowNorm, 1.6) }

func (k twoRowsMap) Transform(_ device.Backend, b device.Batch, dst device.Matrix) {
	for i := range b.Rows {
		norm, first := lowNorm, float32(-0.8)
		if b.Dense.Row(i)[0] > 0.5 {
			norm, first = 0.6, 0.8
		}
		row := dst.Row(i)
		for j := range row {
			row[j] = float32(norm / math.Sqrt(float64(k.dim-1)))
		}
		row[0] = first
	}
}

func (k twoRowsMap) Backward(device.Backend, device.Matrix, device.Matrix, device.Matrix) {}

// TestPlansForPersonsAllowForTheirRounding compares the sums of a person with the largest number of
// rows and of a person with one row. Their distance must not exceed the sensitivity that the plan's
// noise is chosen for.
func TestPlansForPersonsAllowForTheirRounding(t *testing.T) {
	const most, dim, z = records.MostRows, 1<<14 + 1, 50
	s := records.Interval(1, 0, 1).ByPerson(most)
	p, err := Config{Schema: s, Kernel: twoRows{dim: dim}, Nominal: 1, NoiseMultiplier: z,
		Budget:    accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: accountant.ReplaceOne},
		Generator: GeneratorConfig{Architecture: models.MLP{Hidden: []int{1}}, Latent: 1}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	many, one := sumOf(t, p, make([]float32, most)), sumOf(t, p, []float32{1})
	square := 0.0
	for j := range many {
		square += (many[j] - one[j]) * (many[j] - one[j])
	}
	// Reading the sums adds noise of standard deviation 2⁻¹⁶. The rounding of the rows is 0.01.
	if apart := math.Sqrt(square); apart > p.SumStd/z+1e-3 {
		t.Errorf("the persons' sums have distance %.5f; the noise is for %.5f", apart, p.SumStd/z)
	}
}

// sumOf returns the sums that a plan computes for one person.
func sumOf(t *testing.T, p *Plan, rows []float32) []float64 {
	t.Helper()
	d, err := records.FromFlat(p.Schema().ByPerson(0), rows)
	if err != nil {
		t.Fatal(err)
	}
	person, err := records.GroupBy(d, make([]int, len(rows)), p.Schema().RowsPerPerson())
	if err != nil {
		t.Fatal(err)
	}
	c := p.work.newCounter(device.CPU())
	if err := c.Add(t.Context(), person); err != nil {
		t.Fatal(err)
	}
	l := ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 1e-5})
	grant, err := mechanism.Begin(t.Context(), l).Spend("test",
		accountant.Gaussian{NoiseMultiplier: 1})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, c.Sums()[0].Dim())
	err = grant.Release(0.5, mechanism.Part{Sum: c.Sums()[0], Std: 0x1p-16, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
