package graphical

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCompletedRowsFollowTheLaw: given any values of the first attributes, the others are drawn from
// their distribution under all factors. 20,000 draws of at most 64 cells differ from their
// probabilities by more than 0.03 with a probability below 1e-8 each.
func TestCompletedRowsFollowTheLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const draws = 20_000
	for range 60 {
		m := random(rng)
		n := len(m.Domain)
		first := rng.IntN(n)
		law := joint(m)
		c := m.Completer(first)
		row := make([]uint16, n)
		given := 0
		for a := range first {
			row[a] = uint16(rng.IntN(m.Domain[a]))
			given = given*m.Domain[a] + int(row[a])
		}
		cells := int(m.Domain[first:].Cells(seq(n - first)))
		want := slices.Clone(law[given*cells : (given+1)*cells])
		total := 0.0
		for _, p := range want {
			total += p
		}
		if total < 1e-9 {
			continue // the conditional law of an impossible event is not computed precisely
		}
		got := make([]float64, cells)
		for range draws {
			c.Complete(rng, row)
			cell := 0
			for a := first; a < n; a++ {
				cell = cell*m.Domain[a] + int(row[a])
			}
			got[cell] += 1.0 / draws
		}
		for i := range want {
			want[i] /= total
		}
		if d := far(got, want); d > 0.03 {
			t.Fatalf("%v after %d: a frequency is off by %v", m.Tree, first, d)
		}
	}
}

func seq(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}
