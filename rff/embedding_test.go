package rff_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/rff"
)

// mixed is a layout with columns of every kind. In order, they are a number, a number that can be
// missing, a category, an integer of 4 levels, a flag, a flag that can be missing, and another
// category.
var mixed = rff.Layout{In: 15, Blocks: []rff.Block{
	{Offset: 0, Width: 1},
	{Offset: 1, Width: 2},
	{Offset: 3, Width: 4, OneHot: true},
	{Offset: 7, Width: 1, Levels: 4},
	{Offset: 8, Width: 1, Levels: 2},
	{Offset: 9, Width: 2, Levels: 2},
	{Offset: 11, Width: 4, OneHot: true},
}}

// image is the layout of small grey images.
var image = rff.Layout{In: 144, Height: 12, Width: 12}

type kernelCase struct {
	kernel rff.EmbeddingKernel
	layout rff.Layout
}

func embeddings() map[string]kernelCase {
	list := map[string]kernelCase{
		"scales":  {rff.Scales{Dim: 40, Low: 0.3, High: 3}, mixed},
		"range":   {rff.Scales{Dim: 40, Low: 0.3, High: 3}, mixed},
		"sum":     {rff.Sum{Numbers: rff.Scales{Dim: 40, Low: 0.1, High: 1}}, mixed},
		"pairs":   {rff.Pairs{Knots: 5}, mixed},
		"singles": {rff.Pairs{Knots: 5, Order: 1}, mixed},
	}
	for name, k := range kernels(40, false) {
		list[name] = kernelCase{k.(rff.EmbeddingKernel), mixed}
	}
	patches := rff.Patches{Dim: 60, Windows: []float64{0.3, 0.6, 1}, Blur: 0.7, Low: 1, High: 6}
	list["patches"] = kernelCase{patches, image}
	list["colours"] = kernelCase{patches, rff.Layout{In: 90, Height: 5, Width: 6}}
	list["phase"] = kernelCase{rff.RBF{Dim: 40, Bandwidth: 1, Phase: true}, mixed}
	return list
}

func newEmbedding(t testing.TB, c kernelCase) rff.Embedding {
	t.Helper()
	e := must(c.kernel.Embedding(c.layout, 7))(t)
	if e.In() != c.layout.In {
		t.Fatalf("the embedding has width %d, want the layout's", e.In())
	}
	return e
}

func embed(e rff.Embedding, x []float32) device.Matrix {
	be := device.CPU()
	rows := len(x) / e.In()
	out := be.New(rows, e.Dim())
	be.Fill(out, float32(math.NaN())) // the old contents must not matter
	e.Transform(be, dense(rows, e.In(), x), out)
	return out
}

// corner draws a record of the layout. Its numbers are at an end of their range or anywhere in it.
func corner(rng *rand.Rand, l rff.Layout) []float32 {
	x := make([]float32, l.In)
	if len(l.Blocks) == 0 {
		for i := range x {
			x[i] = []float32{0, 1, rng.Float32()}[rng.IntN(3)]
		}
	}
	for _, b := range l.Blocks {
		redraw(rng, b, x)
	}
	return x
}

// redraw gives one column a new value.
func redraw(rng *rand.Rand, b rff.Block, x []float32) {
	block := x[b.Offset : b.Offset+b.Width]
	clear(block)
	switch {
	case b.OneHot:
		block[rng.IntN(b.Width)] = 1
	case b.Width == 2 && rng.IntN(3) == 0:
		block[1] = 1
	case b.Levels > 0:
		block[0] = float32(rng.IntN(b.Levels)) / float32(b.Levels-1)
	default:
		block[0] = []float32{0, 1, 0.5, rng.Float32()}[rng.IntN(4)]
	}
}

func distance(a, b []float32) float64 {
	var s float64
	for i, v := range a {
		d := float64(v) - float64(b[i])
		s += d * d
	}
	return math.Sqrt(s)
}

// search returns the largest value that it finds by hill climbing from random records, changing one
// column at a time.
func search(rng *rand.Rand, l rff.Layout, value func(x []float32) float64) float64 {
	best := math.Inf(-1)
	for range 8 {
		x := corner(rng, l)
		now := value(x)
		for range 60 {
			y := slices.Clone(x)
			if len(l.Blocks) > 0 {
				redraw(rng, l.Blocks[rng.IntN(len(l.Blocks))], y)
			} else {
				y[rng.IntN(l.In)] = float32(rng.IntN(2))
			}
			if v := value(y); v > now {
				x, now = y, v
			}
		}
		best = max(best, now)
	}
	return best
}

// TestBoundsHoldAgainstSearch checks that hill climbing finds no record with float32 features
// beyond the bounds.
func TestBoundsHoldAgainstSearch(t *testing.T) {
	for name, c := range embeddings() {
		e := newEmbedding(t, c)
		rng := rand.New(rand.NewPCG(1, 5))
		longest := search(rng, c.layout, func(x []float32) float64 { return norm(embed(e, x).Row(0)) })
		if longest > e.NormBound() {
			t.Errorf("%s: a record has norm %.9f, above the bound %.9f", name, longest, e.NormBound())
		}
		var widest float64
		for range 4 {
			from := embed(e, corner(rng, c.layout)).Row(0)
			widest = max(widest, search(rng, c.layout, func(x []float32) float64 {
				return distance(embed(e, x).Row(0), from)
			}))
		}
		if widest > e.ChangeBound() || e.ChangeBound() > 2*e.NormBound() {
			t.Errorf("%s: two records have distance %.9f; change bound %.9f, norm bound %.9f", name, widest,
				e.ChangeBound(),
				e.NormBound())
		}
		if name == "pairs" && (longest < 0.9999 || widest < 1.41) {
			t.Errorf("%s: the search reaches only norm %.4f and distance %.4f: it or the bounds are loose",
				name,
				longest, widest)
		}
	}
}

// TestBoundsOfDiscreteColumns: for one discrete column the bounds of Sum are the largest norm and
// the largest distance of its values, which are few enough to try all of them.
func TestBoundsOfDiscreteColumns(t *testing.T) {
	for name, c := range map[string]struct {
		block  rff.Block
		values [][]float32
	}{
		"flag":          {rff.Block{Width: 1, Levels: 2}, [][]float32{{0}, {1}}},
		"optional flag": {rff.Block{Width: 2, Levels: 2}, [][]float32{{0, 0}, {1, 0}, {0, 1}}},
		"one level":     {rff.Block{Width: 1, OneHot: true}, [][]float32{{1}}},
		"two levels":    {rff.Block{Width: 2, OneHot: true}, [][]float32{{1, 0}, {0, 1}}},
		"three levels": {rff.Block{Width: 3, OneHot: true},
			[][]float32{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
	} {
		e := newEmbedding(t, kernelCase{rff.Sum{Numbers: rff.RBF{Dim: 2, Bandwidth: 1}},
			rff.Layout{In: c.block.Width, Blocks: []rff.Block{c.block}}})
		longest, widest := 0.0, 0.0
		for _, x := range c.values {
			row := embed(e, x).Row(0)
			longest = max(longest, norm(row))
			for _, y := range c.values {
				widest = max(widest, distance(row, embed(e, y).Row(0)))
			}
		}
		if b := e.NormBound(); !(longest <= b && b <= longest*(1+1e-6)) {
			t.Errorf("%s: norm bound %v, want the largest norm, %v", name, b, longest)
		}
		if b := e.ChangeBound(); !(widest <= b && b <= widest*(1+1e-6)) {
			t.Errorf("%s: change bound %v, want the largest distance, %v", name, b, widest)
		}
	}
	// A number that may be missing also changes its indicator, by 1, beside features of norm 1.
	e := newEmbedding(t, kernelCase{rff.Sum{Numbers: rff.RBF{Dim: 2, Bandwidth: 1}},
		rff.Layout{In: 2, Blocks: []rff.Block{{Width: 2}}}})
	if n, c := e.NormBound(), e.ChangeBound(); !(math.Abs(n-math.Sqrt2) <= 1e-12) ||
		!(math.Abs(c-math.Sqrt(5)) <= 1e-12) {
		t.Errorf("optional number: norm bound %v, change bound %v, want √2 and √5", n, c)
	}
}

// TestSumBounds checks the bounds of Sum for two one-hot columns with ten coordinates, and its
// features.
func TestSumBounds(t *testing.T) {
	l := rff.Layout{In: 11, Blocks: []rff.Block{{0, 1, false, 0}, {1, 4, true, 0}, {5, 6, true, 0}}}
	e := newEmbedding(t, kernelCase{rff.Sum{Numbers: rff.RBF{Dim: 10, Bandwidth: 1}}, l})
	if want := math.Sqrt(1 + 2.0/10); !(math.Abs(e.NormBound()-want) <= 1e-12) {
		t.Errorf("norm bound %v, want %v", e.NormBound(), want)
	}
	if want := math.Sqrt(4 + 2*2.0/10); !(math.Abs(e.ChangeBound()-want) <= 1e-12) {
		t.Errorf("change bound %v, want %v", e.ChangeBound(), want)
	}
	x := []float32{0.5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}
	row := embed(e, x).Row(0)
	for i, v := range row[10:] {
		if want := float64(x[i+1]) / math.Sqrt(10); math.Abs(float64(v)-want) > 1e-7 {
			t.Errorf("discrete feature %d is %v, want %v", i, v, want)
		}
	}
}

// soft draws a soft record, as generators make them. Every coordinate is strictly inside (0,1), and
// its distance from the knots of hat functions is larger than the step of difference quotients.
func soft(rng *rand.Rand, in int) []float32 {
	x := make([]float32, in)
	for i := range x {
		x[i] = (float32(rng.IntN(12)) + 0.15 + 0.7*rng.Float32()) / 12
	}
	return x
}

// TestBackwardIsTheDerivative compares Backward with ⟨delta, φ(x+h)−φ(x−h)⟩/2h for every
// coordinate.
func TestBackwardIsTheDerivative(t *testing.T) {
	const h = 1.0 / 512
	for name, c := range embeddings() {
		e := newEmbedding(t, c)
		rng := rand.New(rand.NewPCG(3, 3))
		x := append(soft(rng, e.In()), soft(rng, e.In())...)
		delta := make([]float32, 2*e.Dim())
		for i := range delta {
			delta[i] = float32(rng.NormFloat64())
		}
		dx := derivative(e, x, delta)
		var worst, size float64
		for i := range dx {
			up, down := slices.Clone(x), slices.Clone(x)
			up[i] += h
			down[i] -= h
			quotient := (along(e, up, delta) - along(e, down, delta)) / float64(up[i]-down[i])
			worst, size = max(worst, math.Abs(quotient-float64(dx[i]))), max(size, math.Abs(quotient))
		}
		if worst > 0.005*size {
			t.Errorf("%s: the largest error of the derivative is %.5f; the largest derivative is %.5f", name,
				worst, size)
		}
	}
}

func derivative(e rff.Embedding, x, delta []float32) []float32 {
	be := device.CPU()
	rows := len(x) / e.In()
	dx := be.New(rows, e.In())
	be.Fill(dx, float32(math.NaN()))
	e.Backward(be, device.HostMatrix(rows, e.In(), x), device.HostMatrix(rows, e.Dim(), delta), dx)
	return dx.Data
}

func along(e rff.Embedding, x, delta []float32) (s float64) {
	for i, v := range embed(e, x).Data {
		s += float64(v) * float64(delta[i])
	}
	return s
}

func TestEmbeddingSurvivesJSON(t *testing.T) {
	for name, c := range embeddings() {
		data, err := rff.MarshalEmbedding(c.kernel)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back, err := rff.UnmarshalEmbedding(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		x := corner(rand.New(rand.NewPCG(1, 1)), c.layout)
		a, b := embed(newEmbedding(t, c), x), embed(newEmbedding(t, kernelCase{back, c.layout}), x)
		if !slices.Equal(a.Data, b.Data) {
			t.Errorf("%s: the kernel read from %s gives other features", name, data)
		}
	}
}

func TestHostileEmbeddings(t *testing.T) {
	for _, s := range append([]string{
		`{"kernel":"sum","params":{}}`,
		`{"kernel":"sum","params":{"numbers":{"kernel":"sum","params":{}}}}`,
		`{"kernel":"pairs","params":[]}`,
	}, hostile[:5]...) {
		if k, err := rff.UnmarshalEmbedding([]byte(s)); !errors.Is(err, rff.ErrFormat) {
			t.Errorf("%s: got %+v and error %v, want ErrFormat", s, k, err)
		}
	}
	type own struct{ rff.RBF }
	if _, err := rff.MarshalEmbedding(own{}); err == nil {
		t.Error("a kernel of another package was written, want an error")
	}
	if _, err := json.Marshal(rff.Sum{}); err == nil {
		t.Error("a Sum without a kernel was written, want an error")
	}
}

func TestEmbeddingMistakes(t *testing.T) {
	for _, c := range []struct {
		kernel rff.EmbeddingKernel
		layout rff.Layout
		want   string
	}{
		{rff.RBF{Dim: 4, Bandwidth: 1}, rff.Layout{}, "rff.Layout.In"},
		{rff.RBF{Dim: 4, Bandwidth: 1}, rff.Layout{In: 5, Height: 2, Width: 2}, "rff.Layout.Height"},
		{rff.Pairs{}, rff.Layout{In: 3, Blocks: []rff.Block{{Offset: 1, Width: 2}}},
			"rff.Layout.Blocks[0].Offset"},
		{rff.Pairs{}, rff.Layout{In: 3, Blocks: []rff.Block{{Width: 3}}}, "rff.Layout.Blocks[0].Width"},
		{rff.Pairs{}, rff.Layout{In: 3, Blocks: []rff.Block{{Width: 2, OneHot: true}}},
			"rff.Layout.Blocks:"},
		{rff.Pairs{Order: 3}, mixed, "rff.Pairs.Order"},
		{rff.Pairs{Knots: 1}, mixed, "rff.Pairs.Knots"},
		{rff.Pairs{}, rff.Layout{In: 784}, "44208192 features"},
		{rff.Sum{}, mixed, "rff.Sum.Numbers"},
		{rff.Sum{Numbers: rff.RBF{Dim: 4}}, mixed, "rff.RBF.Bandwidth"},
		{rff.Scales{Dim: 4}, mixed, "rff.Scales.Low"},
		{rff.Scales{Dim: 4, Low: 2, High: 1}, mixed, "rff.Scales.High"},
		{rff.Scales{Dim: 4, Low: 1, High: -1}, mixed, "rff.Scales.High"},
		{rff.Patches{}, mixed, "rff.Patches: layout"},
		{rff.Patches{}, image, "rff.Patches.Windows"},
		{rff.Patches{Dim: 4, Windows: []float64{1, 0}, Blur: math.NaN(), Low: 2, High: 1}, image,
			"rff.Patches.Blur"},
	} {
		e, err := c.kernel.Embedding(c.layout, 1)
		var typed *param.Error
		if e != nil || !errors.As(err, &typed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v for %+v: got %v, want an error with %s", c.kernel, c.layout, err, c.want)
		}
	}
}

// TestSparseRowsAreTheRows checks that AppendRow lists the nonzero features that Transform writes,
// each once and in order.
func TestSparseRowsAreTheRows(t *testing.T) {
	e := newEmbedding(t, embeddings()["pairs"]).(rff.SparseEmbedding)
	rng := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		x := corner(rng, mixed)
		var in []int32
		var there []float32
		for i, v := range x {
			if v != 0 {
				in, there = append(in, int32(i)), append(there, v)
			}
		}
		places, values := e.AppendRow(in, there, nil, nil)
		got := make([]float32, e.Dim())
		for i, p := range places {
			got[p] += values[i] // an index that is listed twice counts twice in a sum
		}
		if sorted := slices.Clone(places); len(slices.Compact(sorted)) != len(places) ||
			!slices.IsSorted(places) {
			t.Fatalf("record %v: the indices %v are not strictly ascending", x, places)
		}
		if !slices.Equal(got, embed(e, x).Row(0)) {
			t.Fatalf("record %v: AppendRow and Transform give different features", x)
		}
		if len(places) > e.Dim()/4 {
			t.Errorf("%d of %d features are listed, want at most a quarter", len(places), e.Dim())
		}
	}
}

// TestPairsCountTogether checks that the sum of features over records consists of the table's
// one-way and two-way marginals.
func TestPairsCountTogether(t *testing.T) {
	l := rff.Layout{In: 5,
		Blocks: []rff.Block{{Width: 2, OneHot: true}, {Offset: 2, Width: 3, OneHot: true}}}
	e := newEmbedding(t, kernelCase{rff.Pairs{}, l})
	out := embed(e, []float32{1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1})
	sum := make([]float64, e.Dim())
	for i := range out.Rows {
		for j, v := range out.Row(i) {
			sum[j] += float64(v)
		}
	}
	single, pair := math.Sqrt(2.0/5), math.Sqrt(1.0/5)
	want := []float64{2 * single, single, 0, 2 * single, single, 0, 2 * pair, 0, 0, 0, pair}
	for i, v := range sum {
		if math.Abs(v-want[i]) > 1e-5 {
			t.Errorf("feature %d sums to %v, want %v", i, v, want[i])
		}
	}
}

// TestPatchesGrowWithTheImage checks that doubling the resolution of two images hardly changes the
// kernel of PatchesFor.
func TestPatchesGrowWithTheImage(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	pair := [][]float32{blot(rng, 14), blot(rng, 14)}
	small := inner(
		newEmbedding(t,
			kernelCase{rff.PatchesFor(4000, 14, 14), rff.Layout{In: 196, Height: 14, Width: 14}}), pair)
	for i := range pair {
		pair[i] = doubled(pair[i], 14)
	}
	large := inner(
		newEmbedding(t,
			kernelCase{rff.PatchesFor(4000, 28, 28), rff.Layout{In: 784, Height: 28, Width: 28}}), pair)
	if math.Abs(small-large) > 0.1 || small < 0.2 || small > 0.9 {
		t.Errorf("the kernel is %.3f, and %.3f at twice the size; want nearly equal values", small, large)
	}
}

// blot draws a soft disc at a random position near the centre.
func blot(rng *rand.Rand, side int) []float32 {
	y, x := float64(side)*(0.45+0.1*rng.Float64()), float64(side)*(0.45+0.1*rng.Float64())
	out := make([]float32, side*side)
	for i := range out {
		dy, dx := float64(i/side)-y, float64(i%side)-x
		out[i] = float32(math.Exp(-(dy*dy + dx*dx) / 12))
	}
	return out
}

func doubled(x []float32, side int) []float32 {
	out := make([]float32, 4*len(x))
	for i := range out {
		out[i] = x[i/(2*side)/2*side+i%(2*side)/2]
	}
	return out
}

func inner(e rff.Embedding, pair [][]float32) (s float64) {
	out := embed(e, append(slices.Clone(pair[0]), pair[1]...))
	for i, v := range out.Row(0) {
		s += float64(v) * float64(out.Row(1)[i])
	}
	return s
}

// TestPairsCapIsTheDimension checks that MaxDim permits exactly Dim features, because the number of
// features is computed in advance.
func TestPairsCapIsTheDimension(t *testing.T) {
	for _, order := range []int{1, 2} {
		e := newEmbedding(t, kernelCase{rff.Pairs{Knots: 5, Order: order}, mixed})
		if _, err := (rff.Pairs{Knots: 5, Order: order, MaxDim: e.Dim()}).Embedding(mixed, 1); err !=
			nil {
			t.Error(err)
		}
		if _, err := (rff.Pairs{Knots: 5, Order: order, MaxDim: e.Dim() - 1}).Embedding(mixed, 1); err ==
			nil {
			t.Errorf("order %d: a MaxDim below %d features is accepted, want an error", order, e.Dim())
		}
	}
	if _, err := (rff.Pairs{}).Embedding(rff.Layout{In: 1 << 29}, 1); err == nil {
		t.Error("half a billion columns are accepted, want an error")
	}
}
