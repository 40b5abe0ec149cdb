package models

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// This file contains helpers for the tests of all networks.

// binaryBatch returns random records of zeros and ones with keys.
func binaryBatch(rng *rand.Rand, rows, dim int, share float64) device.Batch {
	b := device.Batch{Rows: rows, Dense: device.HostMatrix(rows, dim, make([]float32, rows*dim)),
		Keys: make([]uint64, rows)}
	for i := range b.Dense.Data {
		if rng.Float64() < share {
			b.Dense.Data[i] = 1
		}
	}
	for i := range b.Keys {
		b.Keys[i] = rng.Uint64()
		b.Index = append(b.Index, int32(i))
	}
	return b
}

// sparsify returns the same records as sets of items.
func sparsify(b device.Batch) device.Batch {
	s := &device.Sparse{Cols: b.Dense.Cols, Offsets: []int{0}}
	for i := range b.Rows {
		for j, x := range b.Dense.Row(i) {
			if x != 0 {
				s.Items = append(s.Items, uint32(j))
			}
		}
		s.Offsets = append(s.Offsets, len(s.Items))
	}
	b.Dense, b.Sparse = device.Matrix{}, s
	return b
}

// exampleGradients materialises every example's gradient in a batch of its own.
func exampleGradients(n Network, b device.Batch) [][]float32 {
	be := device.CPU()
	var list [][]float32
	for i := range b.Rows {
		p := device.NewParams(be, n.Params().Shapes...)
		n.Gradients(b.Slice(i, i+1)).AddWeightedSum(p, []float32{1})
		list = append(list, p.Flat.Data)
	}
	return list
}

func squaredNorm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// checkFactored compares norms and weighted sums with materialised gradients. slack is the relative
// amount by which a squared norm may exceed the true squared norm.
func checkFactored(t *testing.T, n Network, b device.Batch, slack float64) {
	t.Helper()
	each := exampleGradients(n, b)
	g := n.Gradients(b)
	norms := make([]float64, b.Rows)
	g.SquaredNorms(norms)
	for i := range each {
		want := squaredNorm(each[i])
		if norms[i] < want*(1-1e-5)-1e-9 || norms[i] > want*(1+1e-5+slack)+1e-9 {
			t.Errorf("example %d: squared norm %v, materialised %v", i, norms[i], want)
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 2 { // twice: a weighted sum must not change the gradients
		w := make([]float32, b.Rows)
		want := make([]float64, n.Params().Len())
		for i := range w {
			w[i] = float32(rng.NormFloat64())
			if i%5 == 3 {
				w[i] = 0
			}
			for j, v := range each[i] {
				want[j] += float64(w[i]) * float64(v)
			}
		}
		sum := device.NewParams(device.CPU(), n.Params().Shapes...)
		sum.Flat.Data[0] = 1 // AddWeightedSum must add to dst
		want[0]++
		g.AddWeightedSum(sum, w)
		for j, v := range sum.Flat.Data {
			if math.Abs(float64(v)-want[j]) > 2e-4*(1+math.Abs(want[j])) {
				t.Fatalf("weighted sum, coordinate %d: %v, materialised %v", j, v, want[j])
			}
		}
	}
}

// checkDerivative compares each example's gradient with central differences of a
// float64 loss.
func checkDerivative(t *testing.T, n Network, b device.Batch,
	loss func(p []float64, i int) float64) {
	t.Helper()
	each := exampleGradients(n, b)
	base := make([]float64, n.Params().Len())
	for j, v := range n.Params().Flat.Data {
		base[j] = float64(v)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range b.Rows {
		for range 60 {
			j := rng.IntN(len(base))
			const h = 1e-5
			save := base[j]
			base[j] = save + h
			up := loss(base, i)
			base[j] = save - h
			down := loss(base, i)
			base[j] = save
			want := (up - down) / (2 * h)
			if got := float64(each[i][j]); math.Abs(got-want) > 1e-5*(1+10*math.Abs(want)) {
				t.Fatalf("example %d, parameter %d: gradient %v, difference quotient %v", i, j, got, want)
			}
		}
	}
}

// checkTotal puts records that are not finite into the batch. They must not change the norms of
// other rows and, with weight zero, must not change the sum.
func checkTotal(t *testing.T, n Network, b device.Batch) {
	t.Helper()
	inf := float32(math.Inf(1))
	clean := make([]float64, b.Rows)
	n.Gradients(b).SquaredNorms(clean)
	w := make([]float32, b.Rows)
	for i := range w {
		w[i] = 1 / (1 + float32(i))
	}
	w[0], w[2] = 0, 0
	want := device.NewParams(device.CPU(), n.Params().Shapes...)
	n.Gradients(b).AddWeightedSum(want, w)
	b.Dense.Row(0)[1] = float32(math.NaN())
	b.Dense.Row(2)[0], b.Dense.Row(2)[1] = inf, -inf
	g := n.Gradients(b)
	norms := make([]float64, b.Rows)
	g.SquaredNorms(norms)
	for i, v := range norms {
		if bad := i == 0 || i == 2; bad == (v <= math.MaxFloat64) || !bad && v != clean[i] {
			t.Errorf("example %d: squared norm %v, without the bad rows %v", i, v, clean[i])
		}
	}
	got := device.NewParams(device.CPU(), n.Params().Shapes...)
	g.AddWeightedSum(got, w)
	for j, v := range got.Flat.Data {
		if v != want.Flat.Data[j] {
			t.Fatalf("a row of weight zero changed coordinate %d of the sum from %v to %v", j,
				want.Flat.Data[j], v)
		}
	}
}

// checkEmpty checks that batches without rows have no gradient.
func checkEmpty(t *testing.T, n Network, dim int) {
	t.Helper()
	for _, b := range []device.Batch{{}, {Dense: device.Matrix{Cols: dim, Stride: dim}},
		{Sparse: &device.Sparse{Cols: dim}}} {
		g := n.Gradients(b)
		g.SquaredNorms(nil)
		sum := device.NewParams(device.CPU(), n.Params().Shapes...)
		g.AddWeightedSum(sum, nil)
		if squaredNorm(sum.Flat.Data) != 0 {
			t.Fatal("an empty batch has a gradient")
		}
	}
}

func perturb(n Network, rng *rand.Rand, scale float64) {
	for i := range n.Params().Flat.Data {
		n.Params().Flat.Data[i] += float32(scale * rng.NormFloat64())
	}
}
