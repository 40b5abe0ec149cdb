package risk

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestDistanceByHand checks the loop by strides for many numbers of coordinates. It must return the
// plain sum. If the sum exceeds the limit, the result must exceed the limit, too.
func TestDistanceByHand(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for dim := 1; dim < 70; dim++ {
		flat := make([]float32, 6*dim)
		for i := range flat {
			flat[i] = rng.Float32()
		}
		d, err := records.FromFlat(records.Interval(dim, 0, 1), flat)
		if err != nil {
			t.Fatal(err)
		}
		p := read(d, 10, 0)
		least := math.Inf(1)
		for j := 1; j < 6; j++ {
			want := 0.0
			for k := range dim {
				want += math.Abs(float64(flat[k])-float64(flat[j*dim+k])) / float64(dim)
			}
			least = min(least, want)
			if got := p.distance(0, &p, j, math.Inf(1)); math.Abs(got-want) > 1e-6 {
				t.Errorf("%d coordinates: %v, want %v", dim, got, want)
			}
			if got := p.distance(0, &p, j, want/2); got < want/2 {
				t.Errorf("%d coordinates: %v under a limit that %v exceeds", dim, got, want)
			}
		}
		q := points{n: 5, width: dim, flat: p.flat[dim:], column: p.column}
		one := points{n: 1, width: dim, flat: p.flat[:dim], column: p.column}
		if got := one.closest(q)[0]; math.Abs(got-least) > 1e-6 {
			t.Errorf("%d coordinates: the closest lies at %v, want %v", dim, got, least)
		}
	}
}
