package sets

import (
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestPinsOfLimits: what is refused at the ends of what a model, a count and its noise may be.
func TestPinsOfLimits(t *testing.T) {
	for answer, want := range map[float64]int64{1e15: 1e15, 1e15 - 1: 1e15 - 1, 1e16: 1e15,
		-1e300: -1e15, 2.5: 3, -0.5: -1, math.Inf(1): 1e15} {
		if got := whole(answer); got != want {
			t.Errorf("%v is rounded to %d, want %d", answer, got, want)
		}
	}
	m := mwem{MWEM{Common: Common{Schema: records.Sets(9, 3)}}}
	for noise, want := range map[float64]bool{1: true, 0x1p-24: true, 0x1p-25: false, 0x1p43: true,
		math.Nextafter(0x1p43, math.Inf(1)): false, 0: false, math.NaN(): false} {
		if got := m.drawable(noise); got != want {
			t.Errorf("noise of %v is drawable: %t, want %t", noise, got, want)
		}
	}
	for _, c := range []struct {
		items, domain int
		values        int64
		limited       bool
	}{{65, 1 << 17, 1000, true}, {64, 1 << 17, 1000, false}, {65, 1 << 16, 1000, true},
		{65, mostInDomain / 4 / 65, 1000, false}, {65, mostInDomain/4/65 + 1, 1000, true},
		{65, 1 << 17, 65 << 14, false}, {65, 1 << 17, 65<<14 - 1, true}, {65, 1 << 17, 0, false}} {
		_, err := readDomain(modelHeader{Schema: records.Sets(300, 100), MaxItems: c.items,
			Domain: c.domain}, nil, records.Limits{Values: c.values})
		if err == nil || strings.Contains(err.Error(), "eight times") != c.limited {
			t.Errorf("%d sets of %d items with room for %d values: %v", c.domain, c.items, c.values, err)
		}
	}
}
