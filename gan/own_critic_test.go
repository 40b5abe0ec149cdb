package gan_test

import (
	"math"
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

func (slopes) Critic(be device.Backend, in, _ int, _ uint64) (models.Critic, error) {
	return &slope{params: device.NewParams(be, device.Shape{Name: "w", Rows: 1, Cols: in})}, nil
}

func (c *slope) Params() device.Params { return c.params }
func (c *slope) Dim() int              { return c.params.Len() }
func (c *slope) Classes() int          { return 0 }

func (c *slope) Bind(p device.Params) {
	copy(p.Flat.Data, c.params.Flat.Data)
	c.params = p
}

// PairGradients returns fake − x + 2λ(‖w‖−1)w/‖w‖ for each record x.
func (c *slope) PairGradients(b device.Batch, fakes device.Matrix, _ []float32,
	lambda float64) models.BlockGradients {
	square := 0.0
	for _, w := range c.params.Flat.Data {
		square += float64(w) * float64(w)
	}
	pull := 0.0
	if norm := math.Sqrt(square); norm > 0 {
		pull = 2 * lambda * (norm - 1) / norm
	}
	c.rows = nil
	for i := range b.Rows {
		row := make([]float32, c.Dim())
		for j, w := range c.params.Flat.Data {
			row[j] = fakes.Row(i)[j] - b.Dense.Row(i)[j] + float32(pull)*w
		}
		c.rows = append(c.rows, row)
	}
	return c
}

func (c *slope) ScoreGradient(dx, x device.Matrix, _ []int32, slope float64, _ []float64) {
	for i := range x.Rows {
		for j, w := range c.params.Flat.Data {
			dx.Row(i)[j] = float32(slope) * w
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
	c.Critic, c.Train.NominalBatch = slopes{}, 4
	p := mustPlan(t, c)
	for _, pair := range privacytest.Neighbours(t, s, accountant.AddOrRemoveOne, 12, 3)[:6] {
		privacytest.Replay[records.Data]{Run: everythingVisible(t, p, false), Budget: c.Budget,
			Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
	}
}
