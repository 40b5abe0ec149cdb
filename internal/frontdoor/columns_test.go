package frontdoor_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// storedTables returns generated tables of the kind that businesses and machines store: line items
// as in TPC-H, and sensor readings with their times.
func storedTables(t testing.TB, n int) map[string]*records.Frame {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	day := func(y int, m time.Month, d int) time.Time {
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	build := func(s records.Schema, err error, row func() []any) *records.Frame {
		if err != nil {
			t.Fatal(err)
		}
		b := must(records.NewFrameBuilder(s))(t)
		for range n {
			if err := b.Append(row()...); err != nil {
				t.Fatal(err)
			}
		}
		f := b.Frame()
		if err := records.Check(f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	lo, hi := day(1992, 1, 1), day(1999, 12, 31)
	lines, err := records.NewSchema(
		records.Identifier("orderkey", records.Sequence(1)),
		records.Datetime("orderdate", lo, hi, 24*time.Hour).WithParts(records.MonthPart),
		records.Datetime("shipdate", lo, hi, 24*time.Hour),
		records.Integer("quantity", 1, 50), records.Numeric("price", 900, 105_000).Logarithmic(),
		records.Hashed("supplier", 64), records.Categorical("returnflag", "R", "A", "N"),
		records.Categorical("linestatus", "O", "F"), records.Ordinal("priority", "low", "high", "urgent"),
		records.Label("late", "no", "yes"))
	lines = lines.WithConstraints(records.Ascending("orderdate", "shipdate").Repaired(),
		records.Determines([]string{"supplier", "returnflag"}))
	from := day(2026, 1, 1)
	readings, err2 := records.NewSchema(
		records.Datetime("at", from, from.AddDate(1, 0, 0), time.Minute).
			WithParts(records.WeekdayPart|records.HourPart),
		records.Duration("idle", 0, 24*time.Hour, time.Second).Logarithmic().WithMissing(),
		records.Integer("serial", math.MaxInt>>3, math.MaxInt>>3+math.MaxInt>>23),
		records.Numeric("load", 0, 1),
		records.Flag("alarm", "off", "on"))
	readings = readings.WithConstraints(records.Within("load", 0, 0.5).Repaired())
	return map[string]*records.Frame{
		"line items": build(lines, err, func() []any {
			ordered := lo.AddDate(0, 0, rng.IntN(2400))
			flag := rng.IntN(7)
			return []any{"private", ordered, ordered.AddDate(0, 0, 1+rng.IntN(121)), 1 + rng.IntN(50),
				900 + 9000*rng.Float64(), fmt.Sprint("supplier ", flag), []string{"R", "A", "N"}[flag%3],
				[]string{"O", "F"}[rng.IntN(2)], []string{"low", "high", "urgent"}[rng.IntN(3)],
				[]string{"no", "yes"}[rng.IntN(2)]}
		}),
		"readings": build(readings, err2, func() []any {
			at := from.Add(time.Duration(rng.IntN(365*24*60)) * time.Minute)
			row := []any{at, time.Duration(rng.IntN(86400)) * time.Second, 1<<60 + rng.Int64N(1<<40),
				rng.Float64() / 2, at.Weekday() == time.Sunday}
			if rng.IntN(5) == 0 {
				row[1] = nil
			}
			return row
		}),
	}
}

// tablePlans returns one small plan of every system for tables.
func tablePlans(t testing.TB, s records.Schema, b accountant.Budget, n int) []privgen.Plan {
	t.Helper()
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 5, Optimizer: sgd.Adam(1e-2)}
	var list []privgen.Plan
	add := func(p privgen.Plan, err error) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	p1, err := privgen.DPGM(s, b).Cluster(kmeans.Config{K: 1}).
		Model(models.VAE{Hidden: []int{8}, Latent: 2}).Train(train).Plan()
	add(p1, err)
	p2, err := privgen.MERF(s, b).Embed(merf.Config{Features: 40}).
		Train(merf.GeneratorConfig{Steps: 20, Batch: 32, Latent: 2}).Plan()
	add(p2, err)
	return list
}

// rejects draws rows given an interval of one column and a level of another. It checks that the
// rows meet both conditions. It also checks that the stated acceptance of each condition, and of
// both together, agrees with rows drawn without conditions. The bound is six standard deviations of
// the difference, which gives about one false alarm in 10⁷ runs.
func rejects(t *testing.T, gen *privgen.Generator, number string, i int, level string, j int) {
	t.Helper()
	const pool = 1500
	drawn, err := gen.Sample(t.Context(), pool, privgen.Seed(5))
	if err != nil {
		t.Fatal(err)
	}
	all, _ := records.AsFrame(drawn)
	middle := slices.Sorted(slices.Values(all.Numbers(i)))[pool/2]
	name := all.Value(0, j)
	meets := func(f *records.Frame, row int) [3]bool {
		a, b := f.Number(row, i) <= middle, f.Value(row, j) == name
		return [3]bool{a, b, a && b}
	}
	var want [3]float64
	for row := range pool {
		for k, met := range meets(all, row) {
			if met {
				want[k] += 1. / pool
			}
		}
	}
	var done synth.Accepted
	drawn, err = gen.Sample(t.Context(), 400, privgen.Seed(6), privgen.Given(
		records.Within(number, nil, middle), records.Only(level, name)),
		synth.OnAccepted(func(a synth.Accepted) { done = a }))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := records.AsFrame(drawn)
	for row := range f.Len() {
		if met := meets(f, row); !met[2] {
			t.Fatalf("row %d: %s", row, f.AppendJSON(nil, row))
		}
	}
	each := done.Each[len(done.Each)-2:]
	for k, got := range [3]float64{each[0].Rate(), each[1].Rate(), done.Rate()} {
		p, tried := (want[k]+got)/2, float64(done.Tried)
		if far := 6 * math.Sqrt(p*(1-p)*(1./pool+1/tried)); math.Abs(got-want[k]) > far {
			t.Errorf("acceptance %d of %v is stated as %.3f, want %.3f ± %.3f", k, done.Each, got,
				want[k], far)
		}
	}
	if f.Len() != 400 || done.Kept < 400 {
		t.Errorf("%d rows, %+v", f.Len(), done)
	}
}

// TestTablesOfTime checks that every system fits tables with times, durations, hashed texts and
// identifiers. Its rows must obey the constraints of the table and given values, before and after
// the generator is saved and loaded.
func TestTablesOfTime(t *testing.T) {
	const n = 300
	for name, data := range storedTables(t, n) {
		s := data.Schema()
		for _, p := range tablePlans(t, s, accountant.Budget{Epsilon: 4, Delta: 1e-5}, n) {
			t.Run(name+"/"+p.System(), func(t *testing.T) {
				gen := must(p.Fit(t.Context(), data))(t)
				var file bytes.Buffer
				if err := gen.Save(&file); err != nil {
					t.Fatal(err)
				}
				back := must(privgen.Load(&file))(t)
				draw := []privgen.DrawOption{privgen.Seed(3)}
				classes, dates := gen.Schema().Classes() > 0, s.ColumnIndex("shipdate") > 0
				if classes { // dpgm draws no classes
					draw = append(draw, privgen.Given(records.Only("late", "yes")))
				}
				var text [2]string
				for i, g := range []*privgen.Generator{gen, back} {
					drawn := must(g.Sample(t.Context(), 500, draw...))(t)
					f, ok := records.AsFrame(drawn)
					if !ok || f.Len() != 500 || len(f.Schema().Constraints()) == 0 || records.Check(f) != nil {
						t.Fatalf("%d records, %v", drawn.Len(), records.Check(drawn))
					}
					for row := range f.Len() {
						text[i] += string(f.AppendJSON(nil, row))
						if classes && f.Value(row, 9) != "yes" || dates && (f.Value(row, 1) > f.Value(row, 2) ||
							f.Value(row, 0) != fmt.Sprint(row+1)) {
							t.Fatalf("row %d: %s", row, f.AppendJSON(nil, row))
						}
					}
				}
				if text[0] != text[1] {
					t.Error("the generator that was read back draws other records")
				}
				if dates {
					rejects(t, gen, "quantity", 3, "linestatus", 7)
				} else {
					rejects(t, gen, "load", 3, "alarm", 4)
				}
			})
		}
	}
}
