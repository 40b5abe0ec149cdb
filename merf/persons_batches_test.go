package merf

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// TestRowsOfLaterBatchesHaveTheirOwnShares counts persons exactly. The persons of the first batch
// have one row each; those of the second have three, which together must count as one. All persons
// are read in order, and the later ones also as a sample, for dense and for listed features.
func TestRowsOfLaterBatchesHaveTheirOwnShares(t *testing.T) {
	flags, err := records.NewSchema(records.Flag("a", "no", "yes"), records.Flag("b", "no", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		schema records.Schema
		kernel rff.EmbeddingKernel
	}{
		"dense":        {records.Interval(2, 0, 1), rff.RBF{Dim: 2, Bandwidth: 1}},
		"listed":       {flags, rff.Pairs{}},
		"dense listed": {records.Interval(2, 0, 1), rff.Pairs{Knots: 2}},
	} {
		p, err := Config{Schema: c.schema.ByPerson(3), Kernel: c.kernel,
			Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}.Plan()
		if err != nil {
			t.Fatal(name, err)
		}
		counter := p.work.newCounter(device.CPU())
		first, later := counter.workers[0].size(), 20
		persons := laterPersons(t, c.schema, first, later)
		check := func(how string, err error, want int) {
			t.Helper()
			if err != nil {
				t.Fatal(name, err)
			}
			sum := counter.Sums()[1]
			if got := float64(sum.Exact()[0]) * sum.Grid(); got != float64(want) {
				t.Errorf("%s, %s: %d persons count as %v", name, how, want, got)
			}
			counter.reset()
		}
		check("in order", counter.Add(t.Context(), persons), first+later)
		var sample []int32
		for i := range later {
			sample = append(sample, int32(first+i))
		}
		check("a sample", counter.addSample(t.Context(), persons, sample), later)
	}
}

// laterPersons returns persons of one row, followed by persons of three.
func laterPersons(t *testing.T, s records.Schema, first, later int) *records.Persons {
	t.Helper()
	var keys []int
	for i := range first + later {
		keys = append(keys, i)
		if i >= first {
			keys = append(keys, i, i)
		}
	}
	flat := make([]float32, s.Dim()*len(keys))
	var rows records.Data
	var err error
	if s.Kind() == records.MixedTable {
		rows, err = records.DecodeFlat(s, flat)
	} else {
		rows, err = records.FromFlat(s, flat)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := records.GroupBy(rows, keys, 3)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
