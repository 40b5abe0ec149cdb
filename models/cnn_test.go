package models

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

func newTestCNN(t testing.TB, a CNN, classes int) *Classifier {
	t.Helper()
	n := must(a.Classifier(device.CPU(), a.image().Len(), classes, 17))(t)
	perturb(n, rand.New(rand.NewPCG(4, 2)), 0.1)
	return n
}

// testCNNs cover norms computed from products and from Gram matrices, edges that windows do not
// reach, and several channels.
var testCNNs = []CNN{
	{Height: 6, Width: 7, Channels: 1,
		Convolutions: []Convolution{{Maps: 3, Size: 3, Pad: 1}, {Maps: 5, Size: 4, Stride: 3}},
		Activation:   Tanh},
	{Height: 5, Width: 5, Channels: 3,
		Convolutions: []Convolution{{Maps: 4, Size: 3, Stride: 2, Pad: 1}, {Maps: 9, Size: 3}},
		Hidden:       []int{6}, Activation: Softplus},
	{Height: 4, Width: 6, Channels: 2,
		Convolutions: []Convolution{{Maps: 4, Size: 1}, {Maps: 6, Size: 2, Stride: 2, Pad: 1}},
		Hidden:       []int{5}},
	{Height: 2, Width: 3, Channels: 1, Hidden: []int{4}, Activation: Tanh},
}

// slackCNN is the relative amount by which a bound may exceed the squared norm.
const slackCNN = 2e-3

func TestCNNGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for _, a := range testCNNs {
		n := newTestCNN(t, a, 4)
		units := unitsOf(n.g)
		b := greyBatch(rng, 7, n.Dim(), 4)
		rows := rowsOf(b)
		checkDerivative(t, n, b, func(p []float64, i int) float64 {
			out := chain64(units, p, [][]float64{wide64(rows[i])})[0]
			norm := 0.0
			for _, o := range out {
				norm += math.Exp(o)
			}
			return math.Log(norm) - out[b.Labels[i]]
		})
		checkFactored(t, n, b, slackCNN)
		checkEmpty(t, n, n.Dim())
		for i := range b.Dense.Data {
			b.Dense.Data[i] = float32(math.Round(float64(b.Dense.Data[i])))
		}
		checkFactored(t, n, sparsify(b), slackCNN)
		checkTotal(t, n, b)
	}
}

// TestCNNNormsBoundAbove: stated norms are never below the true norms. Otherwise a clipped gradient
// would exceed the clip norm.
func TestCNNNormsBoundAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	for _, a := range testCNNs {
		n := newTestCNN(t, a, 3)
		b := greyBatch(rng, 9, n.Dim(), 3)
		norms := make([]float64, 9)
		n.Gradients(b).SquaredNorms(norms)
		for i, g := range exampleGradients(n, b) {
			if want := squaredNorm(g); norms[i] < want*(1-1e-6) {
				t.Errorf("squared norm %v, want at least %v", norms[i], want)
			}
		}
	}
}

// TestCNNRecordsDoNotInteract: a record's contribution does not depend on other records, to the
// last bit.
func TestCNNRecordsDoNotInteract(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	for _, a := range testCNNs {
		n := newTestCNN(t, a, 3)
		b := greyBatch(rng, 40, n.Dim(), 3)
		alone, among := device.NewParams(device.CPU(), n.Params().Shapes...),
			device.NewParams(device.CPU(), n.Params().Shapes...)
		one, all := make([]float64, 1), make([]float64, 40)
		w := make([]float32, 40)
		w[33] = 1
		g := n.Gradients(b)
		g.SquaredNorms(all)
		g.AddWeightedSum(among, w)
		g = n.Gradients(b.Slice(33, 34))
		g.SquaredNorms(one)
		g.AddWeightedSum(alone, w[33:34])
		if one[0] != all[33] || !reflect.DeepEqual(alone.Flat.Data, among.Flat.Data) {
			t.Errorf("squared norm %v alone and %v among other records, or a different gradient", one[0], all[33])
		}
	}
}

// TestCNNChunks: the division into chunks of images does not change results.
func TestCNNChunks(t *testing.T) {
	a := CNN{Height: 28, Width: 28, Channels: 1,
		Convolutions: []Convolution{{Maps: 4, Size: 5, Pad: 2}}}
	n := newTestCNN(t, a, 3)
	if rows := chunkRows(n.g.nodes[1].unit.(*convUnit).window); rows >= 20 {
		t.Fatalf("a chunk holds %d images: the test needs several chunks", rows)
	}
	checkFactored(t, n, greyBatch(rand.New(rand.NewPCG(8, 2)), 20, 784, 3), 2*slackCNN)
}

func TestCNNLearns(t *testing.T) {
	a := CNN{Height: 8, Width: 8, Channels: 1,
		Convolutions: []Convolution{{Maps: 6, Size: 3, Stride: 2, Pad: 1}}, Hidden: []int{12}}
	n := must(a.Classifier(device.CPU(), 64, 2, 3))(t)
	b, w := stripes(rand.New(rand.NewPCG(9, 2)), 500), make([]float32, 400)
	for i := range w {
		w[i] = -.5 / 400
	}
	train, test := b.Slice(0, 400), b.Slice(400, 500)
	for range 200 {
		n.Gradients(train).AddWeightedSum(n.Params(), w)
	}
	got, right := make([]int32, 100), 0
	n.PredictClass(test, got)
	for i, c := range got {
		if c == test.Labels[i] {
			right++
		}
	}
	if right < 95 {
		t.Errorf("%d of 100 new images are classified correctly", right)
	}
}

// stripes returns images of noise with a horizontal bar (class 0) or a vertical bar (class 1) at a
// random position.
func stripes(rng *rand.Rand, rows int) device.Batch {
	b := greyBatch(rng, rows, 64, 2)
	for i := range rows {
		image, at := b.Dense.Row(i), rng.IntN(8)
		for k := range 8 {
			if b.Labels[i] == 0 {
				image[at*8+k] = 1.5
			} else {
				image[k*8+at] = 1.5
			}
		}
	}
	return b
}

// TestBatchNormHasNoNorms: the norms of a network with batch norm are NaN, so code that clips by
// norms leaves out every record.
func TestBatchNormHasNoNorms(t *testing.T) {
	be := device.CPU()
	g := newSketch("x")
	norm := &batchNorm{gainUnit: gainUnit{1, 3}, f: device.ReLU}
	norm.start(be)
	h := g.add(norm, g.dense(g.input(4), device.Identity, 3))
	g.end(crossEntropy{}, g.dense(h, device.Identity, 2))
	n := newClassifier(be, g.done(), 2, rand.New(rand.NewPCG(1, 1)))
	b, norms := greyBatch(rand.New(rand.NewPCG(2, 1)), 5, 4, 2), make([]float64, 5)
	n.Gradients(b).SquaredNorms(norms)
	for _, v := range norms {
		if v == v {
			t.Errorf("squared norm %v, want NaN", v)
		}
	}
}

func TestCNNConfig(t *testing.T) {
	_, err := CNN{Height: 0, Width: -3, Channels: math.MaxInt / 2,
		Convolutions: []Convolution{{Maps: 0, Size: 0, Stride: -1, Pad: 5}}, Hidden: []int{0},
		Activation: 99}.Classifier(nil, 0, 0, 0)
	for _, path := range []string{"models.CNN.Height", "models.CNN.Width", "models.CNN.Channels",
		"models.CNN.Convolutions[0].Maps", "models.CNN.Convolutions[0].Size",
		"models.CNN.Convolutions[0].Stride", "models.CNN.Convolutions[0].Pad", "models.CNN.Hidden[0]",
		"models.CNN.Activation", "models.CNN.Classifier: classes"} {
		if !names(err, path) {
			t.Errorf("%s is not reported: %v", path, err)
		}
	}
	small := CNN{Height: 5, Width: 5, Channels: 1,
		Convolutions: []Convolution{{Maps: 2, Size: 3}, {Maps: 2, Size: 4}}}
	if err := small.Validate(); !names(err, "models.CNN.Convolutions[1].Size") {
		t.Errorf("a window larger than its image: %v", err)
	}
	small.Convolutions = nil
	if _, err := small.Classifier(device.CPU(), 24, 2, 0); !names(err, "models.CNN.Classifier: in") {
		t.Errorf("records of another size: %v", err)
	}
	text, err := json.Marshal(testCNNs[1])
	var back CNN
	if err != nil || json.Unmarshal(text, &back) != nil || !reflect.DeepEqual(back, testCNNs[1]) {
		t.Errorf("%s was read back as %+v", text, back)
	}
}

// mnistCNN has about the size of the network of Papernot et al. 2020 for MNIST.
var mnistCNN = CNN{Height: 28, Width: 28, Channels: 1,
	Convolutions: []Convolution{{Maps: 16, Size: 5, Stride: 2, Pad: 2},
		{Maps: 32, Size: 5, Stride: 2, Pad: 2}},
	Hidden: []int{64}, Activation: Tanh}

func BenchmarkCNN(b *testing.B) {
	n := newTestCNN(b, mnistCNN, 10)
	batch := greyBatch(rand.New(rand.NewPCG(1, 2)), 256, 784, 10)
	norms, w, sum := make([]float64, 256), make([]float32, 256),
		device.NewParams(device.CPU(), n.Params().Shapes...)
	for i := range w {
		w[i] = 1
	}
	run := func(name string, step func(g Gradients)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				step(n.Gradients(batch))
			}
			b.ReportMetric(256*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
		})
	}
	run("forward+backward", func(Gradients) {})
	run("sum", func(g Gradients) { g.AddWeightedSum(sum, w) })
	run("norms+sum", func(g Gradients) {
		g.SquaredNorms(norms)
		g.AddWeightedSum(sum, w)
	})
}
