package parquet_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// oddColumn returns a random column of datetimes, durations or whole numbers of 60 bits. The steps
// and the origin of times are not units of the format.
func oddColumn(rng *rand.Rand, name string) records.Column {
	steps := []time.Duration{1, 3, 1001, 7*time.Second + 3, time.Millisecond, 7 * time.Millisecond,
		time.Second, time.Minute, 36 * time.Hour, 24 * time.Hour, 48 * time.Hour}
	step := steps[rng.IntN(len(steps))]
	origins := []time.Duration{0, 1, time.Microsecond, 250 * time.Millisecond, 12 * time.Hour}
	origin := origins[rng.IntN(len(origins))]
	from := time.Date(1950+rng.IntN(80), 1, 1, 0, 0, 0, 0, time.UTC).Add(origin)
	wide := step * time.Duration(1+rng.IntN(1<<12))
	var c records.Column
	switch rng.IntN(3) {
	case 0:
		c = records.Datetime(name, from, from.Add(wide+step/2), step)
	case 1:
		c = records.Duration(name, -origin-wide/3, wide, step)
	default:
		lo := rng.Int64N(1<<61) - 1<<60
		c = records.Integer(name, int(lo), int(lo+1+rng.Int64N(1<<60)))
	}
	if rng.IntN(2) == 0 {
		c = c.WithMissing()
	}
	return c
}

// TestOddGridsComeBack checks that generated values are unchanged after writing and reading, for
// any grid of their columns.
func TestOddGridsComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for range 60 {
		var columns []records.Column
		for j := range 1 + rng.IntN(4) {
			columns = append(columns, oddColumn(rng, fmt.Sprint("c", j)))
		}
		s, err := records.NewSchema(columns...)
		if err != nil {
			t.Fatal(err)
		}
		flat := make([]float32, 20*s.Dim())
		for i := range flat {
			flat[i] = []float32{0, 1, rng.Float32(), rng.Float32()}[rng.IntN(4)]
		}
		f, err := records.DecodeFlat(s, flat)
		if err != nil {
			t.Fatal(err)
		}
		frame, _ := records.AsFrame(f)
		back := must(read(written(t, frame), s))(t)
		if got, want := cellsOf(back), cellsOf(frame); got != want || records.Check(back) != nil {
			t.Fatalf("%v:\n%s\nwant\n%s\n%v", s, got, want, records.Check(back))
		}
	}
}
