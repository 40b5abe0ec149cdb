package evaluate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// nearest predicts the class from the first coordinate only.
type nearest struct{}

func (nearest) Scores(b device.Batch, dst []float64) {
	for i := range b.Rows {
		dst[2*i], dst[2*i+1] = 0.5, float64(b.Dense.Row(i)[0])
	}
}

// ruled is a user-defined method.
type ruled struct{}

func (ruled) Name() string { return "rule of thumb" }

func (ruled) Fit(d records.Data) (*classify.Classifier, error) {
	return classify.NewClassifier("rule of thumb", d.Schema(), nearest{}), nil
}

func TestSuiteTakesUserDefinedMethods(t *testing.T) {
	data := line(t, []float32{1, 9, 8, 2}, 0, 1, 1, 0)
	u := must(evaluate.Suite{Methods: []classify.Method{ruled{}, classify.DecisionTree{}}}.Compare(
		data, data, data))(t)
	if u.Methods[0].Synthetic.Model != "rule of thumb" || u.Methods[0].Synthetic.Accuracy() != 1 ||
		u.Methods[1].Real.Accuracy() != 1 {
		t.Errorf("%v", u)
	}
}

func TestUtility(t *testing.T) {
	train, test := blobs(t, 1, 1000, 8), blobs(t, 2, 500, 8)
	good := must(evaluate.CompareTraining(classify.NeuralNetwork{}, blobs(t, 3, 1000, 8),
		train, test))(t)
	gap := func(u evaluate.Utility) float64 { return u.Real.Accuracy() - u.Synthetic.Accuracy() }
	if g := gap(good); g < -0.02 || g > 0.02 {
		t.Errorf("training on another draw of the same distribution loses %v of accuracy", g)
	}
	flat, _ := blobs(t, 3, 1000, 8).Flat()
	noise := must(records.FromFlat(train.Schema(), flat, repeat(1, 1000)...))(t)
	bad := must(evaluate.CompareTraining(classify.NeuralNetwork{}, noise, train, test))(t)
	if gap(bad) < 0.5 {
		t.Errorf("training on useless labels loses only %v of accuracy", gap(bad))
	}
}

func TestAgreement(t *testing.T) {
	c := must(classify.NeuralNetwork{}.Fit(blobs(t, 1, 2000, 8)))(t)
	test := blobs(t, 2, 900, 8)
	pure := must(evaluate.LabelAgreement(c, test.Take(test.RowsByLabel()[1]).WithoutLabels()))(t)
	if pure.Class() != 1 || pure.Share() < 0.98 {
		t.Errorf("one class: %v", pure)
	}
	mixed := must(evaluate.LabelAgreement(c, test.WithoutLabels()))(t)
	if mixed.Share() > 0.5 {
		t.Errorf("three classes: %v", mixed)
	}
	if none := must(evaluate.LabelAgreement(c, test.Slice(0, 0)))(t); none.Share() != 0 {
		t.Errorf("no samples: %v", none)
	}
}

// TestEveryResultSaysThatItIsNotPrivate covers every exported result type.
func TestEveryResultSaysThatItIsNotPrivate(t *testing.T) {
	data := blobs(t, 1, 100, 8)
	c := must(classify.NeuralNetwork{}.Fit(data))(t)
	one := sets(t, [][]uint32{{0}, {1}}, 2)
	for _, r := range []fmt.Stringer{
		must(classify.Test(c, data))(t),
		must(evaluate.ClusteringAccuracy([]int32{0, 1}, []int32{1, 0}, 2))(t),
		must(evaluate.LabelAgreement(c, data))(t),
		must(evaluate.CompareTraining(classify.NeuralNetwork{}, data, data, data))(t),
		must(evaluate.Queries{}.Compare(one, one))(t),
		must(evaluate.Fidelity{}.Compare(data, data, data))(t),
		must(evaluate.Gaussians{}.Discrepancy(data, data, data))(t),
		must(evaluate.Suite{}.Compare(data, data, data))(t), must(evaluate.Inception(c, data, data))(t),
		must(evaluate.JensenShannon(classify.DecisionTree{}, data, data, data))(t),
		evaluate.Report{}, evaluate.Similarity{}, evaluate.Discrepancy{}, evaluate.Utilities{},
		evaluate.InceptionScore{}, evaluate.JensenShannonScore{},
		evaluate.Agreement{}, classify.Classification{}, evaluate.Clustering{}, evaluate.Utility{},
		evaluate.QueryErrors{},
	} {
		if text := r.String(); !strings.HasPrefix(text, "[not private] ") ||
			!strings.Contains(text, "no ε") {
			t.Errorf("%T prints %q", r, text)
		}
		text, err := json.Marshal(r)
		var back struct {
			Private *bool
			Caveat  string
			Kind    string
			Result  map[string]any
		}
		if err != nil || json.Unmarshal(text, &back) != nil || back.Private == nil || *back.Private ||
			back.Caveat == "" || back.Kind == "" || len(back.Result) == 0 {
			t.Errorf("%T is written as %s, %v", r, text, err)
		}
	}
}
