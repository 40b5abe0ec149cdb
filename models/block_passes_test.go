package models

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// blockNormsOf returns the squared norms of a batch's gradients, block by block.
func blockNormsOf(g BlockGradients, p device.Params, rows int) [][]float64 {
	norms := make([][]float64, p.Blocks())
	for b := range norms {
		norms[b] = make([]float64, rows)
	}
	g.BlockSquaredNorms(norms)
	return norms
}

// TestBlocksOfClassifiers: for every network of the package with block gradients, the stated norm
// of a block is the norm of the numbers that are added to the block. The squared norms of all
// blocks add up to the squared norm of the whole gradient.
func TestBlocksOfClassifiers(t *testing.T) {
	told := map[string]bool{}
	for name, c := range fixedCases(t) {
		g, ok := c.net.Gradients(c.batch).(FixedBlockGradients)
		if told[name] = ok; !ok || strings.HasPrefix(name, "critic") {
			continue // a critic's norms are bounds
		}
		p, rows := c.net.Params(), c.batch.Rows
		norms := blockNormsOf(g, p, rows)
		whole := make([]float64, rows)
		g.SquaredNorms(whole)
		for i := range whole {
			sum := 0.0
			for b := range norms {
				sum += norms[b][i]
			}
			if math.Abs(sum-whole[i]) > 1e-4*whole[i]+1e-12 {
				t.Errorf("%s: record %d has squared norm %g, and its blocks together %g", name, i, whole[i], sum)
			}
		}
		for _, i := range []int{rows / 2, rows - 1} { // add one block of one record
			for b := range norms {
				weights := make([][]float32, len(norms))
				for j := range weights {
					weights[j] = make([]float32, rows)
				}
				weights[b][i] = 1
				dst := device.NewParams(device.CPU(), p.Shapes...)
				c.net.Gradients(c.batch).(BlockGradients).AddBlockSums(dst, weights)
				for j := range norms {
					lo, hi := p.Range(j)
					got := 0.0
					for _, x := range dst.Flat.Data[lo:hi] {
						got += float64(x) * float64(x)
					}
					want := norms[b][i]
					if j != b {
						want = 0
					}
					if got > want*(1+1e-4) || got < want*(1-1e-2)-1e-12 {
						t.Errorf("%s: record %d adds squared norm %g to block %d, want %g (weight in block %d)", name, i, got, j,
							want, b)
					}
				}
			}
		}
	}
	for _, name := range []string{"vae", "sparse vae", "classifier", "convolutional"} {
		if !told[name] {
			t.Errorf("%s has no block gradients", name)
		}
	}
}

// blockSum returns a fixed-point sum of gradients whose blocks are clipped separately. A record
// with a block that is not finite is left out, as in package sgd.
func blockSum(n Network, b device.Batch, bound float64) device.Fixed {
	sum := device.NewFixed(device.CPU(), n.Params().Shapes...)
	sum.Unit, sum.Limit, sum.Chain = 0x1p-16, bound, 8
	if b.Sparse == nil { // a copy: records that are not finite are cleared in place
		b.Dense = device.HostMatrix(b.Rows, b.Dense.Cols, slices.Concat(matrixRows(b.Dense)...))
	}
	g := n.Gradients(b).(FixedBlockGradients)
	weights := make([][]float32, n.Params().Blocks())
	norms, total := blockNormsOf(g, n.Params(), b.Rows), make([]float64, b.Rows)
	for _, block := range norms {
		for i, s := range block {
			total[i] += s
		}
	}
	for k, block := range norms {
		weights[k] = make([]float32, b.Rows)
		for i, s := range block {
			if total[i] < math.Inf(1) {
				weights[k][i] = device.Odd(float32(min(1, bound*(1-0x1p-20)/math.Sqrt(s))))
			}
		}
	}
	g.AddFixedBlockSums(sum, weights)
	return sum
}

func matrixRows(m device.Matrix) (rows [][]float32) {
	for i := range m.Rows {
		rows = append(rows, m.Row(i))
	}
	return rows
}

// TestBlockSumsAreOfRecordsAlone: in fixed point, the sum over a batch is exactly the sum of its
// records' separate sums. A record that is not finite adds nothing.
func TestBlockSumsAreOfRecordsAlone(t *testing.T) {
	for name, c := range fixedCases(t) {
		if _, ok := c.net.Gradients(c.batch).(FixedBlockGradients); !ok ||
			strings.HasPrefix(name, "critic") {
			continue
		}
		b := c.batch.Slice(0, 40)
		if b.Sparse == nil {
			b.Dense.Row(7)[1], b.Dense.Row(9)[0] = float32(math.NaN()), float32(math.Inf(1))
		}
		all := blockSum(c.net, b, 1)
		sum, largest := make([]int32, len(all.Units)), 0.0
		for i := range b.Rows {
			one := blockSum(c.net, b.Slice(i, i+1), 1)
			none := true
			for j, u := range one.Units {
				sum[j] += u
				none = none && u == 0
			}
			for k := range one.Shapes {
				units := one.Block(k).Units
				norm := 0.0
				for _, u := range units {
					norm += float64(u) * float64(u)
				}
				rounded := 0.5 * math.Sqrt(float64(len(units)))
				largest = max(largest, (math.Sqrt(norm)-rounded)*float64(one.Unit))
			}
			if b.Sparse == nil && (i == 7 || i == 9) && !none {
				t.Errorf("%s: a record that is not finite changes the sum", name)
			}
		}
		if largest > 1 || largest < 0.9 {
			t.Errorf("%s: the largest norm of a record's block is %g, want from 0.9 to the clip norm 1", name, largest)
		}
		if !slices.Equal(sum, all.Units) {
			t.Errorf("%s: the sum of the batch is not the sum of its records' sums", name)
		}
		if slices.Equal(sum, make([]int32, len(sum))) {
			t.Errorf("%s: the sum is zero", name)
		}
	}
}
