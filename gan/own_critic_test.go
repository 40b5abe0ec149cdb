package gan_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

// slope is a user-defined critic, D(x) = w·x, that stores the gradients of all rows.
type slope struct {
	params device.Params
	rows   [][]float32
}

type slopes struct{}

func (slopes) Name() string { return "slope" }

func (slopes) Critic(be device.Backend, in, _ int, _ models.CriticLoss,
	_ uint64) (models.Critic, error) {
	return &slope{params: device.NewParams(be, device.Shape{Name: "w", Rows: 1, Cols: in})}, nil
}

func (c *slope) Params() device.Params { return c.params }
func (c *slope) Dim() int              { return c.params.Len() }
func (c *slope) Classes() int          { return 0 }

func (c *slope) Bind(p device.Params) {
	copy(p.Flat.Data, c.params.Flat.Data)
	c.params = p
}

func (c *slope) score(x []float32) (d float64) {
	for j, w := range c.params.Flat.Data {
		d += float64(w) * float64(x[j])
	}
	return d
}

func (c *slope) gradients(x device.Matrix, of func(float64) (float64, float64),
	scores []float64) models.BlockGradients {
	c.rows = nil
	for i := range x.Rows {
		d := c.score(x.Row(i))
		if scores != nil {
			scores[i] = d
		}
		_, s := of(d)
		row := make([]float32, x.Cols)
		for j, v := range x.Row(i) {
			row[j] = float32(s) * v
		}
		c.rows = append(c.rows, row)
	}
	return c
}

func (c *slope) PairGradients(device.Batch, device.Matrix, []float32,
	float64) models.BlockGradients {
	panic("slope does not support the Wasserstein loss")
}

func (c *slope) RecordGradients(b device.Batch, loss models.CriticLoss) models.BlockGradients {
	return c.gradients(b.Dense, loss.OfRecord, nil)
}

func (c *slope) FakeGradients(x device.Matrix, _ []int32, loss models.CriticLoss,
	scores []float64) models.BlockGradients {
	return c.gradients(x, loss.OfFake, scores)
}

func (c *slope) ScoreGradient(dx, x device.Matrix, _ []int32, slope func(float64) float64,
	scores []float64) {
	for i := range x.Rows {
		scores[i] = c.score(x.Row(i))
		s := float32(slope(scores[i]))
		for j, w := range c.params.Flat.Data {
			dx.Row(i)[j] = s * w
		}
	}
}

func (c *slope) SquaredNorms(dst []float64) {
	for i, row := range c.rows {
		dst[i] = 0
		for _, v := range row {
			dst[i] += float64(v) * float64(v)
		}
	}
}

func (c *slope) BlockSquaredNorms(dst [][]float64) { c.SquaredNorms(dst[0]) }

func (c *slope) AddWeightedSum(dst device.Params, w []float32) {
	for i, row := range c.rows {
		for j, v := range row {
			if w[i] != 0 {
				dst.Flat.Data[j] += w[i] * v
			}
		}
	}
}

func (c *slope) AddBlockSums(dst device.Params, w [][]float32) { c.AddWeightedSum(dst, w[0]) }

// TestOwnCritic checks that a user-defined critic can be used, and passes the same replay test as
// the critics of package models.
func TestOwnCritic(t *testing.T) {
	s := records.Interval(3, 0, 1)
	c := small(s, accountant.AddOrRemoveOne)
	c.Critic, c.Loss, c.Train.NominalBatch = slopes{}, models.Hinge, 4
	p := mustPlan(t, c)
	for _, pair := range privacytest.Neighbours(t, s, accountant.AddOrRemoveOne, 12, 3)[:6] {
		privacytest.Replay[records.Data]{Run: everythingVisible(t, p, false), Budget: c.Budget,
			Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
	}
}
