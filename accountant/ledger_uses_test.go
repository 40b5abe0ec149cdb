package accountant

import (
	"errors"
	"math"
	"math/bits"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// TestReduceDoesNotWrap: counts that are too large are refused in every form of nesting. Gaussians
// are summed in floating point and have the right price.
func TestReduceDoesNotWrap(t *testing.T) {
	most := Repeated{Laplace{1e18}, maxCount}
	const root = math.MaxInt >> (bits.UintSize / 2) // about the square root of the largest int
	half := Repeated{Laplace{1e18}, root}
	for name, e := range map[string]Event{
		"composed": Composed{[]Event{most, most, most, most, most}},
		"nested":   Repeated{Repeated{half, root}, 4},
		"parts":    Repeated{Disjoint{Parts: []Event{Repeated{Laplace{1e18}, maxCount / 2}}}, 16},
		"beside":   Composed{[]Event{most, Disjoint{Parts: []Event{Laplace{1e18}}}}},
	} {
		var bad *param.Error
		if _, err := reduce(e, AddOrRemoveOne); !errors.As(err, &bad) {
			t.Errorf("%s: got %v, want a *param.Error", name, err)
		}
	}
	many := Repeated{Gaussian{1e10}, maxCount}
	once := upper(t, Gaussian{1e10 / math.Sqrt(5*float64(maxCount))}, 1e-5, AddOrRemoveOne)
	got := upper(t, Composed{[]Event{many, many, many, many, many}}, 1e-5, AddOrRemoveOne)
	within(t, "five times the most", got, once*(1-1e-9), once*(1+1e-9))
}
