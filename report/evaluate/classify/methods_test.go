package classify_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// line returns records of one coordinate in [0, 10].
func line(t testing.TB, values []float32, labels ...int32) *records.Table {
	return must(records.FromFlat(records.Interval(1, 0, 10).WithLabels("no", "yes"), values,
		labels...))(t)
}

// every returns all methods with small, fast settings.
func every(seed uint64) []classify.Method {
	return []classify.Method{
		classify.NeuralNetwork{Seed: seed}, classify.NeuralNetwork{Hidden: []int{8}, Seed: seed},
		classify.LogisticRegression{}, classify.SupportVectors{},
		classify.GaussianBayes{}, classify.BernoulliBayes{}, classify.DiscriminantAnalysis{},
		classify.DecisionTree{}, classify.DecisionTree{Balanced: true},
		classify.RandomForest{Trees: 20, Seed: seed},
		classify.RandomForest{Trees: 20, Balanced: true, Seed: seed}, classify.Bagging{Seed: seed},
		classify.AdaBoost{}, classify.GradientBoosting{Stages: 20, Seed: seed},
		classify.GradientBoosting{Stages: 20, Part: 0.5, Seed: seed},
	}
}

func TestTreeSplitsHalfWayBetweenValues(t *testing.T) {
	c := must(classify.DecisionTree{}.Fit(line(t, []float32{1, 2, 4, 7}, 0, 0, 1, 1)))(t)
	got := must(c.Predict(line(t, []float32{0, 2.9, 3.1, 10}, 0, 0, 0, 0)))(t)
	if want := []int32{0, 0, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("predicted %v, want %v: the split is at 3", got, want)
	}
}

func TestTreeSolvesExclusiveOr(t *testing.T) {
	data := exclusive(t, 500)
	if r := tested(t, classify.DecisionTree{}, data, data); r.Accuracy() != 1 {
		t.Errorf("%v", r)
	}
	if r := tested(t, classify.DecisionTree{Depth: 1}, data, data); r.Accuracy() >
		0.65 {
		t.Errorf("a tree with one split: %v, want accuracy at most 0.65", r)
	}
}

// TestLeavesStateShares checks the probabilities of a leaf that cannot be split further.
func TestLeavesStateShares(t *testing.T) {
	data := line(t, []float32{5, 5, 5, 5, 9}, 0, 1, 1, 1, 0)
	p := must(must(classify.DecisionTree{}.Fit(data))(t).Probabilities(data))(t)
	if want := []float64{0.25, 0.75}; !slices.Equal(p[:2], want) || p[8] != 1 {
		t.Errorf("probabilities %v", p)
	}
	b := must(must(classify.DecisionTree{Balanced: true}.Fit(data))(t).Probabilities(data))(t)
	// Two records of "no" weigh 5/4 each, three of "yes" 5/6.
	if want := 2.5 / (2.5 + 1.25); math.Abs(b[1]-want) > 1e-12 {
		t.Errorf("balanced probability %v, want %v", b[1], want)
	}
}

func TestBayesByHand(t *testing.T) {
	g := must(classify.GaussianBayes{}.Fit(line(t, []float32{1, 3, 6, 10}, 0, 0, 1, 1)))(t)
	s := must(g.Scores(line(t, []float32{4}, 0)))(t)
	law := func(x, mean, variance float64) float64 {
		return math.Log(0.5) - math.Log(2*math.Pi*variance)/2 - (x-mean)*(x-mean)/(2*variance)
	}
	for c, want := range []float64{law(0.4, 0.2, 0.01), law(0.4, 0.8, 0.04)} {
		if math.Abs(s[c]-want) > 1e-4 {
			t.Errorf("class %d: log-density %v, want %v", c, s[c], want)
		}
	}
	b := must(classify.BernoulliBayes{}.Fit(line(t, []float32{0, 9, 9, 9}, 0, 0, 1, 1)))(t)
	p := must(b.Probabilities(line(t, []float32{8}, 0)))(t)
	if want := 0.75 / (0.5 + 0.75); math.Abs(p[1]-want) > 1e-12 {
		t.Errorf("probability %v, want %v", p[1], want)
	}
}

func TestSupportVectorsByHand(t *testing.T) {
	// Two records at 0 and 1: w and b solve a system of two equations, since
	// both lie inside the margin.
	c := must(classify.SupportVectors{}.Fit(line(t, []float32{0, 10}, 0, 1)))(t)
	s := must(c.Scores(line(t, []float32{0, 10}, 0, 0)))(t)
	// b + 2(1+b) − 2(1−w−b) = 0 and w − 2(1−w−b) = 0.
	w, b := 10.0/11, -4.0/11
	if math.Abs(s[1]-s[0]-b) > 1e-4 || math.Abs(s[3]-s[2]-(w+b)) > 1e-4 {
		t.Errorf("margins %v, want %v and %v", s, b, w+b)
	}
}

func TestEveryMethodLearns(t *testing.T) {
	train, test := blobs(t, 1, 600, 10), blobs(t, 2, 600, 10)
	for _, m := range every(1) {
		c := must(m.Fit(train))(t)
		r := must(classify.Test(c, test))(t)
		if r.Accuracy() < 0.95 || r.Scores.ROC < 0.95 || c.Name() != m.Name() || r.Model != m.Name() {
			t.Errorf("%v", r)
		}
		p, err := c.Probabilities(test)
		if m.Name() == (classify.SupportVectors{}).Name() {
			if err == nil {
				t.Error("a support vector machine returns probabilities")
			}
			continue
		}
		for i := 0; i < len(p); i += 3 {
			if s := p[i] + p[i+1] + p[i+2]; math.Abs(s-1) > 1e-5 {
				t.Fatalf("%s: probabilities add up to %v, %v", m.Name(), s, err)
			}
		}
	}
}

// TestMethodsFollowTheSeedAlone trains on one core and on several: only the seed may matter.
func TestMethodsFollowTheSeedAlone(t *testing.T) {
	train, test := blobs(t, 1, 400, 40), blobs(t, 2, 300, 40)
	scores := func(cores int) [][]float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		var out [][]float64
		for _, m := range every(7) {
			out = append(out, must(must(m.Fit(train))(t).Scores(test))(t))
		}
		return out
	}
	one, many := scores(1), scores(4)
	for i, m := range every(7) {
		if !slices.Equal(one[i], many[i]) {
			t.Errorf("%s depends on the number of cores", m.Name())
		}
	}
	a := must(must(classify.RandomForest{Trees: 3, Seed: 1}.Fit(train))(t).Scores(test))(t)
	b := must(must(classify.RandomForest{Trees: 3, Seed: 2}.Fit(train))(t).Scores(test))(t)
	if slices.Equal(a, b) {
		t.Error("two seeds result in the same forest")
	}
}

func TestEveryMethodLearnsFromSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows, labels := make([][]uint32, 500), make([]int32, 500)
	for i := range rows {
		labels[i] = rng.Int32N(2)
		for range 5 {
			rows[i] = append(rows[i], uint32(rng.IntN(10))+10*uint32(labels[i]))
		}
	}
	data := must(records.FromItems(records.Sets(20, 10).WithLabels("low", "high"), rows, labels...))(t)
	for _, m := range every(1) {
		if r := tested(t, m, data.Slice(0, 400), data.Slice(400, 500)); r.Accuracy() <
			0.97 {
			t.Errorf("%v", r)
		}
	}
}

// TestMissingClasses trains on records of one class of three.
func TestMissingClasses(t *testing.T) {
	some := blobs(t, 1, 300, 8)
	one := some.Take(some.RowsByLabel()[1])
	for _, m := range every(1) {
		c, err := m.Fit(one)
		if err != nil {
			t.Errorf("%s: %v", m.Name(), err)
			continue
		}
		r := must(classify.Test(c, one))(t)
		if r.Accuracy() != 1 || math.IsNaN(r.Scores.ROC) {
			t.Errorf("%v %+v", r, r.Scores)
		}
		if r := must(classify.Test(c, some))(t); math.IsNaN(r.Scores.ROC) || math.IsNaN(r.Hard().PRC) {
			t.Errorf("%s: %+v", m.Name(), r.Scores)
		}
	}
}

func TestHistogramBinsManyValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	values, labels := make([]float32, 20000), make([]int32, 20000)
	for i := range values {
		values[i] = 10 * rng.Float32() * rng.Float32()
		if values[i] > 2.5 {
			labels[i] = 1
		}
	}
	data := line(t, values, labels...)
	r := tested(t, classify.DecisionTree{}, data, data)
	if r.Accuracy() < 1-2.0/256 {
		t.Errorf("accuracy with 256 bins is %v, want at least 1 − 2/256", r.Accuracy())
	}
}

// pictures returns 8×8 images with a bright row or a bright column.
func pictures(t testing.TB, seed uint64, n int) *records.Table {
	rng := rand.New(rand.NewPCG(seed, 3))
	flat, labels := make([]float32, 64*n), make([]int32, n)
	for i := range labels {
		labels[i] = rng.Int32N(2)
		at := rng.IntN(8)
		for j := range 8 {
			pixel := 8*at + j
			if labels[i] == 1 {
				pixel = 8*j + at
			}
			flat[64*i+pixel] = 0.7 + 0.3*rng.Float32()
		}
	}
	return must(records.FromFlat(records.Image(8, 8).WithLabels("row", "column"), flat, labels...))(t)
}

func TestConvolutionalNetworkLearns(t *testing.T) {
	m := classify.Convolutional{
		Convolutions: []models.Convolution{{Maps: 8, Size: 3, Stride: 2, Pad: 1}}, Hidden: []int{16},
		Training: classify.NeuralNetwork{Epochs: 10, Batch: 50},
	}
	r := tested(t, m, pictures(t, 1, 1000), pictures(t, 2, 300))
	if r.Accuracy() < 0.97 {
		t.Errorf("%v", r)
	}
	if _, err := m.Fit(blobs(t, 1, 10, 1)); err == nil {
		t.Error("a convolutional network learns from vectors")
	}
	m.Convolutions = []models.Convolution{{Maps: -1}}
	if _, err := m.Fit(pictures(t, 1, 10)); err == nil {
		t.Error("a convolution with -1 maps is accepted")
	}
}

func TestMethodsRefuse(t *testing.T) {
	data := blobs(t, 1, 30, 8)
	for _, m := range []classify.Method{
		classify.DecisionTree{Depth: -1}, classify.RandomForest{Trees: -1}, classify.Bagging{Part: 1.5},
		classify.AdaBoost{Rate: math.NaN()},
		classify.GradientBoosting{Part: -0.1}, classify.GaussianBayes{Smoothing: math.Inf(1)},
		classify.BernoulliBayes{Threshold: 2},
		classify.DiscriminantAnalysis{Shrinkage: -1}, classify.SupportVectors{C: -1},
		classify.LogisticRegression{Iterations: -1},
		classify.Convolutional{Training: classify.NeuralNetwork{Epochs: -1}},
	} {
		var config *param.Error
		if _, err := m.Fit(data); !errors.As(err, &config) ||
			!strings.HasPrefix(config.Path, "classify.") {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
	for _, m := range every(0) {
		if _, err := m.Fit(data.WithoutLabels()); err == nil {
			t.Errorf("%s learns without labels", m.Name())
		}
		if _, err := m.Fit(data.Slice(0, 0)); err == nil {
			t.Errorf("%s learns from nothing", m.Name())
		}
	}
	var config *param.Error
	empty := must(records.FromItems(records.Sets(10000, 2).WithLabels("a", "b"),
		[][]uint32{{1}, {2}}, 0, 1))(t)
	if _, err := (classify.DiscriminantAnalysis{}).Fit(empty); !errors.As(err, &config) {
		t.Errorf("ten thousand coordinates: got error %v, want a *param.Error", err)
	}
}
