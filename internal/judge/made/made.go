// Package made generates records for the tests of packages report/evaluate and evaluate/classify.
package made

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// Blobs draws records of three classes around three corners of a box far from [0, 1].
func Blobs(seed uint64, n int, noise float64) (*records.Table, error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	corners := [][]float64{{20, 20, 80}, {80, 20, 20}, {20, 80, 20}}
	flat, labels := make([]float32, 0, 3*n), make([]int32, n)
	for i := range labels {
		labels[i] = rng.Int32N(3)
		for _, c := range corners[labels[i]] {
			flat = append(flat, float32(c+noise*rng.NormFloat64()))
		}
	}
	return records.FromFlat(records.Interval(3, 0, 100).WithLabels("a", "b", "c"), flat, labels...)
}

// Baskets draws records whose items have different frequencies: an index holds some items as
// bitmaps and some as lists.
func Baskets(seed uint64, n, universe int) [][]uint32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]uint32, n)
	for i := range rows {
		for item := range universe {
			if rng.Float64() < 0.9/float64(1+item*item) {
				rows[i] = append(rows[i], uint32(item))
			}
		}
	}
	return rows
}
