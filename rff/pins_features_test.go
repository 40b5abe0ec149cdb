package rff_test

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// The file of pins holds weighted sums of features and of derivatives, as they were when it was
// written. Whoever means to change one writes it anew and says why: a saved model has only the
// settings of its features.
func updatesPins() bool {
	f := flag.Lookup("update-pins")
	return f != nil && f.Value.String() == "true"
}

func init() {
	if flag.Lookup("update-pins") == nil { // a package of tests may have it
		flag.Bool("update-pins", false, "write the files of pins")
	}
}

// comparePins compares lines with those of a file. Kernels for other vectors add up in another
// order, so numbers may differ by 1e-5 of their size, or of 1.
func comparePins(t *testing.T, name string, got []string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if updatesPins() {
		_ = os.MkdirAll("testdata", 0o777)
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round otherwise")
	}
	want := strings.Split(strings.TrimSuffix(string(must(os.ReadFile(file))(t)), "\n"), "\n")
	if len(got) != len(want) {
		t.Errorf("%d lines, want the %d of %s", len(got), len(want), file)
	}
	wrong := 0
	for i := range min(len(got), len(want)) {
		if samePin(got[i], want[i]) {
			continue
		}
		if wrong++; wrong > 5 {
			t.Fatal("and more lines")
		}
		t.Errorf("%s:%d:\n got %s\nwant %s", file, i+1, got[i], want[i])
	}
}

func samePin(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		v, errV := strconv.ParseFloat(x[i], 64)
		w, errW := strconv.ParseFloat(y[i], 64)
		if x[i] != y[i] && (errV != nil || errW != nil || !(math.Abs(v-w) <= 1e-5*(1+math.Abs(w)))) {
			return false
		}
	}
	return true
}

// weighted returns two sums in which every number counts differently.
func weighted(list []float32) string {
	a, b := 0.0, 0.0
	for i, v := range list {
		a += float64(v) * math.Cos(float64(i))
		b += float64(v) * math.Sin(math.Sqrt2*float64(i)+1)
	}
	return fmt.Sprintf("%.6g %.6g", a, b)
}

var (
	slanted  = rff.Layout{In: 12 * 14, Height: 12, Width: 14}
	coloured = rff.Layout{In: 3 * 9 * 8, Height: 9, Width: 8}
	vectors  = rff.Layout{In: 11}
	// numbered has one-hot columns first and last, and numbers of several levels.
	numbered = rff.Layout{In: 12, Blocks: []rff.Block{{Width: 3, OneHot: true},
		{Offset: 3, Width: 2, Levels: 7}, {Offset: 5, Width: 1, Levels: 300}, {Offset: 6, Width: 2},
		{Offset: 8, Width: 4, OneHot: true}}}
	onlyLevels = rff.Layout{In: 5, Blocks: []rff.Block{{Width: 3, OneHot: true},
		{Offset: 3, Width: 2, OneHot: true}}}
)

func pinnedKernels() []any {
	return []any{rff.RBF{Dim: 20, Bandwidth: 0.8}, rff.RBF{Dim: 21, Bandwidth: 2.5, Phase: true},
		rff.RBF{Dim: 2700, Bandwidth: 1.5}, rff.RBF{Dim: 3, Bandwidth: 1}, rff.RBF{},
		rff.Scales{Dim: 26, Low: 0.3, High: 3}, rff.Scales{Dim: 12, Low: 2, High: 2}, rff.Rule(24, 11),
		rff.Scales{Dim: 12, Low: 3, High: 2}, rff.Sum{Numbers: rff.Scales{Dim: 14, Low: 0.1, High: 1}},
		rff.Sum{Numbers: rff.RBF{Dim: 10, Bandwidth: 1, Phase: true}}, rff.Sum{},
		rff.Pairs{}, rff.Pairs{Knots: 4}, rff.Pairs{Order: 1, Knots: 3}, rff.Pairs{Order: 3},
		rff.Pairs{Knots: 5, MaxDim: 90},
		rff.Patches{Dim: 30, Windows: []float64{0.3, 0.6, 1}, Blur: 0.7, Low: 1, High: 6},
		rff.Patches{Dim: 12, Windows: []float64{0.5}, Low: 2, High: 2}, rff.PatchesFor(18, 12, 14),
		rff.PatchesFor(10, 9, 8), rff.Patches{Dim: 10, Windows: []float64{2}, Blur: 3, Low: 1, High: 4},
		rff.Patches{Dim: 10, Windows: []float64{0.001, 1}, Blur: 0.1, Low: 1, High: 4},
		rff.Strokes{Cells: 3, Orientations: 4, Blur: 0.8}, rff.StrokesFor(12, 14),
		rff.Strokes{Cells: 2, Orientations: 5, Blur: 0.4, Upright: true},
		rff.Strokes{Cells: 4, Orientations: 3, Blur: 1.2, Upright: true, Spread: 0.25},
		rff.Scattering{}, rff.Scattering{Orientations: 2, Group: 5},
		rff.Scattering{Orientations: 3, Group: 1}, rff.Strokes{}}
}

// drawnRow draws a record of a layout: for an image a slanted stroke, else values of columns.
func drawnRow(rng *rand.Rand, l rff.Layout) []float32 {
	if l.Height == 0 {
		return corner(rng, l)
	}
	x, channels := make([]float32, l.In), l.In/l.Height/l.Width
	at, slant, thick := 2+4*rng.Float64(), rng.Float64()-0.5, 0.7+rng.Float64()
	for i := range x {
		row, column := float64(i/channels/l.Width), float64(i/channels%l.Width)
		x[i] = float32(max(0, 1-math.Abs(column-at-slant*row)/thick) * (1 - float64(i%channels)/4))
	}
	return x
}

// TestPinsOfFeatures: every kernel on every layout.
func TestPinsOfFeatures(t *testing.T) {
	var lines []string
	layouts := []rff.Layout{vectors, mixed, numbered, onlyLevels, image, slanted, coloured,
		{In: 7, Height: 2, Width: 3}, {}, {In: 9, Height: 1, Width: 9}, {In: 9, Height: 9, Width: 1}}
	for k, kernel := range pinnedKernels() {
		for i, l := range layouts {
			say := func(what string, all ...any) {
				text := strings.ReplaceAll(fmt.Sprint(all...), "\n", " + ")
				lines = append(lines, fmt.Sprintf("%T %d on %d, %s: %s", kernel, k, i, what, text))
			}
			if c, ok := kernel.(rff.EmbeddingKernel); ok {
				if k == 2 && i > 1 {
					continue // many features, for several stretches
				}
				e, err := c.Embedding(l, uint64(k+i))
				if say("embedding", err); err == nil {
					pinEmbedding(say, e, l, uint64(k))
				}
			}
			if c, ok := kernel.(rff.FeatureKernel); ok {
				f, err := c.Features(l, uint64(k+i))
				if say("features", err); err == nil {
					pinFeatures(say, f, l, uint64(k))
				}
			}
		}
		if c, ok := kernel.(rff.EmbeddingKernel); ok {
			text, err := rff.MarshalEmbedding(c)
			back, late := rff.UnmarshalEmbedding(text)
			lines = append(lines, fmt.Sprintf("%s %v %v %v", text, err, back, late))
		}
		if c, ok := kernel.(rff.FeatureKernel); ok {
			text, err := rff.MarshalFeatures(c)
			back, late := rff.UnmarshalFeatures(text)
			lines = append(lines, fmt.Sprintf("%s %v %v %v", text, err, back, late))
		}
	}
	comparePins(t, "pins_features.txt", lines)
}

var number = regexp.MustCompile(`:(-?[0-9.e+-]+|true|false)`)

func pinFeatures(say func(string, ...any), f rff.Features, l rff.Layout, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	var x []float32
	for range 3 {
		x = append(x, drawnRow(rng, l)...)
	}
	x = append(x, make([]float32, l.In)...)
	be := device.CPU()
	out := be.New(4, f.Dim())
	f.Transform(be, dense(4, l.In, x), out)
	say("rows", f.In(), " ", f.Dim(), " ", f.NormBound(), " ", weighted(out.Row(0)), " ",
		weighted(out.Row(1)), " ", weighted(out.Row(2)), " ", weighted(out.Row(3)))
	text, err := json.Marshal(rff.SaveMap(f))
	var back rff.SavedMap
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	var all string
	for _, at := range number.FindAllIndex(text, -1) {
		for _, v := range []string{"null", "-1", "0", "1", "40000", "1e99"} {
			var changed rff.SavedMap
			all += fmt.Sprintln(json.Unmarshal(slices.Concat(text[:at[0]+1], []byte(v), text[at[1]:]),
				&changed))
		}
	}
	say("changed", fmt.Sprintf("%.4x", sha256.Sum256([]byte(all))))
	if m := back.Map(); err == nil && m != nil {
		again := be.New(4, m.Dim())
		m.Transform(be, dense(4, l.In, x), again)
		say("saved", len(text) > 0, " ", weighted(again.Data))
	} else {
		say("saved", err)
	}
}

func pinEmbedding(say func(string, ...any), e rff.Embedding, l rff.Layout, seed uint64) {
	const rows = 4
	rng, be := rand.New(rand.NewPCG(seed, 6)), device.CPUWith(1)
	var x []float32
	for range rows {
		x = append(x, drawnRow(rng, l)...)
	}
	draw := func(n, cols int) device.Matrix {
		m := be.New(n, cols)
		for i := range m.Data {
			m.Data[i] = float32(rng.NormFloat64())
		}
		return m
	}
	batch := dense(rows, l.In, x)
	out, dx, delta := be.New(rows, e.Dim()), be.New(rows, l.In), draw(rows, e.Dim())
	e.Transform(be, batch, out)
	e.Backward(be, batch.Dense, delta, dx)
	say("bounds", e.In(), " ", e.Dim(), " ", e.NormBound(), " ", e.ChangeBound())
	say("rows", weighted(out.Data), " ", weighted(out.Row(1)), " ", weighted(dx.Data), " ",
		weighted(dx.Row(2)))
	if s, ok := e.(rff.SparseEmbedding); ok {
		var in []int32
		var values []float32
		for i, v := range x[:l.In] {
			if v != 0 {
				in, values = append(in, int32(i)), append(values, v)
			}
		}
		places, list := s.AppendRow(in, values, []int32{9}, []float32{0.5})
		say("sparse", places, " ", weighted(list))
	}
	if b, ok := e.(rff.BatchEmbedding); ok {
		sum, pull := be.New(1, e.Dim()), draw(1, e.Dim())
		b.Sum(be, batch.Dense, sum)
		b.PullBack(be, batch.Dense, pull, -0.7, dx)
		say("sum", weighted(sum.Data), " ", weighted(dx.Data))
	}
	if d, ok := e.(rff.Divisible); ok {
		for _, n := range []int{0, 3, 1000} {
			for i, part := range d.Divide(n) {
				if i > 20 {
					break
				}
				got := be.New(rows, part.Dim())
				part.Transform(be, batch, got)
				part.Backward(be, batch.Dense, got, dx)
				say("part", n, " ", part.Dim(), " ", part.NormBound(), " ", weighted(got.Data), " ",
					weighted(part.Select([]float32{1}, out.Row(0))), " ", weighted(dx.Data))
			}
		}
	}
	if r, ok := e.(rff.RetracingEmbedding); ok {
		for _, s := range r.Stretches(be) {
			traced := be.New(rows, s.Dim())
			r.Trace(be, s, batch.Dense, traced)
			text := weighted(traced.Data)
			r.Retrace(be, s, traced, draw(2, s.Dim()), 2, 0.5, dx)
			say("stretch", s.Dim(), " ", text, " ", weighted(dx.Data), " ",
				weighted(s.Select(nil, out.Row(1))))
		}
	}
}
