package marginal

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// TestLongHistogramsCountOnce checks that each row counts once in a table that fills several
// flushes of counts, and in a table that is added after another one. A third of the rows have the
// first code.
func TestLongHistogramsCountOnce(t *testing.T) {
	const n = 2*BatchRows*flushBatches + 3
	s, err := records.NewSchema(records.Flag("f", "no", "yes"), records.Label("y", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	three, err := records.FromValues(s, []any{"no", "a"}, []any{"yes", "b"}, []any{"yes", "b"})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i % 3)
	}
	counter := Survey{AttributesOf(s), accountant.AddOrRemoveOne}.Counter()
	first := 0
	for _, part := range []records.Data{three.Take(rows), three, three} {
		if err := counter.Add(t.Context(), part); err != nil {
			t.Fatal(err)
		}
		first += (part.Len() + 2) / 3
		for i, sum := range counter.Sums() {
			got := sum.Exact()
			if zero := float64(got[0]) * sum.Grid(); zero != float64(first) {
				t.Errorf("sum %d: %v rows have the first code, want %d", i, zero, first)
			}
		}
	}
}

// TestLaterRowsHaveTheirOwnWeights checks that persons count once if the first batch holds persons
// of one row and later ones hold persons of two.
func TestLaterRowsHaveTheirOwnWeights(t *testing.T) {
	s, err := records.NewSchema(records.Flag("f", "no", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	one, err := records.FromValues(s, []any{"yes"})
	if err != nil {
		t.Fatal(err)
	}
	var owners []int
	for len(owners) < BatchRows {
		owners = append(owners, len(owners))
	}
	for len(owners) < 3*BatchRows {
		owners = append(owners, len(owners), len(owners))
	}
	persons, err := records.GroupBy(one.Take(make([]int32, len(owners))), owners, 2)
	if err != nil {
		t.Fatal(err)
	}
	counter := Survey{AttributesOf(s.ByPerson(2)), accountant.AddOrRemoveOne}.Counter()
	if err := counter.Add(t.Context(), persons); err != nil {
		t.Fatal(err)
	}
	sum := counter.Sums()[0]
	if got := float64(sum.Exact()[1]) * sum.Grid(); got != 2*BatchRows {
		t.Errorf("%d persons count as %v", 2*BatchRows, got)
	}
}
