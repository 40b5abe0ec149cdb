package privacytest

import (
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestSeedsAreWhatTheyWere: rows that are written as bytes and read again are unchanged. Sets of
// more than 255 items lose only the items after the 255th.
func TestSeedsAreWhatTheyWere(t *testing.T) {
	g := generator{tb: t, schema: records.Sets(500, 400), rng: newRand(1)}
	rows := []row{g.heavy(), g.randomSet(), {items: []uint32{7}}}
	got := g.decode(g.encode(rows))
	if len(got) != len(rows) {
		t.Fatalf("got %d rows, want %d", len(got), len(rows))
	}
	for i, r := range rows {
		if !slices.Equal(got[i].items, r.items[:min(len(r.items), 255)]) {
			t.Errorf("row %d: got %d items of %d, want the first 255", i, len(got[i].items), len(r.items))
		}
	}
}
