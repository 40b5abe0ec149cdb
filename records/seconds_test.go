package records

import (
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
)

// TestSecondsAreNumbers: which texts are lengths of time, and that others are none.
func TestSecondsAreNumbers(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "5.": 5 * time.Second, "1.5": 1500 *
		time.Millisecond, "-1.5": -1500 * time.Millisecond, "1.0000000019": time.Second + 1,
		"9999999999": mostSecondsOf(t), "1m": time.Minute} {
		if got, ok := parseSeconds(text); !ok || got != want {
			t.Errorf("%q: %v %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", ".", "/5", "5/", "5:", ":5", "1./", "1.:", "--1", " 1",
		"1 ",
		"x", "1,5", "+-1", "1-1", "!"} {
		if got, ok := parseSeconds(text); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// mostSecondsOf returns the longest length of time.
func mostSecondsOf(t *testing.T) time.Duration {
	t.Helper()
	return seconds(1<<62, 0)
}

// TestOffsetsOutsideTheItems: offsets of sets are in order and within the items.
func TestOffsetsOutsideTheItems(t *testing.T) {
	items := []uint32{1, 2, 3}
	for _, c := range []struct {
		offsets []int
		rows    int
		want    bool
	}{
		{[]int{0, 1, 3}, 2, true}, {[]int{0, 1, 4}, 2, false}, {[]int{0, 2, 1}, 2, false},
		{[]int{-1, 1, 3}, 2, false}, {[]int{1, 1, 2}, 2, true}, {[]int{0, 1, 3}, 3, false},
		{[]int{0}, 0, true}, {nil, 0, true},
	} {
		if got := offsetsFit(&device.Sparse{Offsets: c.offsets, Items: items}, c.rows); got != c.want {
			t.Errorf("%v for %d rows: %t, want %t", c.offsets, c.rows, got, c.want)
		}
	}
}
