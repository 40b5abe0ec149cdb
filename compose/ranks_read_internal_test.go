package compose

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// TestManyColumnsCostLittle checks that a schema of many columns, which may come from a small file,
// takes memory in proportion to its columns: when it is read, and for the mapping back.
func TestManyColumnsCostLittle(t *testing.T) {
	const n = 5000
	columns := make([]records.Column, n)
	for i := range columns {
		columns[i] = records.Numeric(strconv.Itoa(i), 0, 1)
	}
	s := must(records.NewSchema(columns...))(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := len(attributesOf(s, 2)); got != n {
		t.Fatalf("%d columns are mapped, want %d", got, n)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / n; got > 10_000 { // 3,000 in fact
		t.Errorf("%d bytes for each of %d columns", got, n)
	}
	for columns, want := range map[int]int{1: 1 << 16, 256: 1 << 16, 8192: 1 << 11,
		1 << 20: ranksOfBack} {
		if got := drawnFor(columns); got != want {
			t.Errorf("the mapping back of %d columns is of %d records, want %d", columns, got, want)
		}
	}
}

// failing is data that has failed.
type failing struct{ records.Data }

func (failing) Failed() bool { return true }

// TestRanksDependOnTheRecordOnly reads each record alone, in ranges and in a random order beside
// other records. Its coordinates must have the same bits, and levels and missing numbers must be
// those of the record itself.
func TestRanksDependOnTheRecordOnly(t *testing.T) {
	s := must(records.NewSchema(records.Flag("f", "no", "yes"),
		records.Numeric("x", 0, 1).WithMissing(), records.Integer("n", 0, 999),
		records.Label("class", "u", "v")))(t)
	ranks := must(RankSchema(s))(t)
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]any, 300)
	for i := range rows {
		rows[i] = []any{i%3 == 0, rng.Float64(), rng.IntN(1000), []string{"u", "v"}[i%2]}
		if i%5 == 0 {
			rows[i][1] = nil
		}
		rows[i][0] = []string{"no", "yes"}[rng.IntN(2)]
	}
	data := must(records.FromValues(s, rows...))(t)
	attributes := attributesOf(s, 20)
	parts := make([][]float64, len(attributes))
	for j, a := range attributes {
		for range a.Codes {
			parts[j] = append(parts[j], rng.Float64())
		}
	}
	d := ranked{data, ranks, columnsOf(attributes, parts)}
	order := rng.Perm(len(rows))
	shuffled := make([]int32, len(rows))
	for i, row := range order {
		shuffled[i] = int32(row)
	}
	var alone, whole, mixed, plain device.Batch
	d.Range(0, len(rows), &whole)
	d.Gather(shuffled, &mixed)
	data.Range(0, len(rows), &plain)
	changed := 0
	for i, row := range order {
		d.Range(row, row+1, &alone)
		want := alone.Dense.Row(0)
		if !slices.Equal(want, mixed.Dense.Row(i)) || !slices.Equal(want, whole.Dense.Row(row)) ||
			alone.Labels[0] != mixed.Labels[i] {
			t.Fatalf("record %d is %v alone, and %v and %v beside others", row, want,
				mixed.Dense.Row(i), whole.Dense.Row(row))
		}
		real := plain.Dense.Row(row)
		for place, v := range real {
			isNumber := place == d.columns[0].place || place == d.columns[1].place
			gone := place == d.columns[0].place && real[place+1] > 0.5
			if (!isNumber || gone) && want[place] != v {
				t.Fatalf("record %d: coordinate %d became %v, was %v", row, place, want[place], v)
			}
			if want[place] != v {
				changed++
			}
		}
	}
	if changed < len(rows) {
		t.Errorf("only %d numbers were mapped", changed)
	}
	if records.Failed(d) || !records.Failed(ranked{failing{data}, ranks, nil}) {
		t.Error("a failure of the records is not reported")
	}
}
