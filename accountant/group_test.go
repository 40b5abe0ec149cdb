package accountant

import (
	"errors"
	"math"
	"testing"
)

// TestGroups: groups of Gaussian releases have the closed form, sampled groups contain the sums of
// all ways to sample their members, and bounds are above attained values and grow with the size.
func TestGroups(t *testing.T) {
	for _, k := range []int{1, 2, 5, 40} {
		want := must[Bound](t)(Epsilon(Gaussian{8 / float64(k)}, 1e-20, AddOrRemoveOne))
		b := must[Bound](t)(GroupEpsilon(Repeated{Gaussian{16}, 4}, k, 1e-20, AddOrRemoveOne))
		if math.Abs(b.Upper/want.Upper-1) > 1e-9 || math.Abs(b.Lower/want.Lower-1) > 1e-9 {
			t.Errorf("%d records: %+v, want %+v", k, b, want)
		}
		pure := must[Bound](t)(GroupEpsilon(Laplace{7}, k, 0, ReplaceOne))
		if least := float64(k) / 7; pure.Upper < least || pure.Upper > 1.001*least {
			t.Errorf("%d records of Laplace: %+v, want %g", k, pure, least)
		}
	}
	// One sampled release of three records, with the closed form of δ at the point where P = e^ε·Q.
	const q, mu = 0.2, 0.7
	for _, eps := range []float64{0.3, 1, 2.5} {
		ratio := func(x float64) float64 {
			sum := 0.0
			for j, c := range []float64{1, 3, 3, 1} {
				f := float64(j)
				sum += c * math.Pow(q, f) * math.Pow(1-q, 3-f) * math.Exp(f*mu*x-f*f*mu*mu/2)
			}
			return sum
		}
		above := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
		lo, hi := -20.0, 20.0
		for range 100 {
			if mid := (lo + hi) / 2; ratio(mid) < math.Exp(eps) {
				lo = mid
			} else {
				hi = mid
			}
		}
		delta := -math.Exp(eps) * above(lo)
		for j, c := range []float64{1, 3, 3, 1} {
			f := float64(j)
			delta += c * math.Pow(q, f) * math.Pow(1-q, 3-f) * above(lo-f*mu)
		}
		b := must[Bound](t)(GroupEpsilon(PoissonSampled{q, Gaussian{1 / mu}}, 3, delta, AddOrRemoveOne))
		if b.Upper < eps*(1-1e-9) || b.Lower > eps*(1+1e-9) || b.Upper > eps*1.01 {
			t.Errorf("three sampled records: %+v, want %g", b, eps)
		}
	}
	// The lemma: two Laplace releases, and a group that moves both by its size.
	for _, e := range []Event{Repeated{Laplace{5}, 30}, Composed{[]Event{Laplace{5}, Gaussian{3}}},
		Repeated{SampledSum{0.1, 2}, 20}, RandomAllocation{10, 2, 0, false},
		OneOf{[]Event{Gaussian{4}, Laplace{3}}}} {
		r := AddOrRemoveOne
		if _, ok := e.(Repeated); ok {
			r = ReplaceOne
		}
		last := 0.0
		for _, k := range []int{1, 2, 6} {
			b := must[Bound](t)(GroupEpsilon(e, k, 1e-6, r))
			if !(b.Upper >= last && b.Lower <= b.Upper && b.Upper < 100) {
				t.Errorf("%s: %d records have %+v, fewer %g", Describe(e), k, b, last)
			}
			last = b.Upper
		}
	}
	// A group of three moves Laplace noise by 3: the same as a larger sensitivity.
	truth := must[Bound](t)(Epsilon(Repeated{Laplace{2}, 30}, 1e-6, ReplaceOne))
	if b := must[Bound](t)(GroupEpsilon(Repeated{Laplace{6}, 30}, 3, 1e-6, ReplaceOne)); b.Upper <
		truth.Lower {
		t.Errorf("three records of Laplace noise: %+v, want at least %+v", b, truth)
	}
	for _, k := range []int{0, -1, 1001} {
		if _, err := GroupEpsilon(Gaussian{1}, k, 1e-5, AddOrRemoveOne); err == nil {
			t.Errorf("a group of %d records has a price", k)
		}
	}
}

// TestGroupsOfManyEvents: a search among 32 different events took 47 s. That among more than a few
// ends after five halvings, which costs at most a 32nd, and is still a bound.
func TestGroupsOfManyEvents(t *testing.T) {
	var all, more []Event
	for i := range 15 {
		all = append(all, Laplace{20 + float64(i)})
		more = append(more, Laplace{(20 + float64(i)) / 2}) // moved by two records
	}
	one := must[Bound](t)(Epsilon(Composed{all}, 1e-3, ReplaceOne))
	two := must[Bound](t)(Epsilon(Composed{more}, 1e-3, ReplaceOne))
	b := must[Bound](t)(GroupEpsilon(Composed{all}, 2, 1e-3, ReplaceOne))
	steps := 32 * (b.Upper/2/one.Lower - 1)
	if math.Abs(steps-math.Round(steps)) > 1e-6 || b.Upper < two.Lower || b.Upper > 1.3*two.Upper {
		t.Errorf("%+v, %g steps above %+v; truth %+v", b, steps, one, two)
	}
}

// TestGaussianEffects: the curve of the Gaussian release is above that of the event, and not far
// above. For a Gaussian release it is the release itself.
func TestGaussianEffects(t *testing.T) {
	for _, c := range []struct {
		e    Event
		most float64 // largest ratio of the effect to the one that fits
	}{{Gaussian{2}, 1.05}, {poissonSteps(0.01, 1, 2000), 1.4}, {Repeated{Laplace{10}, 100}, 1.2},
		{RandomAllocation{100, 1, 0, false}, 2.5}, {Laplace{2}, 3}} {
		a := must[Attack](t)(AttackBounds(c.e, 1e-5, AddOrRemoveOne))
		if !(a.GaussianFit > 0 && a.GaussianEffect >= a.GaussianFit &&
			a.GaussianEffect < c.most*a.GaussianFit) {
			t.Errorf("%s: effects %g, fit %g", Describe(c.e), a.GaussianEffect, a.GaussianFit)
		}
		for i := range 9 {
			eps := float64(i) * 0.5
			d := must[Bound](t)(Delta(c.e, eps, AddOrRemoveOne))
			g := must[Bound](t)(Delta(Gaussian{1 / a.GaussianEffect}, eps, AddOrRemoveOne))
			if d.Lower > 1e-10 && d.Lower > g.Upper {
				t.Errorf("%s: δ(%g) is in %+v, of a release of effect %g %+v", Describe(c.e), eps, d,
					a.GaussianEffect, g)
			}
		}

	}
	if a := must[Attack](t)(AttackBounds(Gaussian{2}, 1e-5, AddOrRemoveOne)); math.Abs(
		a.GaussianFit-0.5) > 0.02 || a.GaussianEffect < 0.5 {
		t.Errorf("a Gaussian release of effect 0.5 has %g and %g", a.GaussianEffect, a.GaussianFit)
	}
	a := must[Attack](t)(AttackBounds(Approximate{1, 1e-6}, 1e-5, AddOrRemoveOne))
	if a.GaussianEffect < 4 {
		t.Errorf("a mechanism of unknown form has %g", a.GaussianEffect)
	}
}

// TestGroupsOfParts: members of a group may be in different parts, so a group costs at least as
// much as one record in each.
func TestGroupsOfParts(t *testing.T) {
	a, b := poissonSteps(0.01, 2, 1), poissonSteps(0.3, 3, 2)
	both := must[Bound](t)(Epsilon(Composed{[]Event{a, b}}, 1e-6, AddOrRemoveOne))
	e := Disjoint{Parts: []Event{a, b}, Fixed: true}
	if got := must[Bound](t)(GroupEpsilon(e, 2, 1e-6, AddOrRemoveOne)); got.Upper < both.Lower {
		t.Errorf("two records in two parts: %+v, want at least %+v", got, both)
	}
	lists := must[[][]term](t)(reduce(e, AddOrRemoveOne))
	if len(lists) != 2 {
		t.Errorf("%d lists, want one for each part", len(lists))
	}
}

// TestGroupsOfOnePart: all members of a group may be in one part, whichever it is, so a group costs
// at least as much as in each part alone.
func TestGroupsOfOnePart(t *testing.T) {
	for _, c := range []struct {
		high, low Event
		delta     float64
	}{{Pure{1}, Pure{0.25}, 0}, {Pure{1}, Gaussian{8}, 1e-6}, {Gaussian{1}, Gaussian{8}, 1e-6},
		{PoissonSampled{0.5, Gaussian{0.5}}, Gaussian{8}, 1e-6}} {
		for _, size := range []int{2, 5} {
			alone := must[Bound](t)(GroupEpsilon(c.high, size, c.delta, AddOrRemoveOne))
			for _, parts := range [][]Event{{c.high, c.low}, {c.low, c.high}} {
				got := must[Bound](t)(GroupEpsilon(Disjoint{Parts: parts, Fixed: true}, size, c.delta,
					AddOrRemoveOne))
				if got.Upper < alone.Lower*(1-1e-9) {
					t.Errorf("%d records in parts %v: %+v, and %+v in one of them", size, parts, got, alone)
				}
			}
		}
	}
}

// TestGaussianEffectsOfChords: between two points of a profile the Gaussian curve is above the
// chord, which is as large as a convex curve can be.
func TestGaussianEffectsOfChords(t *testing.T) {
	for _, p := range []profile{{[]float64{0, 2}, []float64{0.3, 0.01}},
		{[]float64{0.5, 3, 4}, []float64{0.2, 1e-3, 0}}} {
		above, _ := p.effects()
		for i, eps := range p.eps[1:] {
			from := p.eps[i]
			for share := 0.0; share < 1; share += 0.01 {
				x := math.Log(math.Exp(from) + share*(math.Exp(eps)-math.Exp(from)))
				chord := p.delta[i] + share*(p.delta[i+1]-p.delta[i])
				if g := must[Bound](t)(Delta(Gaussian{1 / above}, x, AddOrRemoveOne)); g.Upper < chord {
					t.Fatalf("%+v: at ε = %g the chord is at %g, effect %g at %+v", p, x, chord, above, g)
				}
			}
		}
	}
}

// TestGroupsOfCutSamples: the price of a sample that is cut to a maximum is of a stated number of
// records, and nothing is proven for data of several fewer. Replaced records stay as many.
func TestGroupsOfCutSamples(t *testing.T) {
	cut := TruncatedPoisson{Probability: 0.5, Population: 100, MaxBatch: 40, NoiseMultiplier: 2}
	for _, e := range []Event{cut, Repeated{cut, 3}, Composed{[]Event{Gaussian{3}, cut}}} {
		for size, good := range map[int]bool{1: true, 2: false, 50: false} {
			_, err := GroupEpsilon(e, size, 1e-5, AddOrRemoveOne)
			if errors.Is(err, ErrUnsupported) == good || (err == nil) != good {
				t.Errorf("%d records of %s: %v", size, Describe(e), err)
			}
		}
	}
	must[Bound](t)(GroupEpsilon(cut, 2, 1e-5, ReplaceOne))
}
