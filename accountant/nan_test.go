package accountant

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// noNumber is an atom of which every number is NaN.
type noNumber struct{}

func (noNumber) rdp(float64) (float64, bool) { return math.NaN(), true }
func (noNumber) pairs() *pld.Pairs           { return &pld.Pairs{Remove: pld.Laplace(math.NaN())} }
func (noNumber) slack() float64              { return 0 }
func (noNumber) key() string                 { return "no number" }
func (noNumber) own() (eps, delta float64)   { return math.NaN(), math.NaN() }

// TestNaNIsRefused: wherever an atom of NaN enters a price, ε is infinite, δ is 1, and a
// divergence is infinite or unknown.
func TestNaNIsRefused(t *testing.T) {
	bad := noNumber{}
	gaussian := []term{{gaussianAtom{1}, 1}}
	run := selectAtom{relation: AddOrRemoveOne, within: []term{{bad, 1}}, mean: 3, shape: 1,
		gamma: 0.3, selectMemo: &selectMemo{second: 1, known: map[float64]float64{}}}
	none := math.NaN()
	for i, a := range []atom{bad, oneWayAtom{bad, true}, sampledAtom{0.1, bad}, run,
		worstAtom{[][]term{gaussian, {{bad, 1}}}}, worstAtom{[][]term{{{bad, 2}}, gaussian}},
		gaussianAtom{none}, sampledGaussian{none, 1}, sampledGaussian{0.1, none},
		gluedAtom{q: 0.1, mu: none}, oppositeAtom{0.1, none}, laplaceAtom{none}, zcdpAtom{none},
		exponentialAtom{eps: none}, approximateAtom{none, 0}, approximateAtom{1, none},
		allocationAtom{steps: 3, mu: none},
		mixtureAtom{GaussianMixture{none, []float64{1}, []float64{1}}},
		sparseAtom{SparseHistogram{none, 9, 1}, 1}, sparseAtom{SparseHistogram{1, none, 1}, 1},
		truncAtom{q: 0.1, mu: 1, relation: AddOrRemoveOne,
			tails: func() (full, rate float64) { return none, 0.1 }}} {
		for _, terms := range [][]term{{{a, 1}}, {{a, 3}, {sampledGaussian{0.1, 1}, 5}}} {
			where := fmt.Sprintf("%d %T × %d", i, a, terms[0].n)
			for _, delta := range []float64{0, 1e-5} {
				p, err := priceAll(t.Context(), [][]term{gaussian, terms}, delta, AddOrRemoveOne, true)
				if err == nil && !math.IsInf(p.Upper, 1) {
					t.Errorf("%s: ε at δ = %g is in %+v, want no bound", where, delta, p)
				}
			}
			for _, eps := range []float64{0, 1, 700} {
				if b, err := deltaTerms(terms, eps, AddOrRemoveOne); err == nil && b.Upper != 1 {
					t.Errorf("%s: δ(%g) is in %+v, want no bound", where, eps, b)
				}
			}
			if v, ok := rdpTerms(terms, 3); ok && slackOf(terms) == 0 && !math.IsInf(v, 1) {
				t.Errorf("%s: the divergence is %v, want no bound", where, v)
			}
			if p, err := (Reduced{[][]term{terms}, AddOrRemoveOne, nil}).Price(context.Background(),
				Budget{Delta: 1e-5}, 3, false); err == nil && !math.IsInf(p.Upper, 1) {
				t.Errorf("%s: a filter's ε is in %+v, want no bound", where, p)
			}
		}
	}
}
