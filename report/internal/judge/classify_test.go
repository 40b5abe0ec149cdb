package judge_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// bars draws 8×8 images of two classes: a bright row and a bright column.
func bars(t *testing.T, seed uint64, n int) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	flat, labels := make([]float32, 64*n), make([]int32, n)
	for i := range labels {
		labels[i] = rng.Int32N(2)
		step, at := 1, 8*rng.IntN(8)
		if labels[i] == 1 {
			step, at = 8, rng.IntN(8)
		}
		for j := range 8 {
			flat[64*i+at+step*j] = 0.7 + 0.3*rng.Float32()
		}
	}
	table, err := records.FromFlat(records.Image(8, 8).WithLabels("row", "column"), flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestMethodsLearn trains every method twice: both must predict the same classes, nearly all of
// them right. A single linear function cannot tell the two classes apart.
func TestMethodsLearn(t *testing.T) {
	train, test := bars(t, 1, 1000), bars(t, 2, 300)
	network := judge.NeuralNetwork{Epochs: 10, Batch: 50, Seed: 3}
	for _, c := range []struct {
		by          judge.Method
		least, most float64
	}{
		{judge.LogisticRegression{}, 0.3, 0.8},
		{judge.NeuralNetwork{Hidden: []int{64}, Epochs: 30, Seed: 3}, 0.95, 1},
		{judge.Convolutional{Convolutions: []models.Convolution{{Maps: 8, Size: 3, Stride: 2,
			Pad: 1}}, Hidden: []int{16}, Training: network}, 0.97, 1},
	} {
		var named [2][]int32
		for i := range named {
			by, err := c.by.Fit(train)
			if err != nil {
				t.Fatal(err)
			}
			if named[i], err = by.Predict(test); err != nil {
				t.Fatal(err)
			}
		}
		right := 0.0
		for i, class := range named[0] {
			if int(class) == test.Label(i) {
				right++
			}
		}
		if share := right / float64(test.Len()); share < c.least || share > c.most {
			t.Errorf("%s predicts %v of the classes", c.by.Name(), share)
		}
		if !slices.Equal(named[0], named[1]) {
			t.Errorf("%s depends on more than its seed", c.by.Name())
		}
	}
}

func TestMethodsRefuse(t *testing.T) {
	data := bars(t, 1, 10)
	by, err := judge.LogisticRegression{}.Fit(data)
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := records.FromFlat(records.Interval(3, 0, 1).WithLabels("row", "column"), nil)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(m judge.Method, d records.Data) error {
		_, err := m.Fit(d)
		return err
	}
	_, other := by.Predict(vectors)
	for name, err := range map[string]error{
		"epochs":     fit(judge.NeuralNetwork{Epochs: -1}, data),
		"width":      fit(judge.NeuralNetwork{Hidden: []int{0}}, data),
		"iterations": fit(judge.LogisticRegression{Iterations: -1}, data),
		"maps": fit(judge.Convolutional{Convolutions: []models.Convolution{{Maps: -1}}},
			data),
		"no labels":  fit(judge.LogisticRegression{}, data.WithoutLabels()),
		"no records": fit(judge.LogisticRegression{}, data.Slice(0, 0)),
		"vectors":    fit(judge.Convolutional{}, vectors),
		"dimension":  other,
	} {
		var config *param.Error
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
