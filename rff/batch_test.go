package rff_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// batchLayout is a layout with columns of every kind.
var batchLayout = rff.Layout{In: 9,
	Blocks: []rff.Block{{Offset: 0, Width: 1}, {Offset: 1, Width: 3, OneHot: true},
		{Offset: 4, Width: 2}, {Offset: 6, Width: 1, Levels: 2}, {Offset: 7, Width: 2, OneHot: true}}}

// TestBatchesAreSumsOfRows compares Sum and PullBack of a batch with Transform and Backward of its
// rows.
func TestBatchesAreSumsOfRows(t *testing.T) {
	be := device.CPU()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, k := range []rff.Pairs{{Knots: 4}, {Order: 1}, {}} {
		e := must(k.Embedding(batchLayout, 0))(t)
		b := e.(rff.BatchEmbedding)
		for _, rows := range []int{1, 7, 40, 3} {
			x, features := be.New(rows, e.In()), be.New(rows, e.Dim())
			for i := range x.Data {
				x.Data[i] = rng.Float32()
			}
			e.Transform(be, device.Batch{Rows: rows, Dense: x}, features)
			sum, want := be.New(1, e.Dim()), be.New(1, e.Dim())
			b.Sum(be, x, sum)
			be.ColSums(nil, features, 0, want)
			near(t, "sum", sum.Data, want.Data)

			pull, own := be.New(1, e.Dim()), float32(rng.NormFloat64())
			for j := range pull.Data {
				pull.Data[j] = float32(rng.NormFloat64())
			}
			dx, wantDx := be.New(rows, e.In()), be.New(rows, e.In())
			b.PullBack(be, x, pull, own, dx)
			for i := range rows {
				for j := range pull.Data {
					features.Row(i)[j] = pull.Data[j] + own*features.Row(i)[j]
				}
			}
			e.Backward(be, x, features, wantDx)
			near(t, "derivative", dx.Data, wantDx.Data)
		}
	}
}

func near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, v := range got {
		if math.Abs(float64(v-want[i])) > 2e-5*(1+math.Abs(float64(want[i]))) {
			t.Fatalf("%s: number %d is %v, want %v as row by row", what, i, v, want[i])
		}
	}
}
