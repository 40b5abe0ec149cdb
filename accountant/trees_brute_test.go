package accountant

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// A tree is an event built at random, with the exact outcomes of mechanisms that it describes. In
// each of them p is the distribution with the record, and q without it or with another one.
type tree struct {
	e    Event
	runs []outcomes
}

// hockey returns the hockey-stick divergence of q from p.
func hockey(p, q []float64, eps float64) float64 {
	sum := 0.0
	for i := range p {
		sum += max(0, p[i]-math.Exp(eps)*q[i])
	}
	return sum
}

// both returns a mechanism that releases the outcome of a, and then that of b(y), where y is a's
// outcome.
func both(a outcomes, b func(y int) outcomes) (o outcomes) {
	for y := range a.p {
		next := b(y)
		for i := range next.p {
			o.p, o.q = append(o.p, a.p[y]*next.p[i]), append(o.q, a.q[y]*next.q[i])
		}
	}
	return o
}

// always returns b, whatever was released before.
func always(b outcomes) func(int) outcomes { return func(int) outcomes { return b } }

// treeOf returns a random tree of at most the given depth.
func (d draws) treeOf(t *testing.T, depth int, r Relation) tree {
	if depth == 0 {
		return d.leaf(t, r)
	}
	a := d.treeOf(t, depth-1, r)
	var out tree
	switch d.IntN(6) {
	case 0: // the choice depends on what was released
		b, c := d.leaf(t, r), d.leaf(t, r)
		choices := []Event{OneOf{[]Event{b.e, c.e}}, Disjoint{Parts: []Event{b.e, c.e}}}
		out.e = Composed{[]Event{a.e, choices[d.IntN(2)]}}
		for _, x := range a.runs {
			likely := func(y int) outcomes {
				of := [2]tree{b, c}[d.IntN(2)].runs
				return of[d.IntN(len(of))]
			}
			out.runs = append(out.runs, both(x, likely))
		}
	case 1: // the part is fixed
		b := d.leaf(t, r)
		out = tree{Disjoint{Parts: []Event{a.e, b.e}, Fixed: true}, append(a.runs, b.runs...)}
		if r == ReplaceOne {
			for _, x := range a.runs {
				y := b.runs[0]
				out.runs = append(out.runs, both(x, always(outcomes{y.q, y.p})))
			}
		}
	case 2:
		n := 1 + d.IntN(2)
		out.e = Repeated{a.e, n}
		for _, x := range a.runs {
			for y, i := x, 1; i < n; i++ {
				x = both(x, always(y))
			}
			out.runs = append(out.runs, x)
		}
	case 3:
		q := d.between(0.05, 0.99)
		out.e = PoissonSampled{q, a.e}
		for _, x := range a.runs {
			y := outcomes{q: x.q}
			for i := range x.p {
				y.p = append(y.p, q*x.p[i]+(1-q)*x.q[i])
			}
			out.runs = append(out.runs, y)
		}
	case 4:
		e := RepeatAndSelect{Event: a.e, Mean: d.between(1.05, 9), Shape: []float64{0, 1}[d.IntN(2)]}
		out.e = e
		for _, x := range a.runs {
			y := outcomes{selected(x.p, runs(e)), selected(x.q, runs(e))}
			if resolved(y.p) && resolved(y.q) {
				out.runs = append(out.runs, y)
			}
		}
	default:
		b := d.leaf(t, r)
		out.e = Composed{[]Event{b.e, a.e}}
		for _, x := range a.runs {
			out.runs = append(out.runs, both(x, always(b.runs[0])))
		}
	}
	return out
}

// leaf returns a mechanism with two or three outcomes, by its curve or by its (ε, δ).
func (d draws) leaf(t *testing.T, r Relation) tree {
	if d.IntN(4) == 0 {
		eps, delta := d.between(0.05, 2), []float64{0, d.between(1e-6, 1e-2)}[d.IntN(2)]
		up, down := (1-delta)/(1+math.Exp(-eps)), (1-delta)/(1+math.Exp(eps))
		return tree{Approximate{eps, delta},
			[]outcomes{{[]float64{delta, up, down, 0}, []float64{0, down, up, delta}}}}
	}
	var o outcomes
	sum := [2]float64{}
	for i := range 3 {
		x := d.between(0.05, 1)
		o.p, o.q = append(o.p, x), append(o.q, x*math.Exp(d.Float64()*1.5-0.75))
		sum[0], sum[1] = sum[0]+o.p[i], sum[1]+o.q[i]
	}
	var points []float64
	for i := range o.p {
		o.p[i], o.q[i] = o.p[i]/sum[0], o.q[i]/sum[1]
		points = append(points, math.Log(o.p[i]/o.q[i]), math.Log(o.q[i]/o.p[i]))
	}
	slices.Sort(points)
	remove := func(eps float64) float64 { return hockey(o.p, o.q, eps) }
	add := func(eps float64) float64 { return hockey(o.q, o.p, eps) }
	name := fmt.Sprint(o.p[0])
	if r == AddOrRemoveOne {
		return tree{must[Curve](t)(Tabulate(name, points, remove, add)), []outcomes{o}}
	}
	worst := func(eps float64) float64 { return max(remove(eps), add(eps)) }
	return tree{must[Curve](t)(Tabulate(name, points, worst, nil)), []outcomes{o, {o.q, o.p}}}
}

// TestRandomTreesBruteForce builds events at random from mechanisms with few outcomes, and computes
// the divergences of such mechanisms by adding up their outcomes. No bound is below them.
func TestRandomTreesBruteForce(t *testing.T) {
	d := newDraws(91)
	checked, tight := 0, 0
	for range 90 {
		r := Relation(d.IntN(2))
		tr := d.treeOf(t, 1+d.IntN(3), r)
		if _, err := Reduce(tr.e, r); errors.Is(err, ErrUnsupported) || len(tr.runs) == 0 {
			continue
		} else if err != nil {
			t.Fatalf("%s: %v", Describe(tr.e), err)
		}
		truth := func(eps float64) (worst float64) {
			for _, o := range tr.runs {
				worst = max(worst, hockey(o.p, o.q, eps), hockey(o.q, o.p, eps))
			}
			return worst
		}
		for _, eps := range []float64{0, d.between(0.05, 3)} {
			b, err := Delta(tr.e, eps, r)
			if want := truth(eps); err != nil || !(b.Upper >= want*(1-1e-9)-1e-12) {
				t.Fatalf("%v %+v: δ(%g) = %+v, want at least %g (%v)", r, tr.e, eps, b, want, err)
			} else if b.Upper < want*1.01 {
				tight++
			}
		}
		eps := d.between(0.05, 2)
		if delta := truth(eps); delta > 1e-9 && delta < 0.5 {
			b, err := Epsilon(tr.e, delta, r)
			if checked++; err != nil || !math.IsInf(b.Upper, 1) &&
				!(truth(b.Upper) <= delta*(1+1e-6)) {
				t.Fatalf("%v %+v: ε(%g) = %+v, but δ is %g there (%v)", r, tr.e, delta, b, truth(b.Upper), err)
			}
		}
		for _, order := range []float64{1.5, 12} {
			claim, err := RDP(tr.e, order, r)
			for _, o := range tr.runs {
				if want := renyiOf(o, order); err == nil && want > claim*(1+1e-9)+1e-12 {
					t.Fatalf("%v %+v: the divergence of order %g is %g, want at least %g", r, tr.e, order,
						claim, want)
				}
			}
		}
	}
	if checked < 25 || tight < 40 {
		t.Errorf("%d trees were checked and %d bounds were tight, want at least 25 and 40", checked,
			tight)
	}
}

// renyiOf returns the larger Rényi divergence of the two directions.
func renyiOf(o outcomes, order float64) float64 {
	there, back := 0.0, 0.0
	for i := range o.p {
		if o.p[i] > 0 || o.q[i] > 0 {
			there += math.Pow(o.p[i], order) * math.Pow(o.q[i], 1-order)
			back += math.Pow(o.q[i], order) * math.Pow(o.p[i], 1-order)
		}
	}
	return math.Log(max(there, back)) / (order - 1)
}
