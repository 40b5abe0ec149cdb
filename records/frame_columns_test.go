package records_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestColumnsAreReadAsRows: a frame of columns, in each form, equals the frame that the same values
// make row by row.
func TestColumnsAreReadAsRows(t *testing.T) {
	s := must(records.NewSchema(
		records.Numeric("x", 0, 10).WithMissing(),
		records.Categorical("k", "a", "1.5", "b").WithMissing().WithAlias("b", "B"),
	))(t)
	nan := math.NaN()
	texts := []string{"1.5", " 1.5 ", "a", "B", "nothing", "", "2e400"}
	numbers := []float64{1.5, nan, 7, -1, math.Inf(1), 1.25, 99}
	codes := []int32{0, 3, -1, 1, 2, 7, 2}
	dictionary := []string{"1.5", " a", "nothing"}
	missing := []bool{false, true, false, false, false, false, true}
	fromCodes := make([]any, len(codes))
	for i, c := range codes {
		if c >= 0 && int(c) < len(dictionary) {
			fromCodes[i] = dictionary[c]
		}
	}
	anyOf := func(v []string) (out []any) {
		for _, x := range v {
			out = append(out, x)
		}
		return out
	}
	anyNumber := func(v []float64) (out []any) {
		for _, x := range v {
			out = append(out, x)
		}
		return out
	}
	forms := map[string]struct {
		values records.Values
		cells  []any
	}{
		"texts":   {records.Values{Texts: texts}, anyOf(texts)},
		"numbers": {records.Values{Numbers: numbers}, anyNumber(numbers)},
		"codes":   {records.Values{Codes: codes, Dictionary: dictionary}, fromCodes},
	}
	for name, f := range forms {
		for _, with := range []bool{false, true} {
			cells := slices.Clone(f.cells)
			if with {
				f.values.Missing = missing
				for i, m := range missing {
					if m {
						cells[i] = nil
					}
				}
			}
			rows := make([][]any, len(cells))
			for i, c := range cells {
				rows[i] = []any{c, c}
			}
			want := must(records.FromValues(s, rows...))(t)
			got := must(records.FromColumns(s, f.values, f.values))(t)
			if !sameFrame(got, want) {
				t.Errorf("%s: %s, want %s", name, cellsOf(got), cellsOf(want))
			}
			for i := range rows {
				for j := range 2 {
					if got.Stray(i, j) != want.Stray(i, j) {
						t.Errorf("%s: cell %d, %d is a stray in one of the two frames only", name, i, j)
					}
				}
			}
		}
	}
}

func TestColumnsThatDoNotFit(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("x", 0, 10), records.Flag("y", "n", "j")))(t)
	x, y := records.Values{Numbers: []float64{1}}, records.Values{Texts: []string{"j"}}
	for says, err := range map[string]error{
		"tables":    second(records.FromColumns(records.Binary(2), x, y)),
		"1 columns": second(records.FromColumns(s, x)),
		"0 forms":   second(records.FromColumns(s, x, records.Values{})),
		"2 forms": second(records.FromColumns(s, x, records.Values{Texts: y.Texts,
			Codes: []int32{1}})),
		"more than rows": second(records.FromColumns(s, x, records.Values{Texts: []string{"j", "n"}})),
		"Missing": second(records.FromColumns(s, x, records.Values{Texts: y.Texts,
			Missing: []bool{true, true}})),
	} {
		if wrong := new(param.Error); !errors.As(err, &wrong) || !strings.Contains(err.Error(), says) {
			t.Errorf("want a *param.Error about %s, got %v", says, err)
		}
	}
	if f := must(records.FromColumns(s, records.Values{}, records.Values{}))(t); f.Len() != 0 {
		t.Errorf("empty columns: got %d rows, want 0", f.Len())
	}
	kept := []float64{1, 2}
	f := must(records.FromColumns(s, records.Values{Numbers: kept},
		records.Values{Texts: []string{"j", "n"}}))(t)
	kept[0] = 9
	if f.Number(0, 0) != 1 {
		t.Error("the frame changes with the slice that it was made from")
	}
}

// TestSharedColumns: shared columns are not copied if no value has to be changed.
func TestSharedColumns(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("x", 0, 10).WithMissing()))(t)
	for _, c := range []struct {
		values records.Values
		kept   bool
	}{
		{records.Values{Numbers: []float64{1, 2}, Shared: true}, true},
		{records.Values{Numbers: []float64{1, 2}}, false},
		{records.Values{Numbers: []float64{1, 2}, Missing: []bool{false, true}, Shared: true}, false},
	} {
		f := must(records.FromColumns(s, c.values))(t)
		c.values.Numbers[0] = 7
		if (f.Number(0, 0) == 7) != c.kept || c.values.Numbers[1] != 2 {
			t.Errorf("%+v: got %v after the slice was changed", c.values, f.Number(0, 0))
		}
	}
}
