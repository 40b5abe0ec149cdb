package rff_test

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// TestGoldenImages checks features of one image. They must never change, because a saved model has
// only the settings of its features. Each feature counts, as the sums are weighted.
func TestGoldenImages(t *testing.T) {
	x := make([]float32, 12*14)
	for i := range x {
		row, column := float64(i/14), float64(i%14)
		x[i] = float32(max(0, 1-math.Abs(column-4-row*0.4)/2) * max(0, 1-math.Abs(row-5)/5))
	}
	slanted := rff.Layout{In: 12 * 14, Height: 12, Width: 14}
	coloured := rff.Layout{In: 12 * 14, Height: 7, Width: 8}
	plain := rff.Strokes{Cells: 3, Orientations: 4, Blur: 0.8}
	upright := rff.Strokes{Cells: 3, Orientations: 4, Blur: 0.8, Upright: true, Spread: 0.2}
	patches := rff.Patches{Dim: 12, Windows: []float64{0.3, 1}, Blur: 0.7, Low: 1, High: 6}
	for _, c := range []struct {
		kernel any
		layout rff.Layout
		want   [2]float64
	}{
		{plain, slanted, [2]float64{0.69429864, 0.05270214}},
		{upright, slanted, [2]float64{0.07330799, -0.39924979}},
		{rff.Scattering{Orientations: 2}, slanted, [2]float64{-0.42763984, 1.80199178}},
		{rff.Scattering{Orientations: 3, Group: 4}, coloured, [2]float64{-0.79842208, -0.32651020}},
		{patches, slanted, [2]float64{0.45548204, 0.12112445}},
		{patches, coloured, [2]float64{0.67558505, 1.03494891}},
	} {
		var f rff.Features
		var err error
		switch k := c.kernel.(type) {
		case rff.EmbeddingKernel:
			f, err = k.Embedding(c.layout, 3)
		case rff.FeatureKernel:
			f, err = k.Features(c.layout, 3)
		}
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, f.Dim())
		f.Transform(device.CPU(), dense(1, len(x), x), device.HostMatrix(1, len(row), row))
		var got [2]float64
		for i, v := range row {
			got[0] += float64(v) * math.Cos(float64(i))
			got[1] += float64(v) * math.Sin(math.Sqrt2*float64(i))
		}
		for i, want := range c.want {
			if math.Abs(got[i]-want) > 1e-5 {
				t.Errorf("%T of %d×%d: sum %d is %.8f, want %v", c.kernel, c.layout.Height, c.layout.Width, i,
					got[i], want)
			}
		}
	}
}
