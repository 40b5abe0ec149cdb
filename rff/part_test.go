package rff

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestPartsAreColumns: parts have all of the columns, each the bits that the whole writes, and the
// derivative through a part is that of the whole, pulled by its columns alone.
func TestPartsAreColumns(t *testing.T) {
	const rows, in, groups = 6, 9, 3
	m, err := Scales{Dim: 34, Low: 0.3, High: 2}.New(in, 5)
	if err != nil {
		t.Fatal(err)
	}
	be, rng := device.CPU(), rand.New(rand.NewPCG(1, 1))
	x := be.New(rows, in)
	for i := range x.Data {
		x.Data[i] = rng.Float32()
	}
	whole := be.New(rows, m.Dim())
	m.Transform(be, device.Batch{Rows: rows, Dense: x}, whole)
	total := 0
	for _, p := range m.Divide(4) {
		total += p.Dim()
		got := be.New(rows, p.Dim())
		p.Transform(be, x, got)
		for i := range rows {
			for j, want := range p.Select(nil, whole.Row(i)) {
				if math.Abs(float64(got.Row(i)[j]-want)) > 1e-6 {
					t.Fatalf("row %d, feature %d of a part: %v, of the whole %v", i, j, got.Row(i)[j], want)
				}
			}
		}
		comparePull(t, be, m, p, x, got, groups)
	}
	if total != m.Dim() {
		t.Errorf("the parts have %d features of %d", total, m.Dim())
	}
}

// comparePull pulls every group of records by random numbers, through the part and through the
// whole.
func comparePull(t *testing.T, be device.Backend, m *Map, p FeaturePart,
	x, features device.Matrix, groups int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(2, 2))
	pulls, delta := be.New(groups, p.Dim()), be.New(x.Rows, m.Dim())
	places := make([]float32, m.Dim())
	for j := range places {
		places[j] = float32(j)
	}
	for i := range pulls.Data {
		pulls.Data[i] = rng.Float32() - 0.5
	}
	for i := range x.Rows {
		for j, at := range p.Select(nil, places) {
			delta.Row(i)[int(at)] = pulls.Row(i * groups / x.Rows)[j]
		}
	}
	got, want := be.New(x.Rows, x.Cols), be.New(x.Rows, x.Cols)
	m.Backward(be, x, delta, want)
	p.Backward(be, features, pulls, got)
	for i, v := range want.Data {
		if math.Abs(float64(got.Data[i]-v)) > 1e-5*(1+math.Abs(float64(v))) {
			t.Fatalf("number %d of the derivative: %v, of the whole %v", i, got.Data[i], v)
		}
	}
}

// TestDivideRefuses what it cannot cut: phases, no parts, more parts than frequencies.
func TestDivideRefuses(t *testing.T) {
	paired, err := RBF{Dim: 8, Bandwidth: 1}.New(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	phases, err := RBF{Dim: 8, Bandwidth: 1, Phase: true}.New(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if paired.Divide(0) != nil || paired.Divide(5) != nil || phases.Divide(1) != nil {
		t.Error("a map is cut that cannot be")
	}
	if len(paired.Divide(4)) != 4 {
		t.Error("a map is not cut that can be")
	}
}
