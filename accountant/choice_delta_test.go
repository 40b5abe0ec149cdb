package accountant

import (
	"context"
	"math"
	"testing"
)

// TestListsShareTheDelta: if later steps depend on which list was released, the δ of all lists
// count together at the ε that byLists finds. One list is dearer than the others, which are many or
// few and cost nearly as much or far less. The sum of all δ stays within the target, and comes near
// it.
func TestListsShareTheDelta(t *testing.T) {
	const delta = 1e-5
	for _, n := range []int{2, 3, 60} {
		for part := 0.7; part <= 1; part += 0.05 { // of the dearest list's effect
			lists := [][]term{{{gaussianAtom{1}, 1}}}
			for range n - 1 {
				lists = append(lists, []term{{gaussianAtom{part}, 1}})
			}
			p := Price{Bound: Bound{0, math.Inf(1), math.Inf(1)}}
			err := p.byLists(context.Background(), lists, delta, AddOrRemoveOne, false)
			if err != nil {
				t.Fatal(err)
			}
			b, err := deltaByLists(lists, p.Upper, AddOrRemoveOne)
			if err != nil {
				t.Fatal(err)
			}
			if !(b.Upper <= delta*(1+1e-9) && b.Upper > delta/float64(n)/4) {
				t.Errorf("%d lists, the others %.2f of the first: δ(%v) is %v, want at most %v and not "+
					"far less", n, part, p.Upper, b, delta)
			}
		}
	}
}
