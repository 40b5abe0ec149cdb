package accountant

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// A band is an event built at random, with a mechanism that it describes: p[s] is the distribution
// of outcomes if the members of the group that are in the set s are present (or, under ReplaceOne,
// replaced).
type band struct {
	e Event
	p [][]float64
}

// bandLeaf returns a mechanism of few outcomes by the curve of its worst neighbours, or a Gaussian
// release whose outcome is rounded to cells.
func (d draws) bandLeaf(t *testing.T, size int, r Relation) band {
	sets := 1 << size
	out := band{p: make([][]float64, sets)}
	if r == AddOrRemoveOne && d.IntN(3) == 0 {
		z := d.between(0.3, 6)
		out.e = Gaussian{z}
		cell := (float64(size)/z + 6) / 16
		for s := range sets {
			for x := range 16 {
				// Q(a) − Q(b) of the side on which the tail is exact
				from := float64(x)*cell - 3 - float64(ones(s))/z
				to := from + cell
				if x == 0 {
					from = math.Inf(-1)
				}
				if x == 15 {
					to = math.Inf(1)
				}
				if from < 0 {
					from, to = -to, -from
				}
				tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
				out.p[s] = append(out.p[s], max(0, tail(from)-tail(to)))
			}
		}
		return out
	}
	tilt := make([][3]float64, size)
	for i := range tilt {
		for x := range 3 {
			tilt[i][x] = d.Float64()*1.4 - 0.7
			if i > 0 && d.IntN(2) == 0 {
				tilt[i] = tilt[0] // all members alike: the lemma is nearly tight
				break
			}
		}
	}
	base := [3]float64{d.between(1e-3, 1), d.between(0.05, 1), d.between(0.05, 1)}
	for s := range sets {
		sum := 0.0
		for x := range 3 {
			v := math.Log(base[x])
			for i := range size {
				if s>>i&1 == 1 {
					v += tilt[i][x]
				}
			}
			out.p[s] = append(out.p[s], math.Exp(v))
			sum += math.Exp(v)
		}
		for x := range 3 {
			out.p[s][x] /= sum
		}
	}
	var points []float64
	each := func(f func(with, without []float64)) {
		for s := range sets {
			for i := range size {
				if s>>i&1 == 0 {
					f(out.p[s|1<<i], out.p[s])
				}
			}
		}
	}
	each(func(p, q []float64) {
		for x := range p {
			points = append(points, math.Log(p[x]/q[x]), math.Log(q[x]/p[x]))
		}
	})
	slices.Sort(points)
	kept := points[:0]
	for _, x := range points {
		if len(kept) == 0 || x > kept[len(kept)-1]+1e-9 {
			kept = append(kept, x)
		}
	}
	kept = append(kept, kept[len(kept)-1]+1e-6)
	curve := func(add bool) func(float64) float64 {
		return func(eps float64) (worst float64) {
			each(func(p, q []float64) {
				if add {
					p, q = q, p
				}
				worst = max(worst, hockey(p, q, eps))
			})
			return worst
		}
	}
	name := fmt.Sprint(base, tilt)
	if r == AddOrRemoveOne {
		out.e = must[Curve](t)(Tabulate(name, kept, curve(false), curve(true)))
	} else {
		out.e = must[Curve](t)(Tabulate(name, kept, func(eps float64) float64 {
			return max(curve(false)(eps), curve(true)(eps))
		}, nil))
	}
	return out
}

func ones(s int) (n int) {
	for ; s > 0; s >>= 1 {
		n += s & 1
	}
	return n
}

func bandJoined(a, b []float64) []float64 {
	var out []float64
	for _, x := range a {
		for _, y := range b {
			out = append(out, x*y)
		}
	}
	return out
}

func (d draws) bandOf(t *testing.T, depth, size int, r Relation) band {
	if depth == 0 {
		return d.bandLeaf(t, size, r)
	}
	a := d.bandOf(t, depth-1, size, r)
	out := band{p: make([][]float64, len(a.p))}
	switch d.IntN(6) {
	case 0: // the choice depends on what was released
		b, c := d.bandLeaf(t, size, r), d.bandLeaf(t, size, r)
		out.e = Composed{[]Event{a.e, OneOf{[]Event{b.e, c.e}}}}
		pick := make([]int, len(a.p[0]))
		for y := range pick {
			pick[y] = d.IntN(2)
		}
		for s := range out.p {
			for y, x := range a.p[s] {
				for _, z := range [2]band{b, c}[pick[y]].p[s] {
					out.p[s] = append(out.p[s], x*z)
				}
			}
		}
	case 1: // each member is in one of two parts
		b := d.bandLeaf(t, size, r)
		if d.IntN(2) == 0 {
			b = d.bandOf(t, depth-1, size, r)
		}
		if d.IntN(3) == 0 {
			b = a
		}
		out.e = Disjoint{Parts: []Event{a.e, b.e}, Fixed: d.IntN(2) == 0}
		mine := d.IntN(len(a.p))
		for s := range out.p {
			out.p[s] = bandJoined(a.p[s&mine], b.p[s&^mine])
		}
	case 2:
		out.e = Repeated{a.e, 2}
		for s := range out.p {
			out.p[s] = bandJoined(a.p[s], a.p[s])
		}
	case 3:
		if r == ReplaceOne {
			return a
		}
		q := d.between(0.02, 0.99)
		out.e = PoissonSampled{q, a.e}
		for s := range out.p {
			out.p[s] = make([]float64, len(a.p[0]))
			for in := range a.p {
				if in&^s == 0 {
					w := math.Pow(q, float64(ones(in))) * math.Pow(1-q, float64(ones(s)-ones(in)))
					for x := range a.p[in] {
						out.p[s][x] += w * a.p[in][x]
					}
				}
			}
		}
	case 4:
		e := RepeatAndSelect{Event: a.e, Mean: d.between(1.05, 9), Shape: []float64{0, 1}[d.IntN(2)]}
		out.e = e
		for s := range out.p {
			if out.p[s] = selected(a.p[s], runs(e)); !resolved(out.p[s]) {
				return a
			}
		}
	default:
		b := d.bandLeaf(t, size, r)
		out.e = Composed{[]Event{b.e, a.e}}
		for s := range out.p {
			out.p[s] = bandJoined(b.p[s], a.p[s])
		}
	}
	if len(out.p[0]) > 200 {
		return a
	}
	return out
}

// TestRandomGroupsBruteForce builds events at random from mechanisms with few outcomes, and adds up
// the outcomes without a group and with all of it. No price of the group is below.
func TestRandomGroupsBruteForce(t *testing.T) {
	d := newDraws(92)
	checked, tight := 0, 0
	for range 12 {
		r := Relation(d.IntN(2))
		size := 2 + d.IntN(2)
		c := d.bandOf(t, d.IntN(2), size, r)
		none, all := c.p[0], c.p[len(c.p)-1]
		truth := func(eps float64) float64 {
			return max(hockey(none, all, eps), hockey(all, none, eps))
		}
		delta := d.between(1e-7, 0.3)
		if d.IntN(8) == 0 {
			delta = 0
		}
		b, err := GroupEpsilon(c.e, size, delta, r)
		if errors.Is(err, ErrUnsupported) {
			continue
		} else if err != nil {
			t.Fatalf("%v %+v %d %g: %v", r, c.e, size, delta, err)
		}
		if math.IsInf(b.Upper, 1) {
			continue
		}
		checked++
		if b.Lower > b.Upper || math.IsNaN(b.Upper) {
			t.Errorf("%v %+v %d %g: %+v", r, c.e, size, delta, b)
		}
		if got := truth(b.Upper); !(got <= delta*(1+1e-9)+1e-13) {
			t.Errorf("BAD δ=%g size %d: ε %+v, but δ is %g there: %s", delta, size, b, got, Describe(c.e))
		}
		if truth(b.Upper*0.8) > delta*(1+1e-9)+1e-13 {
			tight++
		}
	}
	if checked < 8 || tight < 3 {
		t.Errorf("%d events were checked, of which %d prices were tight, want at least 8 and 3",
			checked, tight)
	}
}
