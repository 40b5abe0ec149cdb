package rff_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/rff"
)

// TestPins holds features, sums and derivatives of every embedding to the bits that they had.
func TestPins(t *testing.T) {
	all := embeddings()
	all["rule"] = kernelCase{rff.Rule(50, 15), mixed}
	all["many"] = kernelCase{rff.RBF{Dim: 2400, Bandwidth: 0.7}, rff.Layout{In: 5}}
	all["whole patches"] = kernelCase{rff.PatchesFor(30, 12, 12), image}
	all["pairs of numbers"] = kernelCase{rff.Pairs{Knots: 4}, rff.Layout{In: 10}}
	all["sum of numbers"] = kernelCase{rff.Sum{Numbers: rff.RBF{Dim: 8, Bandwidth: 1}},
		rff.Layout{In: 10}}
	levels := []rff.Block{{Width: 5, OneHot: true}, {Offset: 5, Width: 7, OneHot: true}}
	all["sum of levels"] = kernelCase{rff.Sum{Numbers: rff.RBF{Dim: 8, Bandwidth: 1}},
		rff.Layout{In: 12, Blocks: levels}}
	all["few knots"] = kernelCase{rff.Pairs{Order: 2, Knots: 2}, mixed}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			be, e := device.CPU(), newEmbedding(t, c)
			draw := func(rows, cols int) device.Matrix {
				m := be.New(rows, cols)
				for i := range m.Data {
					m.Data[i] = rng.Float32()
				}
				return m
			}
			const rows = 6
			x, features, dx := draw(rows, e.In()), be.New(rows, e.Dim()), be.New(rows, e.In())
			e.Transform(be, device.Batch{Rows: rows, Dense: x}, features)
			e.Backward(be, x, draw(rows, e.Dim()), dx)
			parts := map[string][]byte{"features": fmt.Append(nil, features.Data),
				"backward": fmt.Append(nil, dx.Data),
				"bounds":   fmt.Append(nil, e.In(), e.Dim(), e.NormBound(), e.ChangeBound()),
				"kernel":   must(rff.MarshalEmbedding(c.kernel))(t)}
			sets := &device.Sparse{Cols: e.In(), Offsets: []int{0, 2, 2, 3}, Items: []uint32{0, 4, 2}}
			some := be.New(3, e.Dim())
			e.Transform(be, device.Batch{Rows: 3, Sparse: sets}, some)
			parts["sets"] = fmt.Append(nil, some.Data)
			if b, ok := e.(rff.BatchEmbedding); ok {
				sum, pulled := be.New(1, e.Dim()), be.New(rows, e.In())
				b.Sum(be, x, sum)
				b.PullBack(be, x, draw(1, e.Dim()), 0.4, pulled)
				parts["sum"] = fmt.Append(nil, sum.Data, pulled.Data)
			}
			if s, ok := e.(rff.SparseEmbedding); ok {
				places, values := s.AppendRow([]int32{0, 3, 7, 9}, []float32{0.3, 1, 0.5, 1}, nil, nil)
				parts["sparse"] = fmt.Append(nil, places, values)
			}
			if d, ok := e.(rff.Divisible); ok {
				for _, n := range []int{2, 3, 5} {
					for i, part := range d.Divide(n) {
						own := be.New(rows, part.Dim())
						part.Transform(be, device.Batch{Rows: rows, Dense: x}, own)
						part.Backward(be, x, own, dx)
						parts[fmt.Sprint("part", n, "of", i)] = fmt.Append(nil, own.Data, dx.Data,
							part.Select(nil, features.Row(0)), part.NormBound(), part.ChangeBound())
					}
				}
			}
			if r, ok := e.(rff.RetracingEmbedding); ok {
				for i, s := range r.Stretches(be) {
					own := be.New(rows, s.Dim())
					r.Trace(be, s, x, own)
					text := fmt.Append(nil, own.Data)
					r.Retrace(be, s, own, draw(2, s.Dim()), 3, float32(i), dx)
					parts[fmt.Sprint("stretch", i)] = fmt.Append(text, dx.Data)
				}
			}
			pins.Check(t, parts)
		})
	}
}

// TestPinsOfMaps holds drawn maps and features of images to the bits that they had.
func TestPinsOfMaps(t *testing.T) {
	for _, phase := range []bool{false, true} {
		for name, k := range kernels(10, phase) {
			t.Run(fmt.Sprint(name, " ", phase), func(t *testing.T) {
				m := newMap(t, k, 5, 3)
				out := transform(m, dense(2, 5, []float32{0.3, 1, 0, 1, 0.2, 0.9, 0.1, 0.5, 0, 0}))
				pins.Check(t, map[string][]byte{"features": fmt.Append(nil, out.Data, m.NormBound(), m.Table()),
					"json": must(json.Marshal(m))(t), "saved": must(json.Marshal(rff.SaveMap(m)))(t)})
			})
		}
	}
	coloured := rff.Layout{In: 12 * 14, Height: 7, Width: 8}
	grey := rff.Layout{In: 12 * 14, Height: 12, Width: 14}
	for name, k := range map[string]rff.FeatureKernel{"strokes": rff.Strokes{Cells: 3,
		Orientations: 4, Blur: 0.8}, "upright": rff.Strokes{Cells: 2, Orientations: 5, Upright: true,
		Spread: 0.2}, "default": rff.StrokesFor(12, 14), "scattering": rff.Scattering{Orientations: 3},
		"groups": rff.Scattering{Orientations: 2, Group: 4}} {
		for kind, l := range map[string]rff.Layout{"grey": grey, "colour": coloured} {
			t.Run(name+" "+kind, func(t *testing.T) {
				f, err := k.Features(l, 3)
				if err != nil {
					pins.Check(t, map[string][]byte{"error": []byte(err.Error())})
					return
				}
				x := make([]float32, 2*l.In)
				for i := range x {
					x[i] = float32(i*i%97) / 97
				}
				out := device.CPU().New(2, f.Dim())
				f.Transform(device.CPU(), dense(2, l.In, x), out)
				var saved rff.SavedMap
				text, again := must(json.Marshal(rff.SaveMap(f)))(t), device.CPU().New(2, f.Dim())
				if err := json.Unmarshal(text, &saved); err != nil {
					t.Fatal(err)
				}
				saved.Map().Transform(device.CPU(), dense(2, l.In, x), again)
				if !slices.Equal(again.Data, out.Data) {
					t.Error("the features that were read are others")
				}
				pins.Check(t, map[string][]byte{"features": fmt.Append(nil, out.Data, f.NormBound()),
					"kernel": must(rff.MarshalFeatures(k))(t), "saved": text})
			})
		}
	}
}
