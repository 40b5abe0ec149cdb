package network

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestEndsOfARangeAreReached: numbers near an end of their range become the end, which a sigmoid
// cannot reach.
func TestEndsOfARangeAreReached(t *testing.T) {
	s := tableSampler{rand.New(rand.NewPCG(1, 1))}
	for x, want := range map[float32]float32{0.004: 0, 0.995: 1, 0.5: 0.5} {
		if got := s.number(x, 0); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("%v becomes %v, want %v", x, got, want)
		}
	}
	if got := s.number(float32(math.NaN()), 0); got > 1 {
		t.Errorf("NaN becomes %v, want at most 1", got)
	}
}

// TestRowsAreDrawn: levels, flags and missing values are drawn with the probabilities in a
// network's output. Frequencies in 100,000 rows may differ by 0.0104, which gives a false-alarm
// rate of 1e-9 for each (Hoeffding); the seed is also fixed. Numbers that are not missing do not
// change.
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
			t.Fatalf("levels %v, want a single 1 among zeros", row[:3])
		}
		if row[4] != 0 && (row[4] != 1 || row[3] != 0) || row[5] != 0 && row[5] != 1 {
			t.Fatalf("row %v has an invalid missing indicator, missing number or flag", row)
		}
	}
	for j, m := range mean {
		if math.Abs(m-want[j]) > 0.0104 {
			t.Errorf("coordinate %d has mean %v, want %v", j, m, want[j])
		}
	}
}

// TestRowsOfOtherRecordsStay: records without blocks do not change.
func TestRowsOfOtherRecordsStay(t *testing.T) {
	flat := []float32{0.25, 0.75}
	Rows(rand.New(rand.NewPCG(6, 6)), TableBlocks(records.Binary(2)), flat)
	if flat[0] != 0.25 || flat[1] != 0.75 {
		t.Errorf("Rows changes [0.25 0.75] to %v", flat)
	}
}

// TestLevelsOfLargeNumbers checks the number of values of whole numbers whose bounds are rounded as
// float64, and that a network's output of 0.5 is drawn as an end only if there are two values.
func TestLevelsOfLargeNumbers(t *testing.T) {
	for _, c := range []struct {
		lo, hi string
		want   int
	}{
		{"0", "1", 2}, {"-3", "3", 7},
		{"9007199254740991", "9007199254740993", 3}, // 2^53-1 to 2^53+1, which is 2^53 as float64
		{"-9007199254740993", "-9007199254740991", 3},
		{"1152921504606847076", "1152921504606857076", 10001}, // 2^60+100 to 2^60+10100
		{"-2305843009213693952", "2305843009213693951", 0},
		{"0", "1048575", 1 << 20}, {"0", "1048576", 0},
	} {
		var s records.Schema
		text := fmt.Sprintf(`{"kind":"table","columns":[{"name":"n","type":"integer","lo":%s,"hi":%s},
			{"name":"f","type":"flag","levels":["a","b"]}]}`, c.lo, c.hi)
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		blocks := TableBlocks(s)
		if blocks[0].Levels != c.want || blocks[1].Levels != 2 {
			t.Errorf("%s to %s: %d values, want %d", c.lo, c.hi, blocks[0].Levels, c.want)
		}
		row := []float32{0.5, 1}
		Rows(rand.New(rand.NewPCG(1, 2)), blocks, row)
		if c.want > 2 && math.Abs(float64(row[0])-0.5) > 1e-6 {
			t.Errorf("%s to %s: the middle of the range becomes %v", c.lo, c.hi, row[0])
		}
	}
}
