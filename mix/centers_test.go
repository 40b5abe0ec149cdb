package mix

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestCentersAreMeans checks that mean records are clamped to the bounds of the records but not
// rounded, even if the records' coordinates are 0 or 1.
func TestCentersAreMeans(t *testing.T) {
	for _, s := range []records.Schema{records.Binary(3), records.BinaryImage(1, 3),
		records.Image(1, 3), records.Interval(3, 0, 1)} {
		c := Config{Schema: s, ClipNorm: 2}
		const count, label, std = 1000, 0.5, 1
		got := c.center([]float64{0.3 * count, -20, 1.2 * count, count * label}, label, std)
		for j, want := range []float64{0.3, 0, 1} {
			if math.Abs(float64(got[j])-want) > 1e-6 {
				t.Errorf("%v: got mean %v, want 0.3, 0 and 1", s, got)
			}
		}
	}
}
