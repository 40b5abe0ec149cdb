package rff_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/rff"
)

var picture = rff.Layout{In: 20 * 20, Height: 20, Width: 20}

func strokes(t *testing.T, c rff.Strokes, l rff.Layout) rff.Features {
	t.Helper()
	return must(c.Features(l, 1))(t)
}

func described(f rff.Features, rows ...[]float32) device.Matrix {
	flat := slices.Concat(rows...)
	dst := device.HostMatrix(len(rows), f.Dim(), make([]float32, len(rows)*f.Dim()))
	for i := range dst.Data {
		dst.Data[i] = 7 // the old contents must not matter
	}
	f.Transform(device.CPU(), dense(len(rows), f.In(), flat), dst)
	return dst
}

// bar returns an image of a bar that is 3 pixels wide, centred at (x, y), sheared by shear and
// length pixels long.
func bar(x, y, shear, length float64) []float32 {
	img := make([]float32, 400)
	for i := range img {
		dx, dy := float64(i%20)-x, float64(i/20)-y
		if math.Abs(dy) <= length/2 {
			img[i] = float32(max(0, min(1, 2-math.Abs(dx-shear*dy))))
		}
	}
	return img
}

// TestStrokesOfAnythingHaveTheirNorm checks that the float32 row of every record has a norm of at
// most 1. Values of a record may be infinite or NaN. The sensitivity of a sum of rows depends on
// this.
func TestStrokesOfAnythingHaveTheirNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []float32{0, 1, -1, 1e-20, 1e-40, 3e38, -3e38, float32(math.NaN()), float32(math.Inf(1)),
		float32(math.Inf(-1))}
	for name, c := range map[string]rff.Strokes{
		"default": rff.StrokesFor(20, 20),
		"plain":   {Cells: 3, Orientations: 5},
		"fine":    {Cells: 20, Orientations: 9, Blur: 0.5, Upright: true},
		"one":     {Cells: 1, Orientations: 1, Blur: 2},
	} {
		f := strokes(t, c, picture)
		ones := 0
		for i := range 600 {
			x := make([]float32, f.In())
			for j := range x {
				switch i % 4 {
				case 0:
					x[j] = float32(rng.IntN(2))
				case 1:
					x[j] = rng.Float32()
				case 2:
					x[j] = odd[rng.IntN(len(odd))]
				default:
					if rng.IntN(40) == 0 {
						x[j] = odd[rng.IntN(len(odd))]
					}
				}
			}
			square := 0.0
			for _, v := range described(f, x).Row(0) {
				square += float64(v) * float64(v)
			}
			if !(square <= 1) {
				t.Fatalf("%s: image %d has features of norm %v, want at most 1", name, i, math.Sqrt(square))
			}
			if square > 1-1e-5 {
				ones++
			}
		}
		if ones < 300 {
			t.Errorf("%s: %d of 600 rows have norm 1, want at least 300: the test has no power", name, ones)
		}
	}
}

// TestStrokesOfARecordAreItsOwn checks that a row does not depend on other rows of the batch, on
// the row computed before it, or on the old contents of dst.
func TestStrokesOfARecordAreItsOwn(t *testing.T) {
	f := strokes(t, rff.StrokesFor(20, 20), picture)
	blank, lone := make([]float32, 400), bar(12, 9, -0.4, 9)
	rows := [][]float32{bar(8, 9, 0.3, 12), blank, lone, blank, bar(10, 10, 0, 15)}
	for range 300 {
		rows = append(rows, bar(8, 9, 0.3, 12), blank)
	}
	together := described(f, rows...)
	for i, x := range rows {
		if alone := described(f, x); !slices.Equal(alone.Row(0), together.Row(i)) {
			t.Fatalf("row %d differs between a batch and a batch of one", i)
		}
	}
	for _, v := range together.Row(1) {
		if v != 0 {
			t.Fatal("the features of a blank image are not zero")
		}
	}
}

// TestUprightStrokesForgive checks that features hardly depend on position, slant and size. They
// must distinguish shapes.
func TestUprightStrokesForgive(t *testing.T) {
	f := strokes(t, rff.StrokesFor(20, 20), picture)
	plus := bar(10, 10, 0, 14)
	for i := range 14 {
		plus[10*20+3+i] = 1
		plus[9*20+3+i] = 1
	}
	like := func(a, b []float32) (s float64) {
		m := described(f, a, b)
		for i, v := range m.Row(0) {
			s += float64(v) * float64(m.Row(1)[i])
		}
		return s
	}
	straight := bar(10, 10, 0, 14)
	for name, other := range map[string][]float32{"moved": bar(7, 8, 0, 14),
		"leaning": bar(10, 10, 0.4, 14), "short": bar(10, 10, 0, 11)} {
		if s := like(straight, other); s < 0.9 {
			t.Errorf("%s: similarity %.3f, want at least 0.9", name, s)
		}
	}
	if s := like(straight, plus); s > 0.8 {
		t.Errorf("another shape: similarity %.3f, want at most 0.8", s)
	}
}

// TestUprightStrokesAreResizedAtMostTwice: images are made at most twice as large and at most half
// as large, and every size in between follows the spread.
func TestUprightStrokesAreResizedAtMostTwice(t *testing.T) {
	image := bar(10, 10, 0, 8)
	mean, square := 0.0, 0.0
	for i, v := range image {
		mean, square = mean+float64(v)*float64(i/20), square+float64(v)
	}
	mean /= square
	spread := 0.0 // of the ink along the height
	for i, v := range image {
		spread += float64(v) * (float64(i/20) - mean) * (float64(i/20) - mean)
	}
	spread = math.Sqrt(spread/square) / 20
	at := func(times float64) []float32 {
		f := strokes(t, rff.Strokes{Cells: 4, Orientations: 4, Upright: true, Spread: times * spread},
			picture)
		return described(f, image).Row(0)
	}
	if !slices.Equal(at(2.001), at(2.5)) || !slices.Equal(at(0.499), at(0.3)) {
		t.Error("images are resized more than twice")
	}
	if slices.Equal(at(1.9), at(2.5)) || slices.Equal(at(0.55), at(0.3)) {
		t.Error("images are not resized twice")
	}
}

func TestStrokesSurviveJSON(t *testing.T) {
	for _, c := range []rff.Strokes{rff.StrokesFor(20, 20), {Cells: 2, Orientations: 3, Blur: 1}} {
		data := must(rff.MarshalFeatures(c))(t)
		back, err := rff.UnmarshalFeatures(data)
		if err != nil || back != rff.FeatureKernel(c) {
			t.Errorf("wrote %+v, read %+v (error %v)", c, back, err)
		}
		f := strokes(t, c, picture)
		if data, err = json.Marshal(f); err != nil {
			t.Fatal(err)
		}
		var m rff.StrokeMap
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		x := bar(8, 9, 0.3, 12)
		if !slices.Equal(described(f, x).Data, described(&m, x).Data) {
			t.Errorf("%+v: the map that was read gives other features", c)
		}
	}
	rbf := rff.RBF{Dim: 4, Bandwidth: 2}
	data := must(rff.MarshalFeatures(rbf))(t)
	if back, err := rff.UnmarshalFeatures(data); err != nil || back != rff.FeatureKernel(rbf) {
		t.Errorf("wrote %+v, read %+v (error %v)", rbf, back, err)
	}
	for _, bad := range hostile {
		if _, err := rff.UnmarshalFeatures([]byte(bad)); !errors.Is(err, rff.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", bad, err)
		}
		if err := json.Unmarshal([]byte(bad), new(rff.StrokeMap)); err == nil {
			t.Errorf("%s was read as a StrokeMap, want an error", bad)
		}
	}
}

func TestStrokesRefuseWhatTheyCannotDraw(t *testing.T) {
	good := rff.StrokesFor(20, 20)
	for path, change := range map[string]func(*rff.Strokes, *rff.Layout){
		"rff.Strokes.Cells":        func(c *rff.Strokes, _ *rff.Layout) { c.Cells = 0 },
		"rff.Strokes.Orientations": func(c *rff.Strokes, _ *rff.Layout) { c.Orientations = 1 << 20 },
		"rff.Strokes.Blur":         func(c *rff.Strokes, _ *rff.Layout) { c.Blur = math.NaN() },
		"rff.Strokes.Spread":       func(c *rff.Strokes, _ *rff.Layout) { c.Upright = false },
		"rff.Strokes: layout":      func(_ *rff.Strokes, l *rff.Layout) { *l = rff.Layout{In: 400} },
	} {
		c, l := good, picture
		change(&c, &l)
		_, err := c.Features(l, 1)
		var bad *param.Error
		if !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: got %v, want *param.Error with this path", path, err)
		}
	}
}

func BenchmarkStrokes(b *testing.B) {
	f, err := rff.StrokesFor(28, 28).Features(rff.Layout{In: 784, Height: 28, Width: 28}, 1)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, 784)
	for i := range x {
		if rng.IntN(5) == 0 {
			x[i] = 1
		}
	}
	in, dst := dense(1, 784, x), device.HostMatrix(1, f.Dim(), make([]float32, f.Dim()))
	for b.Loop() {
		f.Transform(device.CPU(), in, dst)
	}
}
