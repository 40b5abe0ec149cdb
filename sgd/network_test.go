package sgd_test

import (
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// centre is a user-defined network with explicit gradients. With its loss ½‖θ−x‖², the parameters
// move to the mean of the records.
type centre struct {
	params device.Params
	rows   [][]float32
	begun  int // steps begun
	peak   int // largest batch seen
}

func newCentre(dim int) *centre {
	return &centre{params: device.NewParams(device.CPU(),
		device.Shape{Name: "centre", Rows: 1, Cols: dim})}
}

func (c *centre) Params() device.Params { return c.params }
func (c *centre) BeginStep()            { c.begun++ }
func (c *centre) Dim() int              { return c.params.Len() }

func (c *centre) Gradients(b device.Batch) models.Gradients {
	c.peak = max(c.peak, b.Rows)
	c.rows = c.rows[:0]
	for i := range b.Rows {
		g := make([]float32, c.params.Len())
		for j, x := range b.Dense.Row(i) {
			g[j] = c.params.Flat.Data[j] - x
		}
		c.rows = append(c.rows, g)
	}
	return c
}

func (c *centre) SquaredNorms(dst []float64) {
	for i, g := range c.rows {
		dst[i] = 0
		for _, v := range g {
			dst[i] += float64(v) * float64(v)
		}
	}
}

func (c *centre) AddWeightedSum(dst device.Params, w []float32) {
	for i, g := range c.rows {
		if w[i] == 0 {
			continue
		}
		for j, v := range g {
			dst.Flat.Data[j] += w[i] * v
		}
	}
}

func (c *centre) Losses(dst []float64) { c.SquaredNorms(dst) }

var (
	_ models.Network                 = (*centre)(nil)
	_ models.Stepper                 = (*centre)(nil)
	_ interface{ Losses([]float64) } = (*centre)(nil)
)

// table returns n random records around offset.
func table(t testing.TB, n, dim int, offset float64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	flat := make([]float32, n*dim)
	for i := range flat {
		flat[i] = float32(offset + rng.NormFloat64()*0.2)
	}
	return fromFlat(t, dim, flat)
}

func fromFlat(t testing.TB, dim int, flat []float32) *records.Table {
	t.Helper()
	return must(records.FromFlat(records.Interval(dim, -100, 100), flat))(t)
}

func budget(epsilon float64) accountant.Budget {
	return accountant.Budget{Epsilon: epsilon, Delta: 1e-5}
}

// raw returns rows unchecked, NaN included, as a user-defined implementation of records.Data may
// do.
type raw struct {
	records.Data
	rows [][]float32
}

func (r raw) Len() int { return len(r.rows) }

func (r raw) Gather(rows []int32, b *device.Batch) {
	dim := r.Schema().Dim()
	b.Rows, b.Index = len(rows), append(b.Index[:0], rows...)
	b.Dense = device.HostMatrix(len(rows), dim, make([]float32, len(rows)*dim))
	for i, row := range rows {
		copy(b.Dense.Row(i), r.rows[row])
	}
}

func setTable(t testing.TB, universe int, sets [][]uint32) *records.SetTable {
	t.Helper()
	return must(records.FromItems(records.Sets(universe, universe), sets))(t)
}
