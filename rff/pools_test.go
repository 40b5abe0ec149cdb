package rff

import (
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestPoolsKeepLittle: what calls give back is kept for later calls, up to a bound, and for the
// same device only. Of the devices with tables, the last four are kept.
func TestPoolsKeepLittle(t *testing.T) {
	be, other := device.CPUWith(1), device.CPUWith(1)
	var p rowPool
	for range 100 {
		p.give(be, be.New(2, 3), be.New(2, 3))
	}
	kept := len(p.free)
	if kept == 0 || kept > 4*maxScratch {
		t.Errorf("a pool keeps %d matrices of 200, want 1 to %d", kept, 4*maxScratch)
	}
	if m := p.take(other, 3, 2); m.Rows != 3 || m.Cols != 2 || len(p.free) != kept {
		t.Errorf("another device gets a matrix of %d×%d, and %d of %d are left", m.Rows, m.Cols,
			len(p.free), kept)
	}
	made, err := RBF{Dim: 8, Bandwidth: 1}.Embedding(Layout{In: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := made.(*Map)
	var all []*placement
	var last *placement
	for range 2 * maxPlacements {
		last = m.place(device.CPUWith(1))
		all = append(all, last)
		for range 2 * maxScratch {
			last.give(last.be.New(1, 4))
		}
	}
	if !slices.Equal(m.placed, all[maxPlacements:]) || len(last.free) != maxScratch {
		t.Errorf("%d tables and %d matrices are kept, want the last %d, and %d", len(m.placed),
			len(last.free), maxPlacements, maxScratch)
	}
}

// TestRepeatedItemsCount: an item that a row has twice is 2 in the row on the host, as in products.
func TestRepeatedItemsCount(t *testing.T) {
	be := device.CPU()
	x := device.Sparse{Cols: 3, Offsets: []int{0, 3, 4}, Items: []uint32{1, 1, 2, 0}}
	one, want := be.New(3, 3), be.New(2, 3)
	for i := range 3 {
		one.Row(i)[i] = 1
	}
	be.SparseGemm(&x, one, 0, want)
	got := hostRows(be, device.Batch{Rows: 2, Sparse: &x})
	for i, v := range got.Data {
		if v != want.Data[i] {
			t.Fatalf("the rows are %v, want %v", got.Data, want.Data)
		}
	}
}

// unpacked is a device that has no products with packed matrices.
type unpacked struct {
	device.Backend
	device.FeatureSlopes
}

// TestRetraceAddsUp adds the derivatives of several stretches up, whether the device packs its
// tables or not.
func TestRetraceAddsUp(t *testing.T) {
	be := device.CPUWith(1)
	slopes, ok := be.(device.FeatureSlopes)
	if !ok {
		t.Skip("the device has no slopes of features")
	}
	made, err := RBF{Dim: 4 * stretchFrequencies, Bandwidth: 1}.Embedding(Layout{In: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := made.(*Map)
	x, delta, want := be.New(2, 3), be.New(2, m.Dim()), be.New(2, 3)
	copy(x.Data, []float32{0.1, 0.5, 0.9, 0.3, 0.2, 0})
	be.Fill(delta, 1)
	m.Backward(be, x, delta, want)
	for name, be := range map[string]device.Backend{"packs": be,
		"packs nothing": unpacked{be, slopes}} {
		dx, stretches := be.New(2, 3), m.Stretches(be)
		if len(stretches) != 2 {
			t.Fatalf("%d stretches, want 2", len(stretches))
		}
		for i, s := range stretches {
			features, pulls := be.New(2, s.Dim()), be.New(1, s.Dim())
			be.Fill(pulls, 1)
			m.Trace(be, s, x, features)
			m.Retrace(be, s, features, pulls, 2, float32(i), dx)
		}
		for i, v := range dx.Data {
			if !(math.Abs(float64(v-want.Data[i])) < 1e-4) {
				t.Fatalf("a device that %s gives %v, want %v", name, dx.Data, want.Data)
			}
		}
	}
}
