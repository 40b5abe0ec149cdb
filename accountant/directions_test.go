package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// TestMovingBothWays: a record can move from the first part to the second, or from the second to
// the first. The two moves have different costs, and the larger cost counts.
func TestMovingBothWays(t *testing.T) {
	still := Gaussian{50}
	a, b := PoissonSampled{0.01, Gaussian{0.4}}, PoissonSampled{0.3, Gaussian{2.5}}
	pairsOf := func(p PoissonSampled) *pld.Pairs {
		return must[[]term](t)(newCollector(AddOrRemoveOne, newWork()).reduceOne(p))[0].atom.pairs()
	}
	const n = 40
	order := func(leaves, joins PoissonSampled) pld.Answer {
		c := pld.NewComposition()
		c.Append(&pld.Pairs{Remove: pairsOf(leaves).Remove}, n)
		c.Append(&pld.Pairs{Remove: pairsOf(joins).Add}, n)
		return c.Epsilon(1e-5, true)
	}
	ab, ba := order(a, b), order(b, a)
	if !ab.OK || !ba.OK || math.Abs(ab.Lower-ba.Lower) < 0.1*ab.Upper {
		t.Fatalf("the two moves cost %v and %v, want clearly different costs", ab, ba)
	}
	most := max(ab.Lower, ba.Lower)
	for _, moving := range [][]Event{{a, b}, {b, a}} {
		e := Disjoint{Parts: []Event{still, still},
			Moving: []Event{Repeated{moving[0], n}, Repeated{moving[1], n}}}
		if v := upper(t, e, 1e-5, ReplaceOne); v < most || v > most*1.02 {
			t.Errorf("%v: got ε = %g, want at least %g and little more", moving, v, most)
		}
		each := Repeated{Disjoint{Parts: []Event{still, still}, Moving: moving}, n}
		if v := upper(t, each, 1e-5, ReplaceOne); v < most {
			t.Errorf("%v, moving at each use: got ε = %g, want at least "+
				"%g", moving, v, most)
		}
	}
}

// TestMovingInPaysForAdding: if a record moves to a part, this part pays the cost of adding a
// record. In this test adding costs twice as much as removing. The part that the record leaves
// costs almost nothing.
func TestMovingInPaysForAdding(t *testing.T) {
	var points []float64
	for x := -6.0; x <= 12; x += 0.005 {
		points = append(points, x)
	}
	gauss := func(mu float64) func(float64) float64 {
		return func(eps float64) float64 { return min(1, pld.GaussianDelta(mu, eps)+1e-15) }
	}
	still := Gaussian{50}
	joins := must[Curve](t)(Tabulate("joins", points, gauss(0.5), gauss(1)))
	for _, moving := range [][]Event{{Gaussian{1000}, joins}, {joins, Gaussian{1000}}} {
		e := Disjoint{Parts: []Event{still, still}, Moving: moving}
		least := must[Bound](t)(Epsilon(Gaussian{1}, 1e-5, AddOrRemoveOne)).Lower
		if v := upper(t, e, 1e-5, ReplaceOne); v < least*0.999 || v > least*1.02 {
			t.Errorf("%v: got ε = %g, want about %g, the cost of adding a record", moving, v, least)
		}
	}
}

// TestAddDirectionOnlyJustAbove: adding a record has half a percent more effect than removing one.
// The larger effect counts, for one use and for many uses, in ε and in δ.
func TestAddDirectionOnlyJustAbove(t *testing.T) {
	var points []float64
	for x := -6.0; x <= 9; x += 0.005 {
		points = append(points, x)
	}
	gauss := func(mu float64) func(float64) float64 {
		return func(eps float64) float64 { return min(1, pld.GaussianDelta(mu, eps)+1e-15) }
	}
	small, large := gauss(1), gauss(1.005)
	curve := func(remove, add func(float64) float64) Curve {
		return must[Curve](t)(Tabulate("both", points, remove, add))
	}
	for _, n := range []int{1, 2, 12} {
		less := must[Bound](t)(Epsilon(Repeated{curve(small, nil), n}, 1e-5, AddOrRemoveOne))
		more := must[Bound](t)(Epsilon(Repeated{curve(large, nil), n}, 1e-5, AddOrRemoveOne))
		if more.Lower <= less.Upper {
			t.Fatalf("%d uses: the brackets %v and %v overlap", n, less, more)
		}
		for _, e := range []Curve{curve(small, large), curve(large, small)} {
			b := must[Bound](t)(Epsilon(Repeated{e, n}, 1e-5, AddOrRemoveOne))
			if b.Upper < more.Lower || b.Lower > more.Upper {
				t.Errorf("%d uses: got %v, the worse direction alone costs %v", n, b, more)
			}
			if v := upper(t, Repeated{e, n}, 1e-5, AddOrRemoveOne); v < more.Lower {
				t.Errorf("%d uses: got %g, the worse direction alone costs %v", n, v, more)
			}
			one, both := must[Bound](t)(Delta(Repeated{curve(large, nil), n}, 2, AddOrRemoveOne)),
				must[Bound](t)(Delta(Repeated{e, n}, 2, AddOrRemoveOne))
			if both.Upper < one.Lower {
				t.Errorf("%d uses: got δ(2) = %v, the worse direction alone has %v", n, both, one)
			}
		}
	}
}

// TestDivergenceOfTheAddDirection: the Rényi divergence of a curve is the larger divergence of its
// two directions. Only curves that end at δ = 0 have finite divergences.
func TestDivergenceOfTheAddDirection(t *testing.T) {
	response := func(eps float64) func(float64) float64 {
		return func(x float64) float64 {
			return max(0, 1-math.Exp(x), (math.Exp(eps)-math.Exp(x))/(math.Exp(eps)+1))
		}
	}
	points := []float64{-1.01, -1, 0, 1, 1.01}
	worse := must[Curve](t)(Tabulate("worse", points, response(1.01), nil))
	for _, both := range []Curve{must[Curve](t)(Tabulate("add", points, response(1), response(1.01))),
		must[Curve](t)(Tabulate("remove", points, response(1.01), response(1)))} {
		for _, order := range []float64{1.5, 4, 50} {
			v, w := must[float64](t)(RDP(both, order, AddOrRemoveOne)),
				must[float64](t)(RDP(worse, order, AddOrRemoveOne))
			if v < w || math.IsInf(w, 1) {
				t.Errorf("order %g: got divergence %g, the worse direction alone has %g", order, v, w)
			}
		}
	}
}

// outcomes holds the probabilities of a mechanism's outcomes on two data sets. The outcomes are in
// increasing order of preference.
type outcomes struct{ p, q []float64 }

// selected returns the distribution of the best of a random number of outcomes drawn from v.
// generating is the generating function of the number of outcomes. Its value at P(outcome ≤ k) is
// the probability that the best outcome is at most the k-th.
func selected(v []float64, generating func(float64) float64) []float64 {
	sum, last := 0.0, generating(0)
	out := []float64{last} // the probability of no run
	for _, x := range v {
		sum = min(1, sum+x)
		g := generating(sum)
		out = append(out, g-last)
		last = g
	}
	return out
}

// resolved reports whether every probability is either zero or much larger than rounding errors.
func resolved(v []float64) bool {
	for _, x := range v {
		if x != 0 && x < 1e-8 {
			return false
		}
	}
	return true
}

// runs returns the generating function of the number of runs of e.
func runs(e RepeatAndSelect) func(float64) float64 {
	gamma := selectGamma(e.Shape, e.Mean)
	return func(x float64) float64 {
		switch {
		case e.Poisson:
			return math.Exp(e.Mean * (x - 1))
		case e.Shape == 0:
			return math.Log(1-(1-gamma)*x) / math.Log(gamma)
		}
		return (math.Pow(1-(1-gamma)*x, -e.Shape) - 1) / (math.Pow(gamma, -e.Shape) - 1)
	}
}

// responses returns an ε-differentially private mechanism whose outcomes have the losses ε and −ε
// alternately.
func responses(eps float64, weights []float64) outcomes {
	var o outcomes
	up, down := 1/(1+math.Exp(-eps)), 1/(1+math.Exp(eps))
	sum := [2]float64{}
	for i, w := range weights {
		sum[i%2] += w
	}
	for i, w := range weights {
		a, b := up, down
		if i%2 == 1 {
			a, b = down, up
		}
		o.p, o.q = append(o.p, a*w/sum[i%2]), append(o.q, b*w/sum[i%2])
	}
	return o
}

// TestSelectionBruteForce computes the divergences of selections among a few outcomes exactly. No
// divergence is above the claimed bound. Theorem 2 has a term with the factor 1+η. Some divergences
// are above the bound without this term, and some are above the bound with the factor 1 in its
// place.
func TestSelectionBruteForce(t *testing.T) {
	d := newDraws(77)
	checked := 0
	without := map[string]int{} // how often a divergence is above the bound without a part
	for range 800 {
		eps := d.between(0.05, 2)
		e := RepeatAndSelect{Event: Pure{eps}, Mean: d.between(1.05, 3000),
			Shape: []float64{-0.5, 0, 0.5, 1, 2}[d.IntN(5)]}
		if d.IntN(4) == 0 {
			e.Poisson, e.Shape, e.Mean = true, 0, d.between(0.05, 300)
		}
		weights := make([]float64, 2+d.IntN(4))
		for i := range weights {
			weights[i] = d.between(1e-5, 1)
		}
		o := responses(eps, weights)
		p, q := selected(o.p, runs(e)), selected(o.q, runs(e))
		if d.IntN(2) == 0 {
			p, q = q, p
		}
		if !resolved(p) || !resolved(q) {
			continue
		}
		for _, order := range []float64{1.2, 2, 8, 60, 400} {
			claim := must[float64](t)(RDP(e, order, AddOrRemoveOne))
			var moment renyi.LogSum
			for i := range p {
				if p[i] > 0 {
					moment.Add(order*math.Log(p[i]) + (1-order)*math.Log(q[i]))
				}
			}
			truth := moment.Value() / (order - 1)
			if checked++; truth > claim+1e-7*(1+claim) {
				t.Fatalf("%+v order %g: the divergence %g is above the bound %g", e, order, truth, claim)
			}
			one := must[[]term](t)(newCollector(AddOrRemoveOne, newWork()).reduceOne(e))
			if a := one[0].atom.(selectAtom); !a.poisson {
				a.prepare()
				if truth > claim-(1+a.shape)*a.second {
					without["the other runs"]++
				}
				if a.shape > 0 && truth > claim-a.shape*a.second {
					without["η of the other runs"]++
				}
			}
		}
		// Check the bound at δ = 0 too.
		if !e.Poisson {
			claim := must[Bound](t)(Epsilon(e, 0, AddOrRemoveOne)).Upper
			for i := range p {
				if l := math.Abs(math.Log(p[i] / q[i])); p[i] > 0 && l > claim+1e-6 {
					t.Fatalf("%+v: the loss %g is above the bound %g", e, l, claim)
				}
			}
		}
	}
	for _, part := range []string{"the other runs", "η of the other runs"} {
		if without[part] == 0 {
			t.Errorf("%d checks: no divergence is above the bound without %s (%v)", checked,
				part, without)
		}
	}
	t.Logf("%d checks; divergences above the bound without a part: %v", checked, without)
}

// TestTwoCurvesNeedTwoDirections: two compositions of a mechanism with itself, in opposite
// directions, have δ(0) = .56 between records that act alike in both, where the worse of removing
// and adding has .40. Replacing a record may do that.
func TestTwoCurvesNeedTwoDirections(t *testing.T) {
	hockey := func(p, q float64) func(float64) float64 {
		return func(e float64) float64 {
			return max(0, p-math.Exp(e)*q) + max(0, 1-p-math.Exp(e)*(1-q))
		}
	}
	points := []float64{math.Log(0.1 / 0.5), math.Log(0.5 / 0.9), 0, math.Log(0.9 / 0.5),
		math.Log(0.5 / 0.1)}
	ab := must[Curve](t)(Tabulate("ab", points, hockey(0.9, 0.5), hockey(0.5, 0.9)))
	ba := must[Curve](t)(Tabulate("ba", points, hockey(0.5, 0.9), hockey(0.9, 0.5)))
	both := Composed{[]Event{ab, ba}}
	if _, err := Delta(both, 0, ReplaceOne); !errors.Is(err, ErrUnsupported) {
		t.Errorf("two curves under replace-one: got %v, want ErrUnsupported", err)
	}
	if d := must[Bound](t)(Delta(both, 0, AddOrRemoveOne)); !(d.Upper >= 0.4 && d.Upper < 0.56) {
		t.Errorf("δ(0) = %v, want .40", d)
	}
	same := must[Curve](t)(Tabulate("same", points, hockey(0.9, 0.5), hockey(0.9, 0.5)))
	if _, err := Delta(same, 0, ReplaceOne); err != nil {
		t.Errorf("one curve for both directions: %v", err)
	}
}

// TestOwnLossOfAMove: the largest loss of a move is that of removing from one part and of adding to
// the other. Here a removed record loses much from one part only, and an added one from the other.
func TestOwnLossOfAMove(t *testing.T) {
	const much, little = 3.0, 0.1
	p := math.Expm1(little) / (math.Exp(little) - math.Exp(-much)) // of the outcome that loses much
	q := p * math.Exp(-much)
	above := func(eps float64) float64 { return max(0, p-math.Exp(eps)*q, -math.Expm1(eps)) }
	below := func(eps float64) float64 {
		return max(0, 1-q-math.Exp(eps)*(1-p), -math.Expm1(eps))
	}
	curve := func(remove, add func(float64) float64) Event {
		return must[Curve](t)(Tabulate("both", []float64{-much, -little, 0, little, much}, remove, add))
	}
	still := Pure{1e-3}
	e := Disjoint{Parts: []Event{still, still},
		Moving: []Event{curve(above, below), curve(below, above)}}
	if got := upper(t, e, 1e-9, ReplaceOne); got < 2*much-0.01 || got > 2*much+0.01 {
		t.Errorf("a move costs ε = %g, want %g", got, 2*much)
	}
}

// TestDivergenceOfSampledDirections: a sample of almost all records, of an event that costs more
// when a record is added, has the divergence of that direction.
func TestDivergenceOfSampledDirections(t *testing.T) {
	response := func(most float64) func(float64) float64 {
		return func(x float64) float64 {
			return max(0, -math.Expm1(x-most)/(1+math.Exp(-most)), -math.Expm1(x))
		}
	}
	e := must[Curve](t)(Tabulate("both", []float64{-2, -0.1, 0, 0.1, 2}, response(0.1), response(2)))
	for _, order := range []float64{1.5, 4, 32} {
		whole := must[float64](t)(RDP(e, order, AddOrRemoveOne))
		got := must[float64](t)(RDP(PoissonSampled{0.999, e}, order, AddOrRemoveOne))
		if got < 0.9*whole {
			t.Errorf("order %g: a divergence of %g, want about %g", order, got, whole)
		}
	}
}

// TestInnerChoicesMoveBothWays: a record that moves out of a part pays there for being removed, and
// where it comes for being added, also if the part is one of several, or holds parts of its own.
func TestInnerChoicesMoveBothWays(t *testing.T) {
	// towards returns an event that costs remove or add, by the direction.
	towards := func(remove, add float64) Curve {
		pure := func(e0 float64) func(float64) float64 { // of a mechanism of ε = e0
			return func(eps float64) float64 {
				return max(0, 1-math.Exp(eps), (math.Exp(e0)-math.Exp(eps))/(1+math.Exp(e0)))
			}
		}
		return must[Curve](t)(Tabulate("towards", []float64{-4, -3, -2, -0.5, 0.5, 2, 3, 4},
			pure(remove), pure(add)))
	}
	still := Gaussian{50}
	leaves, less, joins := towards(3, 0.5), towards(2, 0.5), towards(0.5, 4)
	want := upper(t, Composed{[]Event{Pure{3}, Pure{4}}}, 1e-5, AddOrRemoveOne)
	for _, way := range []func(e, o Event) Event{
		func(e, _ Event) Event { return e },
		func(e, _ Event) Event { return Composed{[]Event{Repeated{e, 1}}} },
		func(e, o Event) Event { return OneOf{[]Event{e, o}} },
		func(e, o Event) Event { return OneOf{[]Event{o, OneOf{[]Event{still, e}}}} },
		func(e, o Event) Event { return Disjoint{Parts: []Event{o, e}} },
		func(e, o Event) Event { return Disjoint{Parts: []Event{e, o}, Fixed: true} },
		func(e, o Event) Event {
			return Disjoint{Parts: []Event{still, still}, Moving: []Event{o, e}}
		},
	} {
		for _, moving := range [][]Event{{way(leaves, less), joins}, {joins, way(leaves, less)},
			{leaves, way(joins, less)}, {way(leaves, less), way(joins, less)}} {
			e := Disjoint{Parts: []Event{still, still}, Moving: moving}
			if v := upper(t, e, 1e-5, ReplaceOne); v < want*(1-1e-6) || v > want*1.01 {
				t.Errorf("%s and %s: got ε = %g, want %g", Describe(moving[0]), Describe(moving[1]), v, want)
			}
		}
	}
}
