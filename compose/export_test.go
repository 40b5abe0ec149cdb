package compose

import "testing"

// DrawFew lowers the number of records that Ranks draws for its mapping back until the test ends.
func DrawFew(t *testing.T) {
	n := drawnBack
	drawnBack = ranksOfBack
	t.Cleanup(func() { drawnBack = n })
}
