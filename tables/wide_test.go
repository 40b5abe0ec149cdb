package tables

import (
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
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
