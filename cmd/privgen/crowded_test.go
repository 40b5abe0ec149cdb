package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestCrowdedColumns compares the remarks with those expected for columns of known distributions,
// all with bounds 0 and 10,000. Of 2,000 numbers with a fixed seed, so there are no false alarms.
func TestCrowdedColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shapes := []struct {
		name string
		draw func() float64
		want string
	}{
		{"even", func() float64 { return 10_000 * rng.Float64() }, ""},
		{"bell", func() float64 { return 5000 + 1000*rng.NormFloat64() }, ""},
		{"amounts", func() float64 { return 10 * math.Exp(rng.NormFloat64()) }, `"logarithmic"`},
		{"wide", func() float64 { return 1000 * math.Exp(rng.NormFloat64()) }, ""},
		{"zeros", func() float64 { return 10_000 * max(0, rng.Float64()-0.95) }, ""},
		{"year", func() float64 { return 2000 + 20*rng.Float64() }, "narrower bounds"},
	}
	var columns []records.Column
	var values []records.Values
	for _, shape := range shapes {
		list := make([]float64, 2000)
		for i := range list {
			list[i] = shape.draw()
		}
		columns = append(columns, records.Numeric(shape.name, 0, 10_000))
		values = append(values, records.Values{Numbers: list})
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := records.FromColumns(s, values...)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(crowded(f), "; ")
	for _, shape := range shapes {
		if strings.Contains(got, "column "+shape.name) != (shape.want != "") {
			t.Errorf("column %s: remarks %q, want %q", shape.name, got, shape.want)
		}
	}
	want := `% of column amounts (want "logarithmic" or narrower bounds)`
	if !strings.Contains(got, want) {
		t.Errorf("remarks %q, want %q", got, want)
	}
	if few := f.Slice(0, 50); len(crowded(few)) > 0 {
		t.Errorf("remarks about 50 records: %v", crowded(few))
	}
}

// TestFitNotesCrowdedColumns checks that fit prints the remark, and says that it is not private.
func TestFitNotesCrowdedColumns(t *testing.T) {
	s := fitted(t)
	schema := s.read("schema.json")
	wide := strings.Replace(schema, `"hi": 90`, `"hi": 90000`, 1)
	if wide == schema {
		t.Fatalf("no column of ages in %s", schema)
	}
	s.write("wide.json", wide)
	s.run(0, "plan", "wide.json", "--records", "400", "--system", "mst", "-o", "wide-plan.json")
	e := s.run(0, "fit", "wide-plan.json", "people.csv", "--ledger", "wide", "--new-ledger", "-o",
		"wide.gen")
	if got := plain(e.stderr); !strings.Contains(got, "hundredth of their bounds") ||
		!strings.Contains(got, "do not publish") {
		t.Errorf("got the note %q", got)
	}
}
