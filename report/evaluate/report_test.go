package evaluate_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

func TestInceptionScoreByHand(t *testing.T) {
	data := line(t, []float32{1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9}, 0, 1, 0, 1,
		0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1)
	c := must(classify.DecisionTree{}.Fit(data))(t)
	s := must(evaluate.Inception(c, data.WithoutLabels(), data))(t)
	if math.Abs(s.Score.Synthetic-2) > 1e-12 || s.Deviation.Synthetic > 1e-7 ||
		s.Classifier != "decision tree" || s.Most != 2 {
		t.Errorf("both classes, clearly: %+v", s)
	}
	same := line(t, make([]float32, 20), make([]int32, 20)...)
	if s := must(evaluate.Inception(c, same, data))(t); math.Abs(s.Score.Synthetic-1) > 1e-12 ||
		s.Score.HeldOut < 1.99 {
		t.Errorf("one class alone: %+v", s)
	}
	var config *param.Error
	if _, err := evaluate.Inception(c, data.Slice(0, 9), data); !errors.As(err, &config) {
		t.Errorf("nine records: %v", err)
	}
	if _, err := evaluate.Inception(must(classify.SupportVectors{}.Fit(data))(t), data,
		data); !errors.As(err, &config) {
		t.Errorf("no probabilities: %v", err)
	}
}

func TestJensenShannonScore(t *testing.T) {
	real, held := blobs(t, 1, 800, 20), blobs(t, 2, 800, 20)
	m := classify.RandomForest{Trees: 30, Depth: 4}
	twin := must(evaluate.JensenShannon(m, blobs(t, 3, 800, 20), real, held))(t)
	if twin.Divergence.Synthetic > 0.02 || math.Abs(twin.ROC.Synthetic-0.5) > 0.1 ||
		twin.Classifier != "random forest" || twin.Records != 800 {
		t.Errorf("a twin: %+v", twin)
	}
	far := must(evaluate.JensenShannon(m, blobs(t, 3, 800, 1), real, held))(t)
	if far.Divergence.Synthetic < 0.1 || far.ROC.Synthetic < 0.95 || far.Divergence.HeldOut > 0.02 {
		t.Errorf("another distribution: %+v", far)
	}
	// A certain classifier has the largest possible divergence from ½.
	sure := must(evaluate.JensenShannon(classify.DecisionTree{},
		line(t, []float32{9, 9, 9, 9}, 0, 0, 0, 0), line(t, make([]float32, 4), 0, 0, 0, 0),
		line(t, make([]float32, 4), 0, 0, 0, 0)))(t)
	if math.Abs(sure.Divergence.Synthetic-0.311278) > 1e-4 {
		t.Errorf("certainty: %+v", sure)
	}
	var config *param.Error
	if _, err := evaluate.JensenShannon(m, real.Slice(0, 3), real, held); !errors.As(err, &config) {
		t.Errorf("three records: %v", err)
	}
}

func TestReportOfATable(t *testing.T) {
	real, test := mixedTable(t, 1, 1200, 0), mixedTable(t, 2, 1200, 0)
	r := must(evaluate.Review{Most: 1000}.Report(mixedTable(t, 3, 1200, 0), real, test))(t)
	if r.Utilities == nil || len(r.Utilities.Methods) != 11 || r.Utilities.Trained != 1000 ||
		r.Inception == nil {
		t.Fatalf("report %+v", r)
	}
	synthetic, own := r.Utilities.Mean()
	if math.Abs(synthetic.Accuracy-own.Accuracy) > 0.05 || synthetic.OnScores.ROC < 0.75 ||
		synthetic.OnHard.ROC > synthetic.OnScores.ROC {
		t.Errorf("a twin: %+v and %+v", synthetic, own)
	}
	text := r.String()
	for _, want := range []string{"random forest", "pair trends", "σ =", "ROC, hard",
		"Inception-style", "Jensen–Shannon"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Count(text, "[not private] ") != 5 {
		t.Errorf("marks in\n%s", text)
	}
	written := must(json.Marshal(r))(t)
	if !strings.Contains(string(written), `"private":false`) ||
		!strings.Contains(string(written), `"on_hard_predictions"`) {
		t.Errorf("written as %s", written)
	}
}

func TestReportWithoutLabels(t *testing.T) {
	r := must(evaluate.Review{}.Report(blobs(t, 3, 300, 8).WithoutLabels(),
		blobs(t, 1, 300, 8).WithoutLabels(), blobs(t, 2, 300, 8).WithoutLabels()))(t)
	if r.Utilities != nil || r.Inception != nil || r.Similarity.Rows != 300 {
		t.Errorf("%+v", r)
	}
}

func TestReportOfSets(t *testing.T) {
	rows := func(seed uint64) *records.SetTable { return sets(t, baskets(seed, 500, 20), 20) }
	r := must(evaluate.Review{}.Report(rows(1), rows(2), rows(3)))(t)
	if r.Similarity.Shapes.Synthetic < 0.9 {
		t.Errorf("%v", r)
	}
}

func TestReviewRefuses(t *testing.T) {
	data := blobs(t, 1, 100, 8)
	other := must(records.FromFlat(records.Interval(3, 0, 100).WithLabels("a", "b"), nil))(t)
	for name, err := range map[string]error{
		"other records": second(evaluate.Review{}.Report(other, data, data)),
		"most":          second(evaluate.Review{Most: -1}.Report(data, data, data)),
		"rows":          second(evaluate.Fidelity{Rows: -1}.Compare(data, data, data)),
		"bins":          second(evaluate.Fidelity{Bins: 2000}.Compare(data, data, data)),
		"way":           second(evaluate.Fidelity{Way: 9}.Compare(data, data, data)),
		"one record":    second(evaluate.Fidelity{}.Compare(data, data.Slice(0, 1), data)),
		"bandwidth": second(evaluate.Gaussians{Bandwidths: []float64{0}}.Discrepancy(data,
			data, data)),
		"suite most":    second(evaluate.Suite{Most: -1}.Compare(data, data, data)),
		"suite records": second(evaluate.Suite{}.Compare(data, data, other)),
	} {
		var config *param.Error
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
