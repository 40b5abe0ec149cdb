package classify_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// blobs draws records of three classes around three corners of a box far from [0, 1].
func blobs(t testing.TB, seed uint64, n int, noise float64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	corners := [][]float64{{20, 20, 80}, {80, 20, 20}, {20, 80, 20}}
	flat, labels := make([]float32, 0, 3*n), make([]int32, n)
	for i := range labels {
		labels[i] = rng.Int32N(3)
		for _, c := range corners[labels[i]] {
			flat = append(flat, float32(c+noise*rng.NormFloat64()))
		}
	}
	schema := records.Interval(3, 0, 100).WithLabels("a", "b", "c")
	return must(records.FromFlat(schema, flat, labels...))(t)
}

// exclusive draws bits, labelled by whether the first two differ. No linear classifier can predict
// this label.
func exclusive(t testing.TB, n int) *records.Table {
	rng := rand.New(rand.NewPCG(1, 8))
	flat, labels := make([]float32, 0, 4*n), make([]int32, n)
	for i := range labels {
		var bits [4]int
		for j := range bits {
			bits[j] = rng.IntN(2)
			flat = append(flat, float32(bits[j]))
		}
		labels[i] = int32(bits[0] ^ bits[1])
	}
	return must(records.FromFlat(records.Binary(4).WithLabels("same", "different"), flat,
		labels...))(t)
}

func TestLogisticRegressionLearns(t *testing.T) {
	c := must(classify.NeuralNetwork{}.Fit(blobs(t, 1, 2000, 8)))(t)
	r := must(classify.Test(c, blobs(t, 2, 1000, 8)))(t)
	if r.Accuracy() < 0.99 || r.MacroF1() < 0.99 || r.Records() != 1000 {
		t.Errorf("accuracy %v, F1 %v over %d records", r.Accuracy(), r.MacroF1(), r.Records())
	}
}

func TestPerceptronLearnsWhatLogisticRegressionCannot(t *testing.T) {
	data := exclusive(t, 2000)
	linear := tested(t, classify.NeuralNetwork{}, data, data)
	deep := tested(t, classify.NeuralNetwork{Hidden: []int{32}, Epochs: 30, LearningRate: 0.01}, data,
		data)
	if linear.Accuracy() > 0.6 || deep.Accuracy() < 0.99 {
		t.Errorf("accuracy %v without a hidden layer, %v with one", linear.Accuracy(), deep.Accuracy())
	}
}

func TestLearningFollowsTheSeed(t *testing.T) {
	train, test := blobs(t, 1, 500, 40), blobs(t, 2, 500, 40)
	first := must(must(classify.NeuralNetwork{Seed: 3}.Fit(train))(t).Predict(test))(t)
	if again := must(
		must(classify.NeuralNetwork{Seed: 3}.Fit(train))(t).Predict(test))(t); !slices.Equal(first,
		again) {
		t.Error("two trainings with the same seed predict different classes")
	}
}

func TestLearningFromSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows, labels := make([][]uint32, 1000), make([]int32, 1000)
	for i := range rows {
		labels[i] = rng.Int32N(2)
		for range 5 {
			rows[i] = append(rows[i], uint32(rng.IntN(50))+50*uint32(labels[i]))
		}
		rows[i] = append(rows[i], uint32(rng.IntN(100)))
	}
	data := must(records.FromItems(records.Sets(100, 10).WithLabels("low", "high"), rows,
		labels...))(t)
	r := tested(t, classify.NeuralNetwork{}, data.Slice(0, 800), data.Slice(800, 1000))
	if r.Accuracy() < 0.97 {
		t.Errorf("accuracy %v", r.Accuracy())
	}
}

func TestConfusionByHand(t *testing.T) {
	r := classify.Classification{Model: "m", Classes: []string{"a", "b", "c"},
		Confusion: [][]int{{3, 1, 0}, {1, 5, 0}, {0, 0, 0}}}
	if r.Accuracy() != 0.8 || r.Records() != 10 {
		t.Errorf("accuracy %v over %d", r.Accuracy(), r.Records())
	}
	if want := (6.0/8 + 10.0/12) / 2; math.Abs(r.MacroF1()-want) > 1e-12 {
		t.Errorf("macro F1 %v, want %v", r.MacroF1(), want)
	}
	if (classify.Classification{}).MacroF1() != 0 {
		t.Error("a classification without records has a positive F1")
	}
}

func TestNeuralNetworkRefuses(t *testing.T) {
	data := blobs(t, 1, 10, 1)
	c := must(classify.NeuralNetwork{}.Fit(data))(t)
	other := must(records.FromFlat(records.Interval(3, 0, 99).WithLabels("a", "b", "c"), nil))(t)
	names := must(records.FromFlat(records.Interval(3, 0, 100).WithLabels("a", "b"), nil))(t)
	for name, err := range map[string]error{
		"epochs":       second(classify.NeuralNetwork{Epochs: -1}.Fit(data)),
		"batch":        second(classify.NeuralNetwork{Batch: -1}.Fit(data)),
		"rate":         second(classify.NeuralNetwork{LearningRate: -1}.Fit(data)),
		"width":        second(classify.NeuralNetwork{Hidden: []int{0}}.Fit(data)),
		"no labels":    second(classify.NeuralNetwork{}.Fit(data.WithoutLabels())),
		"no records":   second(classify.NeuralNetwork{}.Fit(data.Slice(0, 0))),
		"other bounds": second(c.Predict(other)),
		"other names":  second(classify.Test(c, names)),
		"test unlike":  second(classify.Test(c, other)),
	} {
		var config *param.Error
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
