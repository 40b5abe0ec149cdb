package report_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/fidelity"
	"github.com/seed7ba64551/privgen/tables"
)

// dated returns a table with moments, lengths of time, hashed texts and an identifier.
func dated(t testing.TB, n int, shift time.Duration) *records.Frame {
	t.Helper()
	from := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := records.NewSchema(records.Identifier("customer", records.UUID()),
		records.Datetime("since", from, from.AddDate(4, 0, 0), 24*time.Hour),
		records.Duration("stay", 0, 10*time.Hour, time.Minute), records.Hashed("town", 5),
		records.Label("class", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := b.Append(nil, from.Add(shift+time.Duration(i*7)*24*time.Hour).Format(time.RFC3339),
			float64(i*60%36000), strings.Repeat("x", i%9), []string{"a", "b"}[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

// TestOtherKindsOfColumns checks that moments and lengths of time have axes in their own units, and
// that hashed texts are drawn by bucket. Identifiers say nothing about a record: they must be
// neither drawn nor in the released figures.
func TestOtherKindsOfColumns(t *testing.T) {
	real, fake := dated(t, 150, 0), dated(t, 120, 90*24*time.Hour)
	set := quick()
	set.Methods = []classify.Method{}
	r, err := report.Compute(t.Context(), report.Input{Real: real, Synthetic: fake,
		HeldOut: real.Slice(0, 70)}, set)
	if err != nil {
		t.Fatal(err)
	}
	if r.Classifiers != nil {
		t.Error("the report has classifiers, although none were asked for")
	}
	if len(r.Columns) != 4 || r.Columns[0].Name != "since" || len(r.Quality.Synthetic.Shapes) != 4 {
		t.Fatalf("%d columns, the first is %s", len(r.Columns), r.Columns[0].Name)
	}
	text := pageOf(t, r)
	if _, err := parse(text); err != nil {
		t.Error(err)
	}
	checkSchema(t, r)
	for _, want := range []string{"2020-01-01", "2024-01-01", "10h0m0s", "bucket-"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not on the page", want)
		}
	}
	if strings.Contains(text, "customer") {
		t.Error("identifiers are on the page")
	}
	budget := accountant.Budget{Epsilon: 1e7, Delta: 1e-6}
	p, err := fidelity.Config{Schema: real.Schema(), Budget: budget, Bins: 6,
		Methods: []string{"random forest"}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if p.Cells != 7+7+6+3+1 || p.Sensitivity != math.Sqrt(5) {
		t.Errorf("%d cells, sensitivity %v", p.Cells, p.Sensitivity)
	}
	out, err := fidelity.Release(t.Context(), p, real, records.DeclarePublic(fake),
		ledger.New(budget))
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Columns) != 4 || math.Abs(out.Records-150) > 0.1 {
		t.Errorf("%v records, columns %+v", out.Records, out.Columns)
	}
}

// TestNamesAndIdentifiersDoNotMatter: a column may have the name that labels have by default, and a
// rule may have fewer identifiers than the report compares records.
func TestNamesAndIdentifiersDoNotMatter(t *testing.T) {
	s, err := records.NewSchema(records.Identifier("seat", records.Pattern("#")),
		records.Categorical("class", "a", "b"), records.Numeric("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		if err := b.Append(nil, []string{"a", "b"}[i%2], float64(i)/60); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := tables.MST{Common: tables.Common{Schema: s,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	real := b.Frame()
	g, err := plan.Fit(t.Context(), real)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := report.Compute(t.Context(), report.Input{Real: real, Generator: g},
		quick()); err != nil {
		t.Error(err)
	}
	if r, err := report.Released(t.Context(), report.Input{Generator: g}, quick()); err != nil {
		t.Error(err)
	} else if len(r.Columns) != 2 {
		t.Errorf("columns %+v", r.Columns)
	}
}
