package records_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestStepsAreExactDecimals: every value of a grid is the float64 nearest to its decimal, and is
// read back from its coordinate and from CSV.
func TestStepsAreExactDecimals(t *testing.T) {
	for _, c := range []struct {
		column records.Column
		steps  int
		digits int // decimals of the texts, at most
		last   string
	}{
		{records.Numeric("x", 0, 1).WithStep(0.01), 100, 2, "1"},
		{records.Numeric("x", -0.3, 0.4).WithStep(0.1).WithMissing(), 7, 1, "0.4"},
		{records.Numeric("x", 0.005, 99.995).WithStep(0.01), 9999, 3, "99.995"},
		{records.Target("x", -2, 3).WithStep(0.25), 20, 2, "3"},
		{records.Numeric("x", 0, 25000).WithStep(0.01), 2_500_000, 2, "25000"},
		{records.Numeric("x", 0, 500).WithStep(0.01).Logarithmic(), 50_000, 2, "500"},
		{records.Numeric("x", -1e6, 2e6).WithStep(1000), 3000, 0, "2000000"},
		{records.Numeric("x", 1e-7, 9e-7).WithStep(2e-7), 4, 7, "9e-07"},
	} {
		s := must(records.NewSchema(c.column, records.Flag("f", "n", "y")))(t)
		lo, hi := c.column.Bounds()
		b := must(records.NewFrameBuilder(s))(t)
		rng := rand.New(rand.NewPCG(1, 2))
		var want []string
		for i := range 500 {
			k := rng.IntN(c.steps + 1)
			switch i {
			case 0:
				k = 0
			case 1:
				k = c.steps
			}
			v := lo + float64(k)*c.column.Step() + (rng.Float64()-0.5)*0.9*c.column.Step()
			if err := b.Append(v, "n"); err != nil {
				t.Fatal(err)
			}
			exact := must(strconv.ParseFloat(strconv.FormatFloat(lo+float64(k)*c.column.Step(), 'f',
				c.digits, 64), 64))(t)
			want = append(want, fmt.Sprint(exact))
		}
		f := b.Frame()
		flat := make([]float32, 0, f.Len()*s.Dim())
		for i := range f.Len() {
			if got := fmt.Sprint(f.Number(i, 0)); got != want[i] {
				t.Fatalf("%v: row %d is %s, want %s", c.column, i, got, want[i])
			}
			flat = append(flat, f.Row(nil, i)...)
		}
		if got := f.Value(1, 0); got != c.last || f.Number(1, 0) != hi {
			t.Errorf("%v: the last value is %s, want %s", c.column, got, c.last)
		}
		back := must(records.DecodeFlat(s, flat))(t)
		csv := records.CSV{Header: true}
		if !sameFrame(throughCSV(t, csv, f), throughCSV(t, csv, back)) {
			t.Errorf("%v: coordinates and CSV do not give the values back", c.column)
		}
	}
}

// TestStraysFromTheGridAreCounted: values off the grid become the nearest value, and Check counts
// them. A number that was stored as float32 belongs to the grid.
func TestStraysFromTheGridAreCounted(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("rate", 0, 1).WithStep(0.01)))(t)
	b := must(records.NewFrameBuilder(s))(t)
	for _, v := range []any{0.03, 0.034, "0.996", 1.7, float32(0.29), math.NaN(), "0.290"} {
		if err := b.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	f := b.Frame()
	if got, want := cellsOf(f), "0.03;0.03;1;1;0.29;0;0.29"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := f.Strays(0); got != 4 {
		t.Errorf("got %d strays, want 4: off the grid twice, out of bounds, and no number", got)
	}
	if err := records.Check(f); err == nil || !strings.Contains(err.Error(), "steps") {
		t.Errorf("got %v, want an error about steps", err)
	}
}

// TestValuesOfTheGridAreNoStrays: a number is no stray if it is the float64 or the float32 nearest
// to a decimal of the grid, whatever the bounds. Numbers between two decimals are strays.
func TestValuesOfTheGridAreNoStrays(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		hi       float64
		decimals int
	}{{1, 2}, {1, 3}, {1, 6}, {500, 2}, {1e8, 2}, {1e10, 2}, {1e12, 1}} {
		step := math.Pow10(-c.decimals)
		s := must(records.NewSchema(records.Numeric("x", 0, c.hi).WithStep(step)))(t)
		b := must(records.NewFrameBuilder(s))(t)
		const n = 1000
		add := func(v float64) {
			if err := b.Append(v); err != nil {
				t.Fatal(err)
			}
		}
		for range n {
			text := strconv.FormatFloat(c.hi*rng.Float64(), 'f', c.decimals, 64)
			exact := must(strconv.ParseFloat(text, 64))(t)
			add(exact)
			add(min(float64(float32(exact)), c.hi))
		}
		f := b.Frame()
		if got := f.Strays(0); got != 0 {
			t.Errorf("by %g up to %g: got %d strays among %d values of the grid, want 0", step, c.hi, got,
				2*n)
		}
		between := must(records.NewFrameBuilder(s))(t)
		for k := range n {
			place := math.Floor(c.hi/step*rng.Float64()) + 0.25 + 0.5*float64(k%2)
			if err := between.Append(place * step); err != nil {
				t.Fatal(err)
			}
		}
		if got := between.Frame().Strays(0); got != n {
			t.Errorf("by %g up to %g: got %d strays between values of the grid, want %d", step, c.hi, got, n)
		}
	}
}

// TestNegativeZeroIsZero: no cell is -0, even if the lower bound is.
func TestNegativeZeroIsZero(t *testing.T) {
	low := math.Copysign(0, -1)
	for _, c := range []records.Column{records.Numeric("x", low, 1),
		records.Numeric("x", low, 1).WithStep(0.5)} {
		s := must(records.NewSchema(c))(t)
		b := must(records.NewFrameBuilder(s))(t)
		for _, v := range []any{"none", low, "-0", -1} {
			if err := b.Append(v); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := cellsOf(b.Frame()), "0;0;0;0"; got != want {
			t.Errorf("%v: got %s, want %s", c, got, want)
		}
	}
}

// TestStepsThatCannotBe: a step without a grid is refused, in Go and in JSON, and the error states
// its value.
func TestStepsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		column records.Column
		want   string
	}{
		{records.Numeric("a", 0, 1).WithStep(0), "WithStep: 0:"},
		{records.Numeric("a", 0, 1).WithStep(-0.1), "WithStep: -0.1:"},
		{records.Numeric("a", 0, 1).WithStep(math.NaN()), "WithStep: NaN:"},
		{records.Numeric("a", 0, 1).WithStep(math.Inf(1)), "WithStep: +Inf:"},
		{records.Numeric("a", 0, 1).WithStep(0.3), "WithStep: 0.3:"},
		{records.Numeric("a", 0, 1).WithStep(2), "WithStep: 2:"},
		{records.Numeric("a", 0, 1.005).WithStep(0.01), "WithStep: 0.01:"},
		{records.Numeric("a", 0, 1).WithStep(1.0 / 3), "WithStep: 0.333"},
		{records.Numeric("a", 0, 1e9).WithStep(1e-9), "WithStep: 1e-09:"},
		{records.Numeric("a", 0, 1).WithStep(1e-300), "WithStep: 1e-300:"},
		{records.Numeric("a", 0, 1e300).WithStep(1e299), "WithStep: 1e+299:"},
		{records.Numeric("a", -1e-300, 1).WithStep(0.5), "WithStep: 0.5:"},
		{records.Integer("a", 0, 9).WithStep(3), "WithStep: 3:"},
		{records.Flag("a", "n", "y").WithStep(1), "WithStep: 1:"},
	} {
		_, err := records.NewSchema(c.column)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.column, err, c.want)
		}
	}
	for text, want := range map[string]string{
		`{"name": "a", "type": "numeric", "lo": 0, "hi": 1, "step": 0}`:   "WithStep: 0",
		`{"name": "a", "type": "numeric", "lo": 0, "hi": 1, "step": 0.7}`: "WithStep: 0.7",
		`{"name": "a", "type": "integer", "lo": 0, "hi": 9, "step": 1}`:   "a step is allowed",
		`{"name": "a", "type": "flag", "levels": ["n", "y"], "step": 1}`:  "a step is allowed",
		`{"name": "a", "type": "numeric", "lo": 0, "hi": 1, "step": "x"}`: "step",
	} {
		var s records.Schema
		err := json.Unmarshal([]byte(`{"kind": "table", "columns": [`+text+`]}`), &s)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// TestStepsAreSaved: a schema's JSON keeps the step, and two schemas with different steps differ.
func TestStepsAreSaved(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("a", 0, 1).WithStep(0.05), records.Integer("n", 0, 3),
		records.Numeric("b", 0, 1)))(t)
	text := must(json.Marshal(s))(t)
	var back records.Schema
	if err := json.Unmarshal(text, &back); err != nil || !back.Equal(s) {
		t.Fatalf("%s is not read back: %v", text, err)
	}
	for i, want := range []float64{0.05, 1, 0} {
		if got := back.Columns()[i].Step(); got != want {
			t.Errorf("column %d has the step %g, want %g", i, got, want)
		}
	}
	other := must(records.NewSchema(records.Numeric("a", 0, 1).WithStep(0.1),
		records.Integer("n", 0, 3), records.Numeric("b", 0, 1)))(t)
	if s.Equal(other) || !strings.Contains(records.Difference(s, other), "by 0.05: want") {
		t.Errorf("steps do not tell schemas apart: %s", records.Difference(s, other))
	}
}

// TestBoundsOnTheGridStay: WithBounds keeps bounds that are values of the grid, and moves others
// outward.
func TestBoundsOnTheGridStay(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	c := records.Numeric("a", 0, 1e11).WithStep(0.01)
	value := func(units int64) float64 { return float64(units) / 100 }
	for range 1000 {
		a, b := rng.Int64N(5e12), 5e12+rng.Int64N(5e12)
		if lo, hi := c.WithBounds(value(a), value(b)).Bounds(); lo != value(a) || hi != value(b) {
			t.Fatalf("[%v, %v] becomes [%v, %v]", value(a), value(b), lo, hi)
		}
		lo, hi := c.WithBounds(value(a)+0.004, value(b)-0.004).Bounds()
		if lo != value(a) || hi != value(b) {
			t.Fatalf("[%v, %v] becomes [%v, %v]", value(a)+0.004, value(b)-0.004, lo, hi)
		}
	}
}

// TestNewBoundsStayOnTheGrid: WithBounds moves bounds outward to the grid, within the old bounds.
func TestNewBoundsStayOnTheGrid(t *testing.T) {
	c := records.Numeric("a", 0, 1).WithStep(0.05)
	for _, b := range [][4]float64{{0.12, 0.31, 0.1, 0.35}, {-3, 0.05, 0, 0.05},
		{0.41, 0.42, 0.4, 0.45}, {0.5, 0.5, 0.5, 0.55}, {1, 1, 0.95, 1}, {0.15, 0.3, 0.15, 0.3}} {
		n := c.WithBounds(b[0], b[1])
		if lo, hi := n.Bounds(); lo != b[2] || hi != b[3] {
			t.Errorf("[%g, %g] becomes [%v, %v], want [%g, %g]", b[0], b[1], lo, hi, b[2], b[3])
		}
		must(records.NewSchema(n))(t)
	}
}
