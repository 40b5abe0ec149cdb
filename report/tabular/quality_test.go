package tabular_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/seed7ba64551/privgen/report/tabular"
)

// golden holds the scores of SDMetrics; nil means NaN.
type golden struct {
	ColumnShapes     *float64 `json:"column_shapes"`
	ColumnPairTrends *float64 `json:"column_pair_trends"`
	AllPairs         *float64 `json:"all_pairs"`
	Score            *float64 `json:"score"`
	Shapes           []struct {
		Column, Metric string
		Score          *float64
	}
	Pairs []struct {
		Columns                             [2]string
		Metric                              string
		Score, Real, Synthetic, Association *float64
		Related                             bool
	}
}

// near reports an error unless a score equals the score of SDMetrics to within 1e-6.
func near(t *testing.T, what string, got float64, want *float64) {
	t.Helper()
	if want == nil {
		if !math.IsNaN(got) {
			t.Errorf("%s: got %v, want NaN as in SDMetrics", what, got)
		}
		return
	}
	if !(math.Abs(got-*want) <= 1e-6) {
		t.Errorf("%s: got %v, want %v as in SDMetrics", what, got, *want)
	}
}

// TestScoresAreThoseOfSDMetrics compares every score with version 0.32.0 of that library, on five
// pairs of exported tables. testdata/generate wrote the file of scores.
func TestScoresAreThoseOfSDMetrics(t *testing.T) {
	text, err := os.ReadFile("testdata/scores.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]golden{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	pairs, undefined := 0, 0
	for name, frames := range tables(t) {
		want, found := all[name]
		if !found {
			t.Fatalf("no scores of %s", name)
		}
		real, err := tabular.Read(frames[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		synthetic, err := tabular.Read(frames[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		q, err := tabular.Compare(real, synthetic, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" column shapes", q.ColumnShapes, want.ColumnShapes)
		near(t, name+" column pair trends", q.ColumnPairTrends, want.ColumnPairTrends)
		near(t, name+" all pairs", q.AllPairs, want.AllPairs)
		near(t, name+" score", q.Score, want.Score)
		if len(q.Shapes) != len(want.Shapes) || len(q.Pairs) != len(want.Pairs) {
			t.Fatalf("%s: %d shapes and %d pairs, want %d and %d", name, len(q.Shapes), len(q.Pairs),
				len(want.Shapes), len(want.Pairs))
		}
		for i, s := range q.Shapes {
			w := want.Shapes[i]
			if s.Column != w.Column || s.Metric != w.Metric {
				t.Errorf("%s: shape %d is %s of %s, want %s of %s", name, i, s.Metric, s.Column, w.Metric,
					w.Column)
			}
			near(t, name+" "+s.Column, s.Score, w.Score)
		}
		for i, p := range q.Pairs {
			w := want.Pairs[i]
			if p.Columns != w.Columns || p.Metric != w.Metric || p.Related != w.Related {
				t.Errorf("%s: pair %+v, want %+v", name, p, w)
			}
			what := name + " " + p.Columns[0] + " × " + p.Columns[1]
			near(t, what, p.Score, w.Score)
			near(t, what+" real", p.Real, w.Real)
			near(t, what+" synthetic", p.Synthetic, w.Synthetic)
			near(t, what+" association", p.Association, w.Association)
			pairs++
			if w.Score == nil {
				undefined++
			}
		}
	}
	if pairs < 100 || undefined == 0 {
		t.Errorf("only %d pairs, %d of them without a score", pairs, undefined)
	}
}
