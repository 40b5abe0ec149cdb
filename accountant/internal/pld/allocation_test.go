package pld

import (
	"math"
	"testing"
)

// TestSumsAreOrdered compares sums of random masses with all pairs of masses: the upper sum has at
// least, and the lower sum at most, the expectation of every convex function (x − k)₊ and (k − x)₊.
func TestSumsAreOrdered(t *testing.T) {
	d := newDraws(71)
	above := func(s *sums, k float64) float64 {
		out := s.lost
		for i, x := range s.place {
			out += s.mass[i] * max(0, x-k)
		}
		return out
	}
	below := func(s *sums, k float64) (out float64) {
		for i, x := range s.place {
			out += s.mass[i] * max(0, k-x)
		}
		return out
	}
	for try := range 40 {
		of := func() sums {
			s := sums{n: 1, upper: try%2 == 0, place: []float64{0}, mass: []float64{0.01}}
			for range 30 {
				s.place = append(s.place, s.place[len(s.place)-1]+d.between(1e-3, 1))
				s.mass = append(s.mass, d.between(1e-9, 0.1))
			}
			if s.upper {
				s.lost = 0.125
			}
			return s
		}
		a, b := of(), of()
		got := scoresFor(0.1).add(&a, &b)
		if try%4 > 1 {
			b = a
			got = scoresFor(0.1).add(&a, &a)
		}
		all := sums{lost: a.lost + b.lost}
		for i, x := range a.place {
			for j, y := range b.place {
				all.place = append(all.place, x+y)
				all.mass = append(all.mass, a.mass[i]*b.mass[j])
			}
		}
		sign := 1.0
		if !a.upper {
			sign = -1
		}
		for k := 0.0; k < 25; k += 0.11 {
			for i, f := range []func(*sums, float64) float64{above, below} {
				x, y := f(&got, k), f(&all, k)
				if sign*(x-y) < -1e-12*(y+1) {
					t.Fatalf("try %d function %d at %g: %g, of all pairs %g", try, i, k, x, y)
				}
			}
		}
		if x, y := above(&got, 0), above(&all, 0); math.Abs(x-y) > 1e-12*y {
			t.Errorf("try %d: the mean is %g, want %g", try, x, y)
		}
	}
}

// TestErrorsOfSumsMoveLossesOutward: the bounds of rounding errors enlarge the upper end of a
// bracket in both directions and reduce the lower end.
func TestErrorsOfSumsMoveLossesOutward(t *testing.T) {
	const eps = 0.1
	for _, upper := range []bool{true, false} {
		exact := sums{n: 2, upper: upper, place: []float64{0, 1, 4}, mass: []float64{0.1, 0.5, 0.35}}
		if upper {
			exact.lost = 0.1
		}
		for _, wrong := range []sums{{slip: 1e-3}, {wrong: 1e-3}} {
			moved := exact
			moved.slip, moved.wrong = wrong.slip, wrong.wrong
			sign := -1.0
			if upper {
				sign = 1
			}
			for i := range 2 {
				delta := func(s *sums) float64 {
					p := s.mean().Pairs()
					_, d := NewSingle(&Pairs{Remove: []Pair{p.Remove, p.Add}[i]}, false).Delta(eps)
					return d
				}
				if x, y := delta(&moved), delta(&exact); !(sign*(x-y) > 1e-5) {
					t.Errorf("upper %t direction %d: δ is %g with errors, %g without", upper, i, x, y)
				}
			}
		}
	}
}

// TestRestOfASumIsInfinite: what lies beyond the places of a summand is at infinite loss.
func TestRestOfASumIsInfinite(t *testing.T) {
	a := Allocated(3, 1, true)
	if _, inf := a.remove.Largest(); !(inf > 1e-39 && inf < 1e-36) {
		t.Errorf("the mass at infinite loss is %g", inf)
	}
	for _, t3 := range []*Discrete{a.remove, Allocated(3, 1, false).remove} {
		p, q := t3.inf, t3.never
		for i := range t3.mass {
			p, q = p+t3.mass[i], q+t3.other[i]
		}
		if math.Abs(p-1) > 1e-10 || !(q > 1-1e-10 && q < 1+1e-6) {
			t.Errorf("P has mass %.15g and Q %.15g", p, q)
		}
	}
}
