package parquet_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

var pipelineRows = flag.Int("pipeline-rows", 3000, "rows that TestPipeline generates of each table")

const day = 24 * time.Hour

// lineItems returns line items like the line items of TPC-H: keys, dates, decimals, and flags that
// follow from dates.
func lineItems(t testing.TB) (records.Schema, [][]any) {
	from := time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(7, 0, 0)
	s := must(records.NewSchema(records.Identifier("l_id", records.UUID()),
		records.Integer("l_orderkey", 1, 1<<40), records.Integer("l_linenumber", 1, 7),
		records.Integer("l_quantity", 0, 1000), records.Numeric("l_extendedprice", 0, 1e6),
		records.Numeric("l_discount", 0, 1), records.Datetime("o_orderdate", from, to, day),
		records.Datetime("l_shipdate", from, to, day),
		records.Datetime("l_receiptdate", from, to, day).WithMissing(),
		records.Hashed("l_suppkey", 200), records.Categorical("l_returnflag", "R", "A", "N"),
		records.Categorical("l_linestatus", "O", "F"),
		records.Ordinal("o_orderpriority", "1", "2", "3", "4", "5")))(t)
	s = s.WithConstraints(
		records.Determines([]string{"l_returnflag", "l_linestatus"}, []string{"R", "F"},
			[]string{"A", "F"}),
		records.Ascending("o_orderdate", "l_shipdate", "l_receiptdate").Repaired(),
		records.Within("l_discount", nil, 0.1), records.Within("l_quantity", 1, 50),
		records.Unique("l_orderkey", "l_linenumber"))
	rng := rand.New(rand.NewPCG(1, 8))
	var rows [][]any
	for i := range 4000 {
		ordered := from.AddDate(0, 0, rng.IntN(2300))
		shipped := ordered.AddDate(0, 0, 1+rng.IntN(121))
		var received any
		if rng.IntN(20) > 0 {
			received = shipped.AddDate(0, 0, 1+rng.IntN(30)).Format(time.DateOnly)
		}
		quantity := 1 + rng.IntN(50)
		flag, status := "N", "O"
		if shipped.Before(from.AddDate(3, 6, 0)) {
			flag, status = []string{"R", "A"}[rng.IntN(2)], "F"
		}
		rows = append(rows, []any{nil, int64(i/4)<<30 + 1, 1 + i%4, quantity,
			float64(quantity) * (900 + float64(rng.IntN(100_000))/100), float64(rng.IntN(11)) / 100,
			ordered.Format(time.DateOnly), shipped.Format(time.DateOnly), received,
			fmt.Sprint("supplier ", rng.IntN(100)), flag, status, fmt.Sprint(1 + rng.IntN(5))})
	}
	return s, rows
}

// readings returns readings of sensors: a time in milliseconds, a duration, and values that may be
// missing.
func readings(t testing.TB) (records.Schema, [][]any) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := must(records.NewSchema(
		records.Datetime("at", from, from.AddDate(0, 1, 0), time.Millisecond),
		records.Categorical("sensor", "north", "south", "roof"), records.Flag("valid", "no", "yes"),
		records.Numeric("celsius", -50, 60).WithMissing(), records.Numeric("lowest", -50, 60),
		records.Numeric("highest", -50, 60), records.Duration("lag", 0, time.Minute, time.Microsecond),
		records.Integer("counter", 0, 1<<60)))(t)
	s = s.WithConstraints(records.Ascending("lowest", "highest").Repaired(),
		records.Within("celsius", -40, 45).OrMissing(),
		records.Combinations([]string{"sensor", "valid"}, []string{"north", "yes"},
			[]string{"south", "yes"}, []string{"roof", "yes"}, []string{"roof", "no"}))
	rng := rand.New(rand.NewPCG(2, 8))
	var rows [][]any
	for i := range 4000 {
		sensor := []string{"north", "south", "roof"}[rng.IntN(3)]
		mean := 10 + 8*rng.NormFloat64()
		var celsius any
		if rng.IntN(10) > 0 {
			celsius = mean
		}
		rows = append(rows, []any{from.Add(time.Duration(i) * 600 * time.Second).
			Format("2006-01-02T15:04:05.000Z"), sensor, sensor != "roof" || rng.IntN(9) > 0, celsius,
			mean - 3*rng.Float64(), mean + 3*rng.Float64(), rng.ExpFloat64(), int64(i) << 40})
	}
	return s, rows
}

// TestPipeline runs the whole way for two tables: wide candidates, a priced draft, a plan, a fit,
// and records that satisfy the constraints. The records must be unchanged after writing and reading
// as Parquet. -args -pipeline-rows 1000000 generates a million of each.
func TestPipeline(t *testing.T) {
	for name, made := range map[string]func(testing.TB) (records.Schema, [][]any){
		"line items": lineItems, "readings": readings} {
		t.Run(name, func(t *testing.T) {
			wide, rows := made(t)
			l := ledger.New(accountant.Budget{Epsilon: 12, Delta: 1e-5})
			data := must(records.FromValues(wide, rows...))(t)
			drafting := must(draft.Config{Candidates: wide,
				Budget: accountant.Budget{Epsilon: 2, Delta: 1e-6}}.Plan())(t)
			drafted := must(draft.Fit(t.Context(), drafting, data, l))(t)
			schema := drafted.Schema.WithConstraints(wide.Constraints()...)
			plan := must(tables.MST{Common: tables.Common{Schema: schema, Bins: 8,
				Budget: accountant.Budget{Epsilon: 9, Delta: 1e-6}}}.Plan())(t)
			gen := must(plan.FitOn(t.Context(), l, must(records.FromValues(schema, rows...))(t)))(t)
			throughParquet(t, gen, schema)
			if left := l.Guarantee(); left.Epsilon > 12 {
				t.Errorf("got ε = %v, want at most 12", left.Epsilon)
			}
		})
	}
}

// throughParquet streams records into a file and compares the records read back with the same
// stream.
func throughParquet(t *testing.T, gen *privgen.Generator, s records.Schema) {
	t.Helper()
	n, start := *pipelineRows, time.Now()
	path := filepath.Join(t.TempDir(), "t.parquet")
	file := must(os.Create(path))(t)
	out := bufio.NewWriter(file)
	var done synth.Accepted
	err := parquet.WriteFrames(out, s, gen.Stream(t.Context(), n, privgen.Seed(3),
		synth.OnAccepted(func(a synth.Accepted) { done = a })))
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	info := must(file.Stat())(t)
	t.Logf("%d rows, %d bytes, in %v; accepted %.3g: %v", n, info.Size(), time.Since(start),
		done.Rate(), done.Each)
	again := gen.Stream(t.Context(), n, privgen.Seed(3))
	unlimited := records.Limits{UnpackedBytes: 1 << 40, Values: 1 << 40}
	parts := parquet.Stream(file, info.Size(), s, 1024, unlimited)
	read := 0
	compare := map[int]*records.Frame{}
	for part, err := range again {
		f, _ := records.AsFrame(must(part, err)(t))
		compare[read] = f
		read += f.Len()
	}
	read = 0
	for back, err := range parts {
		back := must(back, err)(t)
		want := compare[read]
		if want == nil || want.Len() != back.Len() {
			t.Fatalf("a wrong number of rows, %d, was read from row %d on", back.Len(), read)
		}
		if err := records.Check(back); err != nil {
			t.Fatal(err)
		}
		for j, c := range s.Columns() {
			for i := range back.Len() {
				if c.Kind() != records.IdentifierColumn && back.Value(i, j) != want.Value(i, j) {
					t.Fatalf("row %d, %s: %q, want %q", read+i, c.Name(), back.Value(i, j), want.Value(i, j))
				}
			}
		}
		read += back.Len()
	}
	if read != n {
		t.Errorf("got %d rows, want %d", read, n)
	}
}
