package classify_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// oracleSet is one generated data set and scikit-learn's results on it.
type oracleSet struct {
	Classes     int
	Train       [][]float32
	TrainLabels []int32 `json:"train_labels"`
	Test        [][]float32
	TestLabels  []int32 `json:"test_labels"`
	Methods     map[string]oracleScore
}

type oracleScore struct {
	Accuracy   float64
	WeightedF1 float64 `json:"weighted_f1"`
	MacroF1    float64 `json:"macro_f1"`
	ROC        float64
	PRC        float64
	HardROC    float64 `json:"hard_roc"`
	HardPRC    float64 `json:"hard_prc"`
	Spread     float64
	Named      []int32
}

func readOracle(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func (s oracleSet) tables(t testing.TB) (train, test *records.Table) {
	names := []string{"a", "b", "c", "d"}[:s.Classes]
	schema := records.Interval(len(s.Train[0]), 0, 1).WithLabels(names...)
	return must(records.FromRows(schema, s.Train, s.TrainLabels...))(t),
		must(records.FromRows(schema, s.Test, s.TestLabels...))(t)
}

// TestAgainstScikitLearn trains every method on records that scikit-learn was trained on. Methods
// without random draws must agree closely, and other methods in the mean over seeds. Trees may
// differ if several splits are equally good.
func TestAgainstScikitLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("this test takes about fifty trainings")
	}
	exact, close, loose := 0.0015, 0.012, 0.03
	var oracle struct{ Sets []oracleSet }
	readOracle(t, "testdata/classifiers.json", &oracle)
	for _, c := range []struct {
		name   string
		method func(seed uint64) classify.Method
		seeds  int
		within float64
	}{
		{"Gaussian naive Bayes", func(uint64) classify.Method {
			return classify.GaussianBayes{}
		}, 1, exact},
		{"Bernoulli naive Bayes", func(uint64) classify.Method {
			return classify.BernoulliBayes{}
		}, 1, exact},
		{"linear discriminant analysis", func(uint64) classify.Method {
			return classify.DiscriminantAnalysis{Shrinkage: .01}
		}, 1, exact},
		{"linear support vector machine", func(uint64) classify.Method {
			return classify.SupportVectors{}
		}, 1, exact},
		{"decision tree", func(uint64) classify.Method { return classify.DecisionTree{} }, 1, loose},
		{"decision tree, depth 4", func(uint64) classify.Method {
			return classify.DecisionTree{Depth: 4}
		}, 1, close},
		{"AdaBoost", func(uint64) classify.Method { return classify.AdaBoost{} }, 1, exact},
		{"bagging", func(s uint64) classify.Method { return classify.Bagging{Seed: s} }, 5, loose},
		{"random forest", func(s uint64) classify.Method {
			return classify.RandomForest{Seed: s}
		}, 3, close},
		{"gradient boosting", func(uint64) classify.Method {
			return classify.GradientBoosting{}
		}, 1, close},
		{"gradient boosting, half", func(s uint64) classify.Method {
			return classify.GradientBoosting{Part: .5, Seed: s}
		}, 3, loose},
		{"logistic regression", func(uint64) classify.Method {
			return classify.LogisticRegression{C: 1e4}
		}, 1, exact},
		{"logistic regression", func(uint64) classify.Method {
			return classify.NeuralNetwork{Epochs: 300}
		}, 1, loose},
		{"multilayer perceptron [100]", func(s uint64) classify.Method {
			return classify.NeuralNetwork{Hidden: []int{100}, Epochs: 100, Seed: s}
		}, 2, loose},
	} {
		for _, s := range oracle.Sets {
			train, test := s.tables(t)
			want, got := s.Methods[c.name], oracleScore{}
			n := float64(c.seeds)
			for seed := range c.seeds {
				m := c.method(uint64(seed))
				r := tested(t, m, train, test).Measures()
				got.Accuracy += r.Accuracy / n
				got.WeightedF1 += r.WeightedF1 / n
				got.MacroF1 += r.MacroF1 / n
				got.ROC += r.OnScores.ROC / n
				got.PRC += r.OnScores.PRC / n
				got.HardROC += r.OnHard.ROC / n
				got.HardPRC += r.OnHard.PRC / n
			}
			for i, pair := range [][2]float64{{got.Accuracy, want.Accuracy},
				{got.WeightedF1, want.WeightedF1}, {got.MacroF1, want.MacroF1},
				{got.ROC, want.ROC}, {got.HardROC, want.HardROC}, {got.PRC, want.PRC},
				{got.HardPRC, want.HardPRC}} {
				allowed := c.within
				if i >= 5 { // the average precision varies twice as much
					allowed *= 2
				}
				if !(math.Abs(pair[0]-pair[1]) <= allowed) {
					t.Errorf("%s, %d classes, measure %d: got %.4f, want scikit-learn's %.4f", c.name, s.Classes,
						i,
						pair[0], pair[1])
				}
			}
			t.Logf("%-32s %d classes: accuracy %.4f, want %.4f ± %.4f; ROC %.4f, want %.4f", c.name,
				s.Classes, got.Accuracy, want.Accuracy, want.Spread, got.ROC, want.ROC)
		}
	}
}

// TestGaussianBayesNamesTheSameClasses compares the predicted class of every record.
func TestGaussianBayesNamesTheSameClasses(t *testing.T) {
	var oracle struct{ Sets []oracleSet }
	readOracle(t, "testdata/classifiers.json", &oracle)
	for _, s := range oracle.Sets {
		train, test := s.tables(t)
		named := must(must(classify.GaussianBayes{}.Fit(train))(t).Predict(test))(t)
		wrong := 0
		for i, l := range s.Methods["Gaussian naive Bayes"].Named {
			if named[i] != l {
				wrong++
			}
		}
		if wrong > 1 {
			t.Errorf("%d classes: %d records get another class than from scikit-learn", s.Classes, wrong)
		}
	}
}
