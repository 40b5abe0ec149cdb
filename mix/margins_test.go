package mix

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestMarginsKeepMeans checks that coordinates have the given means, and numbers the given
// variances, for weak and for strong dependence between coordinates. The seed is fixed. With
// 200,000 draws the standard error of a mean is at most 0.0012.
func TestMarginsKeepMeans(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("a", "x", "y", "z"),
		records.Flag("b", "no", "yes"), records.Numeric("c", 0, 1),
		records.Numeric("d", 0, 1).WithMissing())
	if err != nil {
		t.Fatal(err)
	}
	mean := []float64{0.7, 0.25, 0.05, 0.1, 0.8, 0.3, 0.4}
	variance := []float64{0, 0, 0, 0, 0.03, 0.07, 0}
	for _, shared := range []float64{0, 0.3, 0.9} {
		loadings := make([][]float64, len(mean))
		if shared > 0 {
			for j := range loadings {
				sign := float64(1 - 2*(j%2))
				loadings[j] = []float64{sign * math.Sqrt(shared/2), math.Sqrt(shared / 2)}
			}
		}
		p := &population{schema: s, blocks: blocksOf(s), factors: len(loadings[0])}
		m := newMargins(p.blocks, mean, variance, loadings)
		d := p.drawing(synth.Draw{Class: -1, Seed: 3})
		const n = 200_000
		sum, square := make([]float64, len(mean)), make([]float64, len(mean))
		row := make([]float32, len(mean))
		for range n {
			for k := range d.z {
				d.z[k] = d.rng.NormFloat64()
			}
			d.state(&m)
			for j, v := range d.row {
				row[j] = float32(v)
			}
			network.Levels(d.rng, network.TableBlocks(s), row)
			for j, v := range row {
				sum[j] += float64(v) / n
				square[j] += float64(v) * float64(v) / n
			}
		}
		for j := range mean {
			if math.Abs(sum[j]-mean[j]) > 0.0084 {
				t.Errorf("shared %v: coordinate %d has mean %.4f, want %.4f", shared, j, sum[j], mean[j])
			}
			if v := square[j] - sum[j]*sum[j]; variance[j] > 0 && math.Abs(v/variance[j]-1) > 0.05 {
				t.Errorf("shared %v: coordinate %d has variance %.4f, want %.4f", shared, j, v, variance[j])
			}
		}
	}
}
