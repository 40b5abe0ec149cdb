package evaluate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

type metricOracle struct {
	Distances struct {
		Real, Synthetic, Held          [][]float32
		Widths                         []float64
		Bins                           int
		MMD, Shapes, Trends, Variation []float64
	}
}

func TestDistancesAgainstSciPy(t *testing.T) {
	var oracle metricOracle
	readOracle(t, "testdata/metrics.json", &oracle)
	o := oracle.Distances
	table := func(rows [][]float32) *records.Table {
		return must(records.FromRows(records.Interval(3, 0, 1), rows))(t)
	}
	f := evaluate.Fidelity{Bins: o.Bins, Kernels: evaluate.Gaussians{Bandwidths: o.Widths}}
	s := must(f.Compare(table(o.Synthetic), table(o.Real), table(o.Held)))(t)
	for name, c := range map[string]struct {
		got  evaluate.Compared
		want []float64
		eps  float64
	}{
		"MMD": {s.MMD.Compared, o.MMD, 1e-6}, "shapes": {s.Shapes, o.Shapes, 1e-9},
		"trends": {s.Trends, o.Trends, 1e-6}, "variation": {s.Variation, o.Variation, 1e-9},
	} {
		if math.Abs(c.got.Synthetic-c.want[0]) > c.eps || math.Abs(c.got.HeldOut-c.want[1]) > c.eps {
			t.Errorf("%s: %+v, want %v", name, c.got, c.want)
		}
	}
	if s.Pairs != 3 || s.Groups != 1 || s.Way != 3 || s.Rows != 60 {
		t.Errorf("sizes %+v", s)
	}
}

// mixedTable draws a table with many kinds of columns; shift is added to all ages.
func mixedTable(t testing.TB, seed uint64, n int, shift float64) *records.Frame {
	schema := must(records.NewSchema(
		records.Numeric("age", 0, 100), records.Integer("gain", 0, 1000).WithMissing(),
		records.Ordinal("size", "s", "m", "l"),
		records.Categorical("work", "a", "b", "c").WithMissing(), records.Flag("sick", "no", "yes"),
		records.Label("income", "low", "high"),
	))(t)
	rng := rand.New(rand.NewPCG(seed, 0x6d6978))
	rows := make([][]any, n)
	for i := range rows {
		high := rng.Float64() < 0.3
		income, age := "low", 40+10*rng.NormFloat64()+shift
		if high {
			income, age = "high", age+15
		}
		work := []any{"a", "b", "c", nil}[rng.IntN(4)]
		if high && rng.Float64() < 0.5 {
			work = "c"
		}
		var gain any
		if rng.Float64() < 0.8 {
			gain = rng.IntN(500)
		}
		rows[i] = []any{age, gain, []any{"s", "m", "l"}[rng.IntN(3)], work,
			[]any{"no", "yes"}[rng.IntN(2)], income}
	}
	return must(records.FromValues(schema, rows...))(t)
}

func TestFidelityOfTables(t *testing.T) {
	real, held := mixedTable(t, 1, 2000, 0), mixedTable(t, 2, 2000, 0)
	same := must(evaluate.Fidelity{}.Compare(real, real, held))(t)
	if same.Shapes.Synthetic < 1-1e-12 || same.Trends.Synthetic < 1-1e-12 ||
		same.Variation.Synthetic != 0 || same.Columns[0].Column != "age" {
		t.Errorf("the real records themselves: %+v", same)
	}
	if s := same.Shapes.HeldOut; s < 0.96 || s == 1 {
		t.Errorf("shapes of held-out records %v", s)
	}
	far := must(evaluate.Fidelity{}.Compare(mixedTable(t, 3, 2000, 20), real, held))(t)
	if far.Columns[0].Synthetic > 0.6 || far.Columns[3].Synthetic < 0.95 ||
		far.Shapes.Synthetic >= same.Shapes.HeldOut {
		t.Errorf("ages moved by 20: %+v", far.Columns)
	}
	if far.Variation.Synthetic < 2*far.Variation.HeldOut ||
		far.MMD.Synthetic < 10*math.Abs(far.MMD.HeldOut) {
		t.Errorf("ages moved by 20: %+v", far)
	}
	if got := same.Columns[5]; got.Column != "income" || got.Measure != "total variation" {
		t.Errorf("the label: %+v", got)
	}
}

func TestMissingValuesCount(t *testing.T) {
	schema := must(records.NewSchema(records.Numeric("x", 0, 1).WithMissing()))(t)
	rows := func(missing int) *records.Frame {
		out := make([][]any, 100)
		for i := range out {
			out[i] = []any{float64(i%10) / 10}
			if i < missing {
				out[i] = []any{nil}
			}
		}
		return must(records.FromValues(schema, out...))(t)
	}
	s := must(evaluate.Fidelity{}.Compare(rows(50), rows(0), rows(0)))(t)
	if math.Abs(s.Shapes.Synthetic-0.5) > 1e-9 || s.Shapes.HeldOut != 1 {
		t.Errorf("half of the values are missing: %+v", s.Shapes)
	}
}

func TestMMDIsUnbiased(t *testing.T) {
	// Over 40 pairs of samples of one distribution the mean lies within 5 standard errors of 0.
	var sum, squares float64
	const n = 40
	for i := range n {
		d := must(evaluate.Gaussians{}.Discrepancy(blobs(t, uint64(3*i+1), 150, 20),
			blobs(t, uint64(3*i+2), 150, 20), blobs(t, uint64(3*i+3), 150, 20)))(t)
		sum += d.Synthetic
		squares += d.Synthetic * d.Synthetic
	}
	mean := sum / n
	if e := math.Sqrt((squares/n - mean*mean) / n); math.Abs(mean) > 5*e {
		t.Errorf("mean %v ± %v, want 0", mean, e)
	}
	far := must(evaluate.Gaussians{}.Discrepancy(blobs(t, 1, 150, 60), blobs(t, 2, 150, 20),
		blobs(t, 3, 150, 20)))(t)
	if far.Synthetic < 0.01 {
		t.Errorf("another distribution: %v, want at least 0.01", far)
	}
}
