package tables

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// numbers returns a schema with three columns of numbers, and all rows of some of their values.
func numbers(t *testing.T) (records.Schema, [][]any) {
	t.Helper()
	s, err := records.NewSchema(records.Numeric("x", 0, 1).WithMissing(),
		records.Integer("n", 0, 9999), records.Numeric("l", 0, 500).WithStep(0.1).Logarithmic(),
		records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	border := 50.0 / marginal.MostCells // between two cells
	for _, x := range []any{nil, 0, 0.4001, 0.4041, 0.5, 1, 1e-40, border,
		math.Nextafter(border, 0), math.Nextafter(border, 1), math.Nextafter(1, 0)} {
		for _, n := range []any{0, 1, 4990, 5000, 5001, 9998, 9999} {
			for _, l := range []any{0, 20.1, 20.2, 500} {
				rows = append(rows, []any{x, n, l, "u"})
			}
		}
	}
	return s, rows
}

// divisions returns divisions with one to three columns, whose cells hold some of the rows' values.
func divisions(s records.Schema) (list []marginal.Division) {
	var codes [3]int
	for j, x := range []float64{0.4001, 0.5, math.Log1p(20.1) / math.Log1p(500)} {
		codes[j] = 1 + int(x*marginal.MostCells)
	}
	x, n, l := []int{codes[0]}, []int{codes[1], codes[1] + 1}, []int{codes[2]}
	return []marginal.Division{{x, nil, nil, nil}, {nil, n, nil, nil}, {nil, n, l, nil},
		{x, n, l, nil}, {append(x, codes[0]+20), n, l, nil}}
}

// TestSensitivityWithinCells compares every row with every other. The counts within cells change by
// at most the declared effect under both relations, and attain it.
func TestSensitivityWithinCells(t *testing.T) {
	const noise = 2.5
	s, rows := numbers(t)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, d := range divisions(s) {
			t.Run(fmt.Sprintf("%v/%v", r, d), func(t *testing.T) {
				m := methodFor(t, s, r)
				if !d.Valid(m.attributes) {
					t.Fatal("no plan has this division")
				}
				m.WithinPart = 0.04
				std := m.parts(d).Std(m.withinNoise(noise))
				var all [][]float64
				for _, row := range rows {
					v := ofRow(t, s, row, m.parts(d).Counter())
					for i := range v {
						v[i] /= std
					}
					all = append(all, v)
				}
				if worst, want := worstMove(r, all), 1/m.withinNoise(noise); worst > want*(1+1e-9) ||
					worst < want*(1-1e-9) {
					t.Errorf("the counts change by %v, want %v", worst, want)
				}
			})
		}
	}
}

// spiked returns rows in which a fifth of the values of two columns are equal.
func spiked(t *testing.T, n int) *records.Frame {
	t.Helper()
	s, _ := numbers(t)
	rng := rand.New(rand.NewPCG(7, 8))
	var rows [][]any
	for range n {
		x, whole, l := rng.Float64(), rng.IntN(10_000), 500*rng.Float64()
		if rng.IntN(5) == 0 {
			whole = 5001
		}
		if rng.IntN(5) == 0 {
			l = 20.1
		}
		rows = append(rows, []any{x * x * x * x, whole, l, "u"})
	}
	f, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func withinPlan(t *testing.T, s records.Schema, epsilon, part float64,
	r accountant.Relation) synth.PassProgram {
	t.Helper()
	p, err := AIM{Rounds: 2, Common: Common{Schema: s, Bins: 4, WithinPart: part,
		Budget: accountant.Budget{Epsilon: epsilon, Delta: 1e-5, Relation: r}}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFrequentValuesStay checks that a value of a fifth of the records keeps its fraction if its
// cell holds other values, and loses it without counts within cells. The fractions have noise far
// below the bounds; the seeds are fixed. A generator that was written and read has the same rows,
// and so has one that drew rows under conditions.
func TestFrequentValuesStay(t *testing.T) {
	data := spiked(t, 20_000)
	for _, part := range []float64{noWithin, 0.03} {
		p := withinPlan(t, data.Schema(), 3, part, accountant.AddOrRemoveOne)
		g, err := p.Fit(privacytest.Seeded(t, t.Context(), 1), data)
		if err != nil {
			t.Fatal(err)
		}
		f := drawn(t, g)
		whole, l, low := 0.0, 0.0, 0.0
		for i := range f.Len() {
			whole += is(f.Number(i, 1) == 5001) / float64(f.Len())
			l += is(math.Abs(f.Number(i, 2)-20.1) < 1e-6) / float64(f.Len())
			low += is(f.Number(i, 0) < 1.0/126/16) / float64(f.Len())
		}
		kept := whole > 0.18 && whole < 0.22 && l > 0.18 && l < 0.22 && low > 0.12 && low < 0.18
		if kept != (part > 0) {
			t.Errorf("part %g: fractions %.3f, %.3f and %.3f", part, whole, l, low)
		}
		if again := drawn(t, reread(t, g)); !equalFrames(f, again) {
			t.Errorf("part %g: a generator that was read has other rows", part)
		}
		for _, c := range data.Schema().Columns()[:3] { // without the frequent values
			_, hi := c.Bounds()
			half := synth.Given(records.Within(c.Name(), hi/2, nil))
			if _, err := g.Sample(t.Context(), 9, half); err != nil {
				t.Fatal(err)
			}
		}
		if !equalFrames(f, drawn(t, g)) {
			t.Errorf("part %g: draws under conditions change the generator", part)
		}
	}
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestNothingElseWithinCellsDependsOnARecord replays fits of few records with little noise, so that
// cells are divided.
func TestNothingElseWithinCellsDependsOnARecord(t *testing.T) {
	t.Parallel()
	data := spiked(t, 60)
	s := data.Schema()
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		p := withinPlan(t, s, 2000, 0.05, r)
		divided := 0
		visible := func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
			g, err := p.FitOn(ctx, l, d)
			if err != nil {
				return nil, err
			}
			divided += g.Model().(*model).division.Columns()
			rows, err := g.Sample(ctx, 50, synth.Seed(9))
			if err != nil {
				return nil, err
			}
			f, _ := records.AsFrame(rows)
			return []any{f.Numbers(0), f.Numbers(1), f.Numbers(2), g.Guarantee().Epsilon}, nil
		}
		for _, at := range []int32{0, 31, 59} {
			before, after := rowsFrom(0, at), rowsFrom(at+1, 60)
			neighbour := data.Take(slices.Concat(before, after))
			if r == accountant.ReplaceOne {
				neighbour = data.Take(slices.Concat(before, []int32{(at + 1) % 60}, after))
			}
			privacytest.Replay[records.Data]{Run: visible, Budget: p.Budget(), Data: data,
				Neighbour: neighbour, Seeds: 1}.Check(t)
		}
		if divided == 0 {
			t.Error("no cell was divided")
		}
	}
}

func rowsFrom(lo, hi int32) (list []int32) {
	for i := lo; i < hi; i++ {
		list = append(list, i)
	}
	return list
}

// drawn returns 5,000 valid rows of a generator.
func drawn(t *testing.T, g *synth.Generator) *records.Frame {
	t.Helper()
	rows, err := g.Sample(t.Context(), 5000, synth.Seed(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Check(rows); err != nil {
		t.Fatal(err)
	}
	f, _ := records.AsFrame(rows)
	return f
}

// reread writes a generator and reads it again.
func reread(t *testing.T, g *synth.Generator) *synth.Generator {
	t.Helper()
	var b bytes.Buffer
	if err := g.Save(&b); err != nil {
		t.Fatal(err)
	}
	again, err := Systems().Load(&b)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func equalFrames(a, b *records.Frame) bool {
	for j := range 3 {
		if !slices.EqualFunc(a.Numbers(j), b.Numbers(j),
			func(x, y float64) bool { return x == y || x != x && y != y }) {
			return false
		}
	}
	return true
}

// TestRoundValuesStay checks that frequent round values of a column with thousands of values in
// each cell keep their fractions: 0, which is not a bound, and a multiple of 10,000. The seed is
// fixed.
func TestRoundValuesStay(t *testing.T) {
	s, err := records.NewSchema(records.Integer("n", -100_000, 900_000), records.Flag("f", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	rows := make([][]any, 4000)
	for i := range rows {
		n := rng.IntN(1_000_001) - 100_000
		switch rng.IntN(5) {
		case 0:
			n = 0
		case 1:
			n = 350_000
		}
		rows[i] = []any{n, "a"}
	}
	f, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	p := withinPlan(t, s, 3, 0.05, accountant.AddOrRemoveOne)
	g, err := p.Fit(privacytest.Seeded(t, t.Context(), 1), f)
	if err != nil {
		t.Fatal(err)
	}
	counts, numbers := map[float64]float64{}, drawn(t, g).Numbers(0)
	for _, x := range numbers {
		counts[x] += 1 / float64(len(numbers))
	}
	for _, x := range []float64{0, 350_000} {
		if math.Abs(counts[x]-0.2) > 0.02 {
			t.Errorf("%v has the fraction %v, want .2", x, counts[x])
		}
	}
	if len(counts) < len(numbers)/2 {
		t.Errorf("%d numbers have %d values", len(numbers), len(counts))
	}
}
