package tables

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestWideColumnsTakeMemoryByRow checks that a column of 60,000 buckets is counted and drawn
// without a dense vector for each row. Such vectors would take 983 MB for each batch.
func TestWideColumnsTakeMemoryByRow(t *testing.T) {
	schema, err := records.NewSchema(records.Hashed("h", 60_000), records.Flag("f", "no", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 8192
	codes, flags := make([]int32, n), make([]int32, n)
	for i := range codes {
		codes[i], flags[i] = int32(i%7), int32(i%2)
	}
	data, err := records.FromColumns(schema, records.Values{Codes: codes,
		Dictionary: []string{"a", "b", "c", "d", "e", "f", "g"}},
		records.Values{Codes: flags, Dictionary: []string{"no", "yes"}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := AIM{Common: Common{Schema: schema, Nominal: n,
		Budget: accountant.Budget{Epsilon: 100, Delta: 1e-6}}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	generator, err := plan.Fit(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := generator.Sample(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	took := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d MB allocated in total", took>>20)
	if took > 100<<20 {
		t.Errorf("%d MB allocated, want at most 100", took>>20)
	}
	f, _ := records.AsFrame(drawn)
	same := 0
	want := map[string]bool{}
	for i := range 14 {
		want[data.Value(i, 0)] = true
	}
	for i := range f.Len() {
		if want[f.Value(i, 0)] {
			same++
		}
	}
	if same < n*9/10 {
		t.Errorf("%d of %d drawn values are among the frequent values, want at least 90 %%", same, n)
	}
}

// TestWideTablesAreFittedNear fits 70 columns in which each depends on the one before. Few records
// make the method local, and a column of drawn rows must still depend on the one before, and on the
// one before that, as often as after fits of the whole model (.847 and .776, and .5 by chance).
func TestWideTablesAreFittedNear(t *testing.T) {
	const n, columns = 4000, 70
	rng := rand.New(rand.NewPCG(3, 4))
	list, values := make([]records.Column, columns), make([]records.Values, columns)
	codes := make([][]int32, columns)
	for j := range list {
		list[j] = records.Flag(fmt.Sprint("c", j), "no", "yes")
		codes[j] = make([]int32, n)
		for i := range codes[j] {
			if codes[j][i] = int32(rng.IntN(2)); j > 0 && rng.IntN(20) > 0 {
				codes[j][i] = codes[j-1][i]
			}
		}
		values[j] = records.Values{Codes: codes[j], Dictionary: []string{"no", "yes"}}
	}
	schema, err := records.NewSchema(list...)
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.FromColumns(schema, values...)
	if err != nil {
		t.Fatal(err)
	}
	c := AIM{Common: Common{Schema: schema, Nominal: n, Seed: 1,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}}
	if m, err := c.method(); err != nil || !m.local {
		t.Fatalf("local is %v (%v)", m.local, err)
	}
	plan, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	generator, err := plan.Fit(privacytest.Seeded(t, t.Context(), 5), data)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := generator.Sample(t.Context(), n, synth.Seed(2))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := records.AsFrame(drawn)
	for apart, want := range map[int]float64{1: 0.8, 2: 0.72} {
		same := 0
		for j := apart; j < columns; j++ {
			for i := range n {
				if f.Level(i, j) == f.Level(i, j-apart) {
					same++
				}
			}
		}
		share := float64(same) / float64(n*(columns-apart))
		t.Logf("%d apart: %.3f of values are the same", apart, share)
		if share < want {
			t.Errorf("%d apart: %.3f of values are the same, want %.2f", apart, share, want)
		}
	}
}
