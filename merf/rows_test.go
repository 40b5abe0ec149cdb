package merf_test

import (
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// TestFeaturesAreARecordsOwn checks that a record's features do not depend on the other records in
// its piece or on their number, not even in the last bit. Otherwise adding a record could change
// the sum by more than the features of that record, because it moves other records between pieces.
func TestFeaturesAreARecordsOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, in := range []int{1, 7, 130} {
		for _, k := range []rff.EmbeddingKernel{rff.RBF{Dim: 300, Bandwidth: 1},
			rff.RBF{Dim: 33, Bandwidth: 1, Phase: true}, rff.Rule(64, in), rff.Pairs{Knots: 3}} {
			e := must(k.Embedding(rff.Layout{In: in}, 1))(t)
			const most = 70
			x := device.HostMatrix(most, in, make([]float32, most*in))
			for i := range x.Data {
				x.Data[i] = rng.Float32()
			}
			for _, workers := range []int{1, 2} {
				be := device.CPUWith(workers)
				all := be.New(most, e.Dim())
				e.Transform(be, device.Batch{Rows: most, Dense: x}, all)
				for _, cut := range [][2]int{{0, 1}, {0, 2}, {3, 8}, {1, 14}, {0, 15}, {20, 53}, {5, 70},
					{69, 70}} {
					lo, hi := cut[0], cut[1]
					part := be.New(hi-lo, e.Dim())
					e.Transform(be, device.Batch{Rows: hi - lo, Dense: x.RowRange(lo, hi)}, part)
					for i := range hi - lo {
						for j, v := range part.Row(i) {
							if among := all.Row(lo + i)[j]; v != among {
								t.Fatalf("%T, %d coordinates, rows %d to %d: feature %d of row %d is %v, among all rows %v",
									k, in, lo, hi, j, lo+i, v, among)
							}
						}
					}
				}
			}
		}
	}
}
