package rff_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/rff"
)

// most is the largest product of record width and number of frequencies.
const most = 1 << 29

// TestEverySettingHasItsLimits checks that every setting is accepted at its limits and refused just
// beyond them, with an error that names it. Nothing is drawn, so large settings take no time.
func TestEverySettingHasItsLimits(t *testing.T) {
	rbf := func(dim int) rff.RBF { return rff.RBF{Dim: dim, Bandwidth: 1} }
	grey := rff.Layout{In: 144, Height: 12, Width: 12}
	stroke := rff.Strokes{Cells: 3, Orientations: 2}
	patch := rff.Patches{Dim: 4, Windows: []float64{1}, Low: 1, High: 2}
	one := func(b rff.Block) rff.Layout { return rff.Layout{In: b.Width, Blocks: []rff.Block{b}} }
	sides := func(in, height, width int) rff.Layout {
		return rff.Layout{In: in, Height: height, Width: width}
	}
	for _, c := range []struct {
		path   string // of the mistake, or empty
		kernel any
		layout rff.Layout
	}{
		{"", rbf(2), rff.Layout{In: 1}},
		{"", rbf(2), rff.Layout{In: most}},
		{"rff.Layout.In", rbf(2), rff.Layout{In: most + 1}},
		{"rff.Layout.In", rbf(2), rff.Layout{In: 0}},
		{"rff.Layout.In", rff.Sum{Numbers: rbf(2)}, rff.Layout{In: -1}},
		{"rff.Layout.In", rff.Pairs{}, rff.Layout{}},
		{"rff.Layout.In", stroke, rff.Layout{}},
		{"rff.Layout.In", rff.Scattering{}, rff.Layout{}},
		{"rff.Layout.In", patch, rff.Layout{}},
		{"rff.RBF.Dim", rbf(0), rff.Layout{In: 1}},
		{"rff.RBF.Dim", rbf(4), rff.Layout{In: most}},
		{"", rbf(4), rff.Layout{In: most / 2}},
		{"", rbf(most), rff.Layout{In: 2}},
		{"rff.RBF.Dim", rbf(most + 2), rff.Layout{In: 1}},
		{"", rff.RBF{Dim: 1, Bandwidth: 1, Phase: true}, rff.Layout{In: most}},
		{"rff.RBF.Bandwidth", rff.RBF{Dim: 2}, rff.Layout{In: 1}},
		{"", rff.RBF{Dim: 2, Bandwidth: 1e-18}, rff.Layout{In: 1}},
		{"", rff.RBF{Dim: 2, Bandwidth: 1e18}, rff.Layout{In: 1}},
		{"rff.RBF.Bandwidth", rff.RBF{Dim: 2, Bandwidth: 0.9e-18}, rff.Layout{In: 1}},
		{"rff.RBF.Bandwidth", rff.RBF{Dim: 2, Bandwidth: 1.1e18}, rff.Layout{In: 1}},
		{"rff.RBF.Bandwidth", rff.RBF{Dim: 2, Bandwidth: -1}, rff.Layout{In: 1}},
		{"rff.RBF.Bandwidth", rff.RBF{Dim: 2, Bandwidth: math.NaN()}, rff.Layout{In: 1}},

		{"", rbf(2), sides(1, 1, 1)},
		{"", rbf(2), sides(12, 2, 2)},
		{"", rbf(2), sides(12, 12, 1)},
		{"", rbf(2), sides(12, 1, 12)},
		{"rff.Layout.Height", rbf(2), sides(12, 13, 1)},
		{"rff.Layout.Height", rbf(2), sides(12, 1, 13)},
		{"rff.Layout.Height", rbf(2), sides(12, 3, 5)},
		{"rff.Layout.Height", rbf(2), sides(12, 5, 2)},
		{"rff.Layout.Height", rbf(2), sides(12, 0, 2)},
		{"rff.Layout.Height", rbf(2), sides(12, 2, 0)},
		{"rff.Layout.Height", rbf(2), sides(12, -2, -2)},
		{"rff.Layout.Height", rbf(2), sides(12, math.MaxInt, math.MaxInt)},

		{"", rbf(2), one(rff.Block{Width: 1})},
		{"", rbf(2), one(rff.Block{Width: 2})},
		{"", rbf(2), one(rff.Block{Width: 1, OneHot: true})},
		{"", rbf(2), one(rff.Block{Width: 1, Levels: 2})},
		{"rff.Layout.Blocks[0].Levels", rbf(2), one(rff.Block{Width: 1, Levels: 1})},
		{"rff.Layout.Blocks[0].Levels", rbf(2), one(rff.Block{Width: 1, Levels: -1})},
		{"rff.Layout.Blocks[0].Width", rbf(2), one(rff.Block{Width: 3})},
		{"", rbf(2), one(rff.Block{Width: 3, OneHot: true})},
		{"rff.Layout.Blocks[0].Width", rbf(2), rff.Layout{In: 2, Blocks: []rff.Block{{}}}},
		{"rff.Layout.Blocks[0].Width", rbf(2),
			rff.Layout{In: 2, Blocks: []rff.Block{{Width: 3, OneHot: true}}}},
		{"rff.Layout.Blocks[1].Offset", rbf(2),
			rff.Layout{In: 2, Blocks: []rff.Block{{Width: 1}, {Width: 1}}}},
		{"rff.Layout.Blocks", rbf(2),
			rff.Layout{In: 3, Blocks: []rff.Block{{Width: 1}, {Offset: 1, Width: 1}}}},

		{"", rff.Pairs{Order: 1, Knots: 2, MaxDim: 2}, rff.Layout{In: 1}},
		{"rff.Pairs.MaxDim", rff.Pairs{Order: 1, Knots: 3, MaxDim: 2}, rff.Layout{In: 1}},
		{"rff.Pairs.MaxDim", rff.Pairs{MaxDim: -1}, rff.Layout{In: 1}},
		{"", rff.Pairs{MaxDim: most}, rff.Layout{In: 1}},
		{"rff.Pairs.MaxDim", rff.Pairs{MaxDim: most + 1}, rff.Layout{In: 1}},
		{"", rff.Pairs{Knots: 4096}, rff.Layout{In: 1}},
		{"rff.Pairs.Knots", rff.Pairs{Knots: 4097}, rff.Layout{In: 1}},
		{"rff.Pairs.Knots", rff.Pairs{Knots: -1}, rff.Layout{In: 1}},
		{"rff.Pairs.Order", rff.Pairs{Order: -1}, rff.Layout{In: 1}},

		{"", rff.Scales{Dim: 2, Low: 1, High: 1}, rff.Layout{In: 1}},
		{"", rff.Scales{Dim: 2, Low: 1e-18, High: 1e18}, rff.Layout{In: 1}},
		{"rff.Scales.Low", rff.Scales{Dim: 2, Low: 0.9e-18, High: 1}, rff.Layout{In: 1}},
		{"rff.Scales.High", rff.Scales{Dim: 2, Low: 1, High: 1.1e18}, rff.Layout{In: 1}},
		{"rff.Scales.High", rff.Scales{Dim: 2, Low: 1, High: 0.99}, rff.Layout{In: 1}},
		{"rff.Scales.High", rff.Scales{Dim: 2, Low: 1, High: math.NaN()}, rff.Layout{In: 1}},
		{"rff.Scales.High", rff.Scales{Dim: 2, Low: 1, High: math.Inf(1)}, rff.Layout{In: 1}},

		{"", patch, grey},
		{"", rff.Patches{Dim: 4, Windows: []float64{1e6}, Blur: 1e3, Low: 1, High: 1}, grey},
		{"rff.Patches.Windows[1]",
			rff.Patches{Dim: 4, Windows: []float64{1, 1.1e6}, Low: 1, High: 1}, grey},
		{"rff.Patches.Windows[0]", rff.Patches{Dim: 4, Windows: []float64{0}, Low: 1, High: 1}, grey},
		{"rff.Patches.Blur",
			rff.Patches{Dim: 4, Windows: []float64{1}, Blur: 1001, Low: 1, High: 1}, grey},
		{"rff.Patches.Blur",
			rff.Patches{Dim: 4, Windows: []float64{1}, Blur: -1, Low: 1, High: 1}, grey},
		{"rff.Patches.High", rff.Patches{Dim: 4, Windows: []float64{1}, Low: 2, High: 1}, grey},

		{"", stroke, grey},
		{"", rff.Strokes{Cells: 1, Orientations: 1}, sides(1, 1, 1)},
		{"", rff.Strokes{Cells: 1024, Orientations: 1024, Blur: 1000, Upright: true, Spread: 1}, grey},
		{"rff.Strokes.Cells", rff.Strokes{Cells: 1025, Orientations: 1}, grey},
		{"rff.Strokes.Cells", rff.Strokes{Orientations: 1}, grey},
		{"rff.Strokes.Orientations", rff.Strokes{Cells: 1, Orientations: 1025}, grey},
		{"rff.Strokes.Orientations", rff.Strokes{Cells: 1}, grey},
		{"rff.Strokes.Blur", rff.Strokes{Cells: 1, Orientations: 1, Blur: 1001}, grey},
		{"rff.Strokes.Blur", rff.Strokes{Cells: 1, Orientations: 1, Blur: -1}, grey},
		{"rff.Strokes.Spread",
			rff.Strokes{Cells: 1, Orientations: 1, Upright: true, Spread: 1.1}, grey},
		{"rff.Strokes.Spread",
			rff.Strokes{Cells: 1, Orientations: 1, Upright: true, Spread: -0.1}, grey},
		{"rff.Strokes.Spread", rff.Strokes{Cells: 1, Orientations: 1, Spread: 0.1}, grey},
		{"rff.Strokes: layout", stroke, sides(144*3, 12, 12)},
		{"rff.Strokes: layout", stroke, rff.Layout{In: 144}},

		{"", rff.Scattering{Orientations: 1, Group: 1}, grey},
		{"", rff.Scattering{Orientations: 64, Group: 1 << 13}, grey},
		{"rff.Scattering.Orientations", rff.Scattering{Orientations: 65}, grey},
		{"rff.Scattering.Orientations", rff.Scattering{Orientations: -1}, grey},
		{"rff.Scattering.Group", rff.Scattering{Group: 1<<13 + 1}, grey},
		{"rff.Scattering.Group", rff.Scattering{Group: -1}, grey},
		{"rff.Scattering: layout", rff.Scattering{}, rff.Layout{In: 144}},
	} {
		var err error
		switch k := c.kernel.(type) {
		case rff.EmbeddingKernel:
			_, err = k.Embedding(c.layout, 1)
		case rff.FeatureKernel:
			_, err = k.Features(c.layout, 1)
		}
		var bad *param.Error
		switch what := fmt.Sprintf("%+v for %+v", c.kernel, c.layout); {
		case c.path == "" && err != nil:
			t.Errorf("%s: %v", what, err)
		case c.path != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), c.path)):
			t.Errorf("%s: got %v, want an error at %s", what, err, c.path)
		}
	}
}

// TestSumOfPhasesHasItsBounds checks the bounds of a sum whose numbers have features of norm √2,
// beside a flag and a category: 2+2/4 and 8+3/4, squared.
func TestSumOfPhasesHasItsBounds(t *testing.T) {
	l := rff.Layout{In: 5, Blocks: []rff.Block{{0, 1, false, 0}, {1, 1, false, 2}, {2, 3, true, 0}}}
	e := newEmbedding(t, kernelCase{rff.Sum{Numbers: rff.RBF{Dim: 2, Bandwidth: 1, Phase: true}}, l})
	for what, c := range map[string][2]float64{
		"norm":   {e.NormBound(), math.Sqrt(2 + 2.0/4)},
		"change": {e.ChangeBound(), math.Sqrt(8 + 3.0/4)},
	} {
		if got, want := c[0], c[1]; !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%s bound %v, want %v", what, got, want)
		}
	}
}

// TestNormsReachTheirBound checks that the norms of pairs of cosine and sine are just below 1, for
// numbers of frequencies whose square roots round in both directions.
func TestNormsReachTheirBound(t *testing.T) {
	for n := 1; n <= 64; n++ {
		m := newMap(t, rff.RBF{Dim: 2 * n, Bandwidth: 1}, 1, 1)
		if got := norm(transform(m, dense(1, 1, []float32{0})).Row(0)); !(got <= 1 && got > 1-1e-5) {
			t.Errorf("%d frequencies: norm %v, want just below 1", n, got)
		}
		// At the origin every cosine is the scale itself.
		scale := float64(transform(m, dense(1, 1, []float32{0})).Row(0)[0])
		if want := (1 - 1.0/(1<<20)) / math.Sqrt(float64(n)); !(scale <= want && scale > want*(1-3e-7)) {
			t.Errorf("%d frequencies: the scale is %v, want at most %v and close to it", n, scale, want)
		}
	}
}

// TestFeaturesAreTheSameOnADevice checks that a device with separate memory has the features of the
// host, for dense and for sparse records, and that a later call with kept scratch memory has too.
func TestFeaturesAreTheSameOnADevice(t *testing.T) {
	host, be := device.CPU(), devicetest.SeparateMemory(device.CPU())
	data := make([]float32, 3*144)
	for i := range data {
		data[i] = float32(i*i%17) / 17
	}
	kinds := map[string]rff.Features{}
	for name, c := range embeddings() {
		kinds[name] = newEmbedding(t, c)
	}
	kinds["strokes"] = strokes(t, rff.StrokesFor(12, 12), image)
	kinds["scattering"] = scattering(t, rff.Scattering{Orientations: 2}, image)
	for name, f := range kinds {
		in := f.In()
		at := device.HostMatrix(3, in, data[:3*in])
		there := be.New(3, in)
		be.Upload(there, at.Data)
		sparse := &device.Sparse{Cols: in, Offsets: []int{0, 2, 2, 3}, Items: []uint32{0, 3, 1}}
		for what, batch := range map[string][2]device.Batch{
			"dense":  {{Rows: 3, Dense: at}, {Rows: 3, Dense: there}},
			"sparse": {{Rows: 3, Sparse: sparse}, {Rows: 3, Sparse: sparse}},
		} {
			want := host.New(3, f.Dim())
			f.Transform(host, batch[0], want)
			for range 2 {
				dst := be.New(3, f.Dim())
				f.Transform(be, batch[1], dst)
				got := make([]float32, 3*f.Dim())
				be.Download(got, dst)
				if !slices.Equal(got, want.Data) {
					t.Errorf("%s, %s: features on a device are not those on the host", name, what)
				}
			}
		}
		e, ok := f.(rff.Embedding)
		if !ok {
			continue
		}
		delta := make([]float32, 3*e.Dim())
		for i := range delta {
			delta[i] = float32(i%7) - 3
		}
		want := derivative(e, at.Data, delta)
		pull, dx, got := be.New(3, e.Dim()), be.New(3, in), make([]float32, 3*in)
		be.Upload(pull, delta)
		be.Fill(dx, 5)
		e.Backward(be, there, pull, dx)
		if be.Download(got, dx); !slices.Equal(got, want) {
			t.Errorf("%s: derivatives on a device are not those on the host", name)
		}
	}
}

// TestPairsNeverExceedTheirNorm checks the norms of records at knots, whose features are the scales
// themselves, for numbers of columns whose scales round in both directions.
func TestPairsNeverExceedTheirNorm(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for order := 1; order <= 2; order++ {
			e := must(rff.Pairs{Knots: 2, Order: order}.Embedding(rff.Layout{In: n}, 1))(t)
			row, norm := embed(e, make([]float32, n)).Row(0), 0.0
			most := 0.0
			for _, v := range row {
				if v > 0 {
					norm += float64(v) * float64(v)
					most = max(most, float64(v))
				}
			}
			if b := e.NormBound(); !(math.Sqrt(norm) <= b && math.Sqrt(norm) > b*(1-1e-5)) {
				t.Errorf("%d columns, order %d: norm %v, want just below %v", n, order, math.Sqrt(norm), b)
			}
			parts := float64(2 * n)
			if pairs := float64(n * (n - 1) / 2); order == 2 && n > 1 {
				parts += pairs
			}
			scale := math.Sqrt(2/parts) * (1 - 1.0/(1<<20))
			if order == 1 || n == 1 {
				scale = math.Sqrt(1/float64(n)) * (1 - 1.0/(1<<20))
			}
			if !(most <= scale && most > scale*(1-3e-7)) {
				t.Errorf("%d columns, order %d: the largest scale is %v, want at most %v", n, order, most,
					scale)
			}
		}
	}
}
