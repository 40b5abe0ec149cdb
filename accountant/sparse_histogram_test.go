package accountant

import (
	"fmt"
	"math"
	"testing"
)

// outcome is one outcome of a release with its probabilities under two neighbours.
type outcome struct{ p, q float64 }

// countOutcomes returns the outcomes of a count that is x under one neighbour and y under the
// other: that it is not released, and that its noisy count is in one of the cells of the given
// width.
func countOutcomes(e SparseHistogram, x, y, width float64) (list []outcome) {
	above := func(count, z float64) float64 {
		if count == 0 { // never released
			return 0
		}
		return math.Erfc((z-count)/e.Sigma/math.Sqrt2) / 2
	}
	last := max(x, y) + 8*e.Sigma
	list = append(list, outcome{1 - above(x, e.Threshold), 1 - above(y, e.Threshold)})
	for z := e.Threshold; z < last; z += width {
		list = append(list, outcome{above(x, z) - above(x, z+width), above(y, z) - above(y, z+width)})
	}
	return list
}

// joint returns the outcomes of independent releases.
func joint(a, b []outcome) (list []outcome) {
	for _, x := range a {
		for _, y := range b {
			list = append(list, outcome{x.p * y.p, x.q * y.q})
		}
	}
	return list
}

// hockeyStick returns the larger of both directions' hockey-stick divergences.
func hockeyStick(list []outcome, eps float64) float64 {
	forth, back := 0.0, 0.0
	for _, o := range list {
		forth += max(0, o.p-math.Exp(eps)*o.q)
		back += max(0, o.q-math.Exp(eps)*o.p)
	}
	return max(forth, back)
}

// TestSparseHistogramByBruteForce compares the price with all neighbours in small universes: every
// text of the record in which they differ has no, one, two or many further records. The outcomes
// are cells of noisy counts, so the divergence is at most the exact one, and nearly as large for
// narrow cells.
func TestSparseHistogramByBruteForce(t *testing.T) {
	const many = 26
	others := []float64{0, 1, 2, many}
	for _, c := range []struct {
		relation Relation
		cells    int
		width    float64 // of cells, in standard deviations
		tight    float64
	}{{AddOrRemoveOne, 1, 0.05, 0.99}, {AddOrRemoveOne, 2, 0.12, 0.99}, {ReplaceOne, 1, 0.12, 0.99}} {
		e := SparseHistogram{Sigma: 2, Threshold: 6, Cells: c.cells}
		changed := c.cells
		if c.relation == ReplaceOne {
			changed *= 2
		}
		worst := map[float64]float64{}
		epsilons := []float64{0, 0.1, 0.3, 0.6, 1, 2, 4}
		for neighbours := range int(math.Pow(4, float64(changed))) {
			list := []outcome{{1, 1}}
			for i := range changed {
				x := others[neighbours>>(2*i)&3]
				y := x + 1
				if c.relation == ReplaceOne && i%2 == 1 { // the record's own text before
					x, y = y, x
				}
				list = joint(list, countOutcomes(e, x, y, c.width*e.Sigma))
			}
			for _, eps := range epsilons {
				worst[eps] = max(worst[eps], hockeyStick(list, eps))
			}
		}
		for _, eps := range epsilons {
			b := must[Bound](t)(Delta(e, eps, c.relation))
			at := fmt.Sprintf("%v, %d texts, ε = %g: δ = %v, by brute force %v", c.relation, c.cells, eps,
				b.Upper, worst[eps])
			if !(b.Upper >= worst[eps]*(1-1e-9)) {
				t.Errorf("%s: the price is too low", at)
			}
			if worst[eps] < c.tight*b.Upper {
				t.Errorf("%s: want at least %v of the price", at, c.tight)
			}
		}
	}
}

// TestSparseHistogramIsASelection: the probability of releasing a text with n records is the
// largest that a mechanism can have whose curve for a change of one count is that of the event's
// Gaussian.
func TestSparseHistogramIsASelection(t *testing.T) {
	e := SparseHistogram{Sigma: 5, Threshold: 20, Cells: 1}
	released := func(n float64) float64 { return math.Erfc((e.Threshold-n)/e.Sigma/math.Sqrt2) / 2 }
	for n := 1.0; n < 40; n += 3 {
		largest := 1.0 // the least of p·e^ε + δ(ε) over all ε
		for eps := 0.0; eps < 3; eps += 1e-3 {
			largest = min(largest, math.Exp(eps)*released(n)+deltaOfGaussian(1/e.Sigma, eps))
			largest = min(largest, 1-math.Exp(-eps)*(1-released(n)-deltaOfGaussian(1/e.Sigma, eps)))
		}
		if got := released(n + 1); got > largest*(1+1e-9) || got < largest*0.999 {
			t.Errorf("%g records: released with probability %v, the largest is %v", n+1, got, largest)
		}
	}
}

func deltaOfGaussian(mu, eps float64) float64 {
	above := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	return above(eps/mu-mu/2) - math.Exp(eps)*above(eps/mu+mu/2)
}

// TestSparseHistogramsCompose: the price of many uses, and of uses beside Gaussian releases, is at
// most that of the Gaussian and of an approximate mechanism together, and grows with each
// parameter.
func TestSparseHistogramsCompose(t *testing.T) {
	e := SparseHistogram{Sigma: 20, Threshold: 120, Cells: 2}
	both := Composed{[]Event{Gaussian{20 / math.Sqrt2}, Approximate{0, sparseAtom{e, 2}.alone(2)}}}
	for _, n := range []int{1, 12} {
		with := Composed{[]Event{Repeated{e, n}, Gaussian{4}}}
		got := upper(t, with, 1e-5, AddOrRemoveOne)
		most := upper(t, Composed{[]Event{Repeated{both, n}, Gaussian{4}}}, 1e-5, AddOrRemoveOne)
		least := upper(t, Composed{[]Event{Repeated{Gaussian{20 / math.Sqrt2}, n}, Gaussian{4}}}, 1e-5,
			AddOrRemoveOne)
		if got > most*1.001 || got < least {
			t.Errorf("%d uses cost %v, want between %v and %v", n, got, least, most)
		}
	}
	price := func(e SparseHistogram, r Relation) float64 { return upper(t, e, 1e-5, r) }
	base := price(e, AddOrRemoveOne)
	for name, dearer := range map[string]float64{
		"less noise":      price(SparseHistogram{15, 120, 2}, AddOrRemoveOne),
		"more texts":      price(SparseHistogram{20, 120, 3}, AddOrRemoveOne),
		"replace-one":     price(e, ReplaceOne),
		"lower threshold": price(SparseHistogram{20, 60, 2}, AddOrRemoveOne),
	} {
		if !(dearer > base) {
			t.Errorf("%s costs %v, want more than %v", name, dearer, base)
		}
	}
}

// TestSparseHistogramOfSmallDelta: below the probability of releasing a text of one record alone,
// no ε suffices. This is known before any grid is made.
func TestSparseHistogramOfSmallDelta(t *testing.T) {
	e := SparseHistogram{Sigma: 20, Threshold: 100, Cells: 3}
	alone := sparseAtom{e, 3}.alone(3)
	for _, uses := range []int{1, 4} {
		for share, some := range map[float64]Event{1: e, .25: PoissonSampled{.25, e}} {
			r := must[Reduced](t)(Reduce(Repeated{some, uses}, AddOrRemoveOne))
			p, err := r.Price(t.Context(), Budget{Delta: 0.9 * share * float64(uses) * alone}, 0, true)
			if err != nil || !math.IsInf(p.Upper, 1) || p.Engine != engineInfinite {
				t.Errorf("%d uses: %v at a δ below that of a text of one record, %v", uses, p, err)
			}
		}
	}
}
