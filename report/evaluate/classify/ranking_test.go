package classify_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

type curveOracle struct {
	Curves []struct {
		Scores   []float64
		Positive []bool
		ROC, PRC float64
	}
}

func TestAreasUnderCurves(t *testing.T) {
	var oracle curveOracle
	readOracle(t, "testdata/curves.json", &oracle)
	for i, c := range oracle.Curves {
		r := must(classify.Rank(c.Scores, c.Positive))(t)
		if math.Abs(r.ROC-c.ROC) > 1e-12 || math.Abs(r.PRC-c.PRC) > 1e-12 {
			t.Errorf("curve %d: %+v, want %v and %v", i, r, c.ROC, c.PRC)
		}
	}
	// One of two pairs is in order, one is tied.
	if r := must(classify.Rank([]float64{3, 2, 2}, []bool{true, true, false}))(t); r.ROC != 0.75 ||
		math.Abs(r.PRC-(0.5+0.5*2/3)) > 1e-15 {
		t.Errorf("by hand: %+v", r)
	}
	if r := must(classify.Rank([]float64{1, 2}, []bool{true, true}))(t); r.ROC != 0.5 || r.PRC != 1 {
		t.Errorf("one kind only: %+v", r)
	}
	var config *param.Error
	for _, err := range []error{
		second(classify.Rank([]float64{1}, nil)),
		second(classify.Rank([]float64{math.NaN()}, []bool{true})),
	} {
		if !errors.As(err, &config) {
			t.Errorf("error %v", err)
		}
	}
}

func TestHardRankingByHand(t *testing.T) {
	c := classify.Classification{Classes: []string{"no", "yes"}, Confusion: [][]int{{50, 10}, {5, 15}}}
	var scores []float64
	var positive []bool
	for label, row := range c.Confusion {
		for named, n := range row {
			for range n {
				scores, positive = append(scores, float64(named)), append(positive, label == 1)
			}
		}
	}
	want := must(classify.Rank(scores, positive))(t)
	got := c.Hard()
	if math.Abs(got.ROC-want.ROC) > 1e-12 || math.Abs(got.PRC-want.PRC) > 1e-12 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if balanced := (50.0/60 + 15.0/20) / 2; math.Abs(got.ROC-balanced) > 1e-12 {
		t.Errorf("ROC %v, want the balanced accuracy %v", got.ROC, balanced)
	}
	if w := c.WeightedF1(); math.Abs(w-(60*2*50/115.0+20*2*15/45.0)/80) > 1e-12 {
		t.Errorf("weighted F1 %v", w)
	}
}
