package released_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/connect/released"
	"github.com/seed7ba64551/privgen/records"
)

// TestCodesStandForValues: the values of codes, from the least number or the first level.
func TestCodesStandForValues(t *testing.T) {
	s, err := records.NewSchema(records.Integer("age", 3, 6), records.Numeric("half", 0, 1).
		WithStep(0.5), records.Numeric("real", -2, 2), records.Flag("flag", "n", "y"),
		records.Categorical("sex", "f", "m").WithMissing(),
		records.Categorical(strings.Repeat(",", 40), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		column string
		size   int
		want   []string // none if the codes are refused
	}{
		{"age", 4, []string{"3", "4", "5", "6"}}, {"age", 2, nil}, {"age", 5, nil}, {"half", 2, nil},
		{"half", 3, nil}, {"real", 2, []string{"-2..0", "0..2.0000000000000004"}}, {"real", 0, nil},
		{"flag", 2, []string{"n", "y"}}, {"flag", 1, nil}, {"flag", 3, nil},
		{"sex", 2, []string{"f", "m"}}, {"sex", 3, []string{"f", "m", ""}}, {"sex", 4, nil},
	} {
		text := fmt.Sprintf(`{"columns":[%q],"counts":[%s],"shape":[%d],"std":1}`, c.column,
			strings.TrimSuffix(strings.Repeat("1,", c.size), ","), c.size)
		got, err := released.Read(strings.NewReader(text), s)
		if (err == nil) != (c.want != nil) || err == nil && !reflect.DeepEqual(got[0].Values[0],
			c.want) {
			t.Errorf("%d codes of %s: got %+v %v, want %q", c.size, c.column, got, err, c.want)
		}
	}
	text := fmt.Sprintf("%q,count,std\na,1,2\n", strings.Repeat(",", 40)) // one column of many commas
	if got, err := released.Read(strings.NewReader(text), s); err != nil || len(got[0].Counts) != 1 {
		t.Errorf("a name of commas: %+v %v", got, err)
	}
}

// TestExactNumbers: the number of equally weighted records, the fits, and the number of records
// that
// the most precise table counts.
func TestExactNumbers(t *testing.T) {
	gen := generator(schema(t))
	m, err := released.Match(t.Context(), gen, []released.Table{{Columns: []string{"age"},
		Values: [][]string{{"0..4", "5..9"}}, Counts: []float64{1e6, 1e6}, Std: 1e7}},
		released.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	chance := math.Sqrt(2/math.Pi) * 1e7 / 2e6
	if fit := m.Fits[0]; math.Abs(m.Effective-1) > 1e-4 || fit.Before > 0.01 || fit.After > 0.01 ||
		math.Abs(fit.Noise-chance) > 1e-9 {
		t.Errorf("a table that says nothing new: %v effective, %+v", m.Effective, fit)
	}
	// A precise table whose records are all of half the pool: this half is effective.
	m, err = released.Match(t.Context(), gen, []released.Table{{Columns: []string{"age"},
		Values: [][]string{{"0..4", "5..9"}}, Counts: []float64{1e6, 0}, Std: 0.01},
		{Columns: []string{"sex", "income"}, Values: [][]string{{"f"}, {"100"}}, Counts: []float64{0},
			Std: 1e-3}}, released.Settings{Pool: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	if fit := m.Fits[0]; math.Abs(m.Effective-0.5) > 0.02 || math.Abs(fit.Before-0.5) > 0.02 ||
		fit.After > 0.001 {
		t.Errorf("half of the pool: %v effective, %+v", m.Effective, fit)
	}
	// A count that was not released is no part of the number of records, though no record has it.
	m, err = released.Match(t.Context(), gen, []released.Table{{Columns: []string{"income"},
		Values: [][]string{{"0..99", "99.5", "99.7", "99..99.2"}}, Counts: []float64{1000, math.NaN(),
			0, 0},
		Std: 1}}, released.Settings{Pool: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 * math.Sqrt(2/math.Pi) / 1000 / 2; math.Abs(m.Fits[0].Noise-want) > 1e-9 {
		t.Errorf("the number of records: %+v, want a noise of %v", m.Fits[0], want)
	}
}

// TestTablesOfManyCells: the cells of a table, and the levels of all tables, at most as many as are
// allowed.
func TestTablesOfManyCells(t *testing.T) {
	gen := generator(schema(t))
	values := numbers(1<<22/3 + 1)
	if _, err := released.Match(t.Context(), gen, []released.Table{{Columns: []string{"sex",
		"income"},
		Values: [][]string{{"f", "m", ""}, values}, Counts: make([]float64, 3*len(values)), Std: 1}},
		released.Settings{Pool: 10, Records: 5}); err == nil || !strings.Contains(err.Error(),
		"cells") {
		t.Error("a table of many cells:", err)
	}
	for levels, good := range map[int]bool{1<<14 - 1: true, 1 << 14: false} { // and the missing value
		s, err := records.NewSchema(records.Categorical("x", numbers(levels)...))
		if err != nil {
			t.Fatal(err)
		}
		file := "[" + strings.TrimSuffix(strings.Repeat(
			`{"columns":["x"],"values":[["1"]],"counts":[1],"std":1},`, 256), ",") + "]"
		if _, err := released.Read(strings.NewReader(file), s); (err == nil) != good {
			t.Errorf("256 tables of %d levels: %v", levels, err)
		}
	}
}

// numbers returns n different numbers.
func numbers(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return list
}
