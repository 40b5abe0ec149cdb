package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// clusters runs private k-means on generated points. Its quality is the mean squared distance of a
// point to the nearest centre, which should be small.
type clusters struct{ k, iterations int }

func (c clusters) run(ctx context.Context, j job) (float64, error) {
	data, err := points(50_000, 8, c.k)
	if err != nil {
		return 0, err
	}
	cfg, err := kmeans.Config{K: c.k, Centers: 2 * c.k, Merge: 4, Iterations: c.iterations,
		Small: kmeans.SplitLargest}.Calibrate(j.budget)
	if err != nil {
		return 0, err
	}
	m, err := kmeans.Fit(ctx, cfg, kmeans.Raw(data.Schema()), data, ledger.New(j.budget),
		kmeans.WithSeed(j.seed))
	if err != nil {
		return 0, err
	}
	return distance(m.Centers, data), nil
}

// points returns n points of d coordinates in [-1, 1], around k centres.
func points(n, d, k int) (*records.Table, error) {
	rng := rand.New(rand.NewPCG(1, 0x706f696e74))
	centres := make([]float64, k*d)
	for i := range centres {
		centres[i] = 1.6*rng.Float64() - 0.8
	}
	flat := make([]float32, 0, n*d)
	for range n {
		centre := centres[d*rng.IntN(k):][:d]
		for _, c := range centre {
			flat = append(flat, float32(max(-1, min(c+0.12*rng.NormFloat64(), 1))))
		}
	}
	return records.FromFlat(records.Interval(d, -1, 1), flat)
}

// distance returns the mean squared distance of a point to the nearest centre.
func distance(centres [][]float32, data *records.Table) float64 {
	var sum float64
	row := make([]float32, data.Schema().Dim())
	for i := range data.Len() {
		nearest := math.Inf(1)
		for _, c := range centres {
			var d float64
			for k, v := range data.Row(row, i) {
				d += float64(v-c[k]) * float64(v-c[k])
			}
			nearest = min(nearest, d)
		}
		sum += nearest
	}
	return sum / float64(data.Len())
}
