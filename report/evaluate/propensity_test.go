package evaluate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

// shifted returns vectors whose first coordinate is moved by the given amount.
func shifted(t *testing.T, n int, seed uint64, by float32) *records.Table {
	t.Helper()
	flat := make([]float32, 0, 2*n)
	for i := range 2 * n {
		v := float32((uint64(i)*2654435761+seed*40503)%1000) / 2000
		if i%2 == 0 {
			v += by
		}
		flat = append(flat, v)
	}
	d, err := records.FromFlat(records.Interval(2, 0, 1), flat)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPropensity checks two cases. Records of one distribution cannot be distinguished. Records of
// two disjoint distributions can.
func TestPropensity(t *testing.T) {
	real, same, apart := shifted(t, 400, 1, 0), shifted(t, 400, 7, 0), shifted(t, 400, 7, 0.5)
	s, err := evaluate.Propensity{Seed: 1}.Compare(apart, real, same)
	if err != nil {
		t.Fatal(err)
	}
	if !(s.PMSE.Synthetic > 0.1 && s.PMSE.Synthetic <= 0.25) || !(s.PMSE.HeldOut < 0.02) {
		t.Errorf("pMSE %+v", s.PMSE)
	}
	if s.ROC.Synthetic < 0.99 || s.ROC.HeldOut > 0.7 || s.Records != 400 {
		t.Errorf("%+v", s)
	}
	if last := s.Curve[len(s.Curve)-1]; last.TruePositive != 1 || last.FalsePositive != 1 {
		t.Errorf("the curve ends at %+v", last)
	}
	text, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(text), "covered by no ε") ||
		!strings.Contains(s.String(), "not private") {
		t.Errorf("%s (%v)", text, err)
	}
	alone, err := evaluate.Propensity{Seed: 1}.Compare(apart, real, nil)
	if err != nil || alone.PMSE.HeldOut != 0 || alone.HeldCurve != nil {
		t.Errorf("without held-out records: %+v (%v)", alone, err)
	}
	if _, err := (evaluate.Propensity{Rows: -1}).Compare(apart, real, same); err == nil {
		t.Error("a negative number of rows is accepted")
	}
	if _, err := (evaluate.Propensity{}).Compare(apart, shifted(t, 3, 1, 0), same); err == nil {
		t.Error("three records are accepted")
	}
	if _, err := (evaluate.Propensity{}).Compare(apart, nil, same); err == nil {
		t.Error("nil records are accepted")
	}
}

// TestPropensityOfTargets: a table with a number to be predicted is told apart like the same table
// without one, whatever the column's scale.
func TestPropensityOfTargets(t *testing.T) {
	for name, target := range map[string]records.Column{
		"plain":       records.Target("y", 0, 1000),
		"logarithmic": records.Target("y", 0, 1000).Logarithmic(),
		"steps":       records.Target("y", 0, 1000).WithStep(5),
	} {
		s, err := records.NewSchema(records.Numeric("x", 0, 1), target)
		if err != nil {
			t.Fatal(err)
		}
		made := func(times int) records.Data {
			rows := make([][]any, 300)
			for i := range rows {
				rows[i] = []any{float64(i%7) / 7, float64(5 * (times * i % 101))}
			}
			f, err := records.FromValues(s, rows...)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		got, err := evaluate.Propensity{Seed: 1}.Compare(made(0), made(37), made(53))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.ROC.Synthetic < 0.95 || got.ROC.HeldOut > 0.7 {
			t.Errorf("%s: %+v", name, got.ROC)
		}
	}
}
