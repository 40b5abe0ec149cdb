package network

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestEndsOfARangeAreReached, which no sigmoid does by itself.
func TestEndsOfARangeAreReached(t *testing.T) {
	s := tableSampler{rand.New(rand.NewPCG(1, 1)), reach, 1 - 2*reach}
	for x, want := range map[float32]float32{0.004: 0, 0.995: 1, 0.5: 0.5} {
		if got := s.number(x, 0); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("%v becomes %v, not %v", x, got, want)
		}
	}
	if got := s.number(float32(math.NaN()), 0); got > 1 {
		t.Errorf("no number becomes %v", got)
	}
}

// TestRowsAreDrawn from what a network states: levels, flags and what is missing with the stated
// probabilities, to within 0.0104 in 100,000 rows (Hoeffding: 1e-9 each; the seed is fixed
// besides). Numbers stay, but for those that are missing.
func TestRowsAreDrawn(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("colour", "red", "green", "blue"),
		records.Numeric("x", 0, 1).WithMissing(), records.Flag("old", "no", "yes"),
		records.Label("y", "a", "b"), records.Numeric("z", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	stated := []float32{0.2, 0.5, 0.3, 0.5, 0.3, 0.8, 0.5}
	var flat []float32
	for range n {
		flat = append(flat, stated...)
	}
	Rows(rand.New(rand.NewPCG(6, 6)), TableBlocks(s), flat)
	want := []float64{0.2, 0.5, 0.3, 0.5 * 0.7, 0.3, 0.8, 0.5}
	mean := make([]float64, len(want))
	for lo := 0; lo < len(flat); lo += len(want) {
		row := flat[lo : lo+len(want)]
		for j, v := range row {
			mean[j] += float64(v) / n
		}
		levels := row[0] + row[1] + row[2]
		if levels != 1 || row[0]*row[1]+row[1]*row[2]+row[0]*row[2] != 0 {
			t.Fatalf("levels %v", row[:3])
		}
		if row[4] != 0 && (row[4] != 1 || row[3] != 0) || row[5] != 0 && row[5] != 1 {
			t.Fatalf("row %v", row)
		}
	}
	for j, m := range mean {
		if math.Abs(m-want[j]) > 0.0104 {
			t.Errorf("coordinate %d has mean %v, want %v", j, m, want[j])
		}
	}
}

// TestRowsOfOtherRecordsStay: what has no blocks is left as it is.
func TestRowsOfOtherRecordsStay(t *testing.T) {
	flat := []float32{0.25, 0.75}
	Rows(rand.New(rand.NewPCG(6, 6)), TableBlocks(records.Binary(2)), flat)
	if flat[0] != 0.25 || flat[1] != 0.75 {
		t.Errorf("%v", flat)
	}
}
