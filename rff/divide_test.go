package rff

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestDivisionsHaveAllFeatures checks that the parts together have every feature of the whole
// embedding, scaled as by Select. Each part must have the norm of the whole.
func TestDivisionsHaveAllFeatures(t *testing.T) {
	const rows, in = 6, 9
	m, err := Scales{Dim: 34, Low: 0.3, High: 2}.New(in, 5)
	if err != nil {
		t.Fatal(err)
	}
	be, rng := device.CPU(), rand.New(rand.NewPCG(1, 1))
	x := device.Batch{Rows: rows, Dense: be.New(rows, in)}
	for i := range x.Dense.Data {
		x.Dense.Data[i] = rng.Float32()
	}
	whole := be.New(rows, m.Dim())
	m.Transform(be, x, whole)
	squares := make([]float64, rows) // squared norms of all parts' features, without their factors
	for _, p := range m.Divide(4) {
		got := be.New(rows, p.Dim())
		p.Transform(be, x, got)
		for i := range rows {
			norm := 0.0
			for j, want := range p.Select(nil, whole.Row(i)) {
				v := float64(got.Row(i)[j])
				if math.Abs(v-float64(want)) > 1e-6 {
					t.Fatalf("row %d, feature %d of a part is %v, want %v as by Select", i, j, v, want)
				}
				norm += v * v
			}
			if math.Abs(norm-1) > 1e-5 {
				t.Errorf("row %d of a part has squared norm %v, want 1", i, norm)
			}
			squares[i] += norm * float64(p.Dim()) / float64(m.Dim())
		}
	}
	for i, v := range squares {
		if math.Abs(v-1) > 1e-5 {
			t.Errorf("row %d: the parts have %v of the squared norm, want 1", i, v)
		}
	}
}

// TestDivideRefuses checks that Divide returns nil for maps with phases, for zero parts, and for
// more parts than frequencies.
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
		t.Error("Divide returns parts that cannot exist, want nil")
	}
	if len(paired.Divide(4)) != 4 {
		t.Error("Divide(4) of four frequencies does not return four parts")
	}
}
