package accountant

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// variedEvents has one event of every type, from which altered makes others.
var variedEvents = []Event{Gaussian{1}, SameBatch{[]float64{1, 2}}, Laplace{1},
	DiscreteLaplace{1, 2}, DiscreteGaussian{4, 2}, ExponentialMechanism{1, false},
	RandomizedResponse{0.5, 4}, Pure{1},
	Approximate{1, 1e-3}, ZCDP{0.1}, GaussianMixture{1, []float64{1, 2}, []float64{0.5, 0.5}},
	Curve{"one", []float64{-1, 0, 1}, []float64{0.8, 0.3, 0.1}, []float64{0.9, 0.4, 0.2}},
	SparseHistogram{2, 4, 2}, PoissonSampled{0.25, Laplace{1}}, SampledSum{0.25, 1},
	BandedSum{0.25, 1, []float64{1, 0.5}}, RandomAllocation{8, 1, 2, false},
	SampledWithoutReplacement{8, 2, Gaussian{1}}, TruncatedPoisson{0.25, 40, 10, 1},
	RepeatAndSelect{Laplace{4}, 4, 0.5, false}, Repeated{Laplace{1}, 2},
	Composed{[]Event{Laplace{1}, Gaussian{2}}}, OneOf{[]Event{Laplace{1}, Laplace{2}}},
	Disjoint{[]Event{Gaussian{4}, Gaussian{4}}, []Event{Laplace{1}, PoissonSampled{0.25, Gaussian{1}}},
		false}}

// altered returns the event with one field changed, for every field in several ways.
func altered(e Event) (list []Event) {
	from := reflect.ValueOf(e)
	for i := range from.NumField() {
		var values []any
		switch v := from.Field(i).Interface().(type) {
		case float64:
			values = []any{v / 2, 2 * v}
		case int:
			values = []any{v / 2, v + 1, 2 * v}
		case bool:
			values = []any{!v}
		case []float64:
			if len(v) > 0 {
				values = []any{v[:len(v)-1], append(slices.Clone(v[:len(v)-1]), v[len(v)-1]/2)}
			}
		case Event:
			values = []any{Gaussian{1}, Laplace{2}, DiscreteLaplace{2, 1}}
		case []Event:
			values = []any{[]Event{Laplace{2}}, []Event{Laplace{2}, PoissonSampled{0.5, Gaussian{1}}}}
		}
		for _, v := range values {
			to := reflect.New(from.Type()).Elem()
			to.Set(from)
			to.Field(i).Set(reflect.ValueOf(v))
			if e := to.Interface().(Event); e.check() == nil {
				list = append(list, e)
			}
		}
	}
	return list
}

// TestKeysTellPricesApart: terms of one key, by which prices and uses are remembered, have one
// price, whatever their event and relation, also at the lower end.
func TestKeysTellPricesApart(t *testing.T) {
	prices, from, kinds := map[string]string{}, map[string]string{}, map[reflect.Type]bool{}
	for _, first := range variedEvents {
		kinds[reflect.TypeOf(first)] = true
		list := append([]Event{first}, altered(first)...)
		for _, e := range list[1:] {
			list = append(list, altered(e)...)
		}
		seen := map[string]bool{}
		for _, e := range list {
			for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
				alts, err := reduce(e, r)
				if name := fmt.Sprintf("%s %+v", r, e); err == nil && !seen[name] {
					seen[name] = true
					for _, a := range slices.Concat(alts...) {
						key, price := a.atom.key(), fingerprint(a.atom)
						if old, known := prices[key]; known && old != price {
							t.Errorf("%q is the key of %s, %s and of %s, %s", key, from[key], old, name, price)
						}
						prices[key], from[key] = price, name
					}
				}
			}
		}
	}
	for _, e := range eventTypes {
		if !kinds[reflect.TypeOf(e)] {
			t.Errorf("no event of kind %s is varied", e.kind())
		}
	}
}

// fingerprint returns numbers that depend on all that decides a price.
func fingerprint(a atom) string {
	v, ok := a.rdp(4)
	eps, delta := ownOf(a)
	s := fmt.Sprintf("%.9g %t %.9g %.9g %.9g", v, ok, eps, delta, a.slack())
	if p := a.pairs(); p != nil {
		one := pld.NewSingle(p, true)
		for _, at := range []float64{0.05, 0.5, 2} {
			lower, upper := one.Delta(at)
			s += fmt.Sprintf(" %.9g–%.9g", lower, upper)
		}
		s += fmt.Sprint(" ", one.Exact())
	}
	return s
}

// everyAtom calls f with the atoms of all varied events under both relations.
func everyAtom(f func(name string, a atom)) {
	for _, first := range variedEvents {
		for _, e := range append([]Event{first}, altered(first)...) {
			for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
				if alts, err := reduce(e, r); err == nil {
					for _, t := range slices.Concat(alts...) {
						f(fmt.Sprintf("%s %+v", r, e), t.atom)
					}
				}
			}
		}
	}
}

// TestOwnLossesBoundTheCurves: beyond the ε that an atom states as its own, its curve is at most
// the δ that it states, and so is that of each direction; what has no such ε states none.
func TestOwnLossesBoundTheCurves(t *testing.T) {
	everyAtom(func(name string, a atom) {
		for _, a := range []atom{a, oneWayAtom{a, false}, oneWayAtom{a, true},
			worstAtom{[][]term{{{a, 1}}, {{gaussianAtom{1e-9}, 1}}}}} {
			eps, delta := ownOf(a)
			p := a.pairs()
			if _, selection := a.(selectAtom); p == nil && !selection {
				continue
			}
			if s, ok := a.(selectAtom); ok && s.poisson && !math.IsInf(eps, 1) {
				t.Errorf("%s: a Poisson number of runs has its own ε = %g", name, eps)
			}
			if p == nil || math.IsInf(eps, 1) {
				continue
			}
			if _, most := pld.NewSingle(p, false).Delta(eps * (1 + 1e-9)); most > delta+1e-9 {
				t.Errorf("%s: %s states δ = %g at ε = %g, where the curve is %g", name, a.key(), delta, eps, most)
			}
		}
	})
}

// TestOneWayKeepsWhatItWraps: one direction of an atom is its curve in that direction, with its δ
// and with its lower end, if it has one.
func TestOneWayKeepsWhatItWraps(t *testing.T) {
	everyAtom(func(name string, a atom) {
		p := a.pairs()
		for _, add := range []bool{false, true} {
			one := oneWayAtom{a, add}
			if one.slack() != a.slack() {
				t.Errorf("%s, adding %v: δ of %g, want %g", name, add, one.slack(), a.slack())
			}
			q := one.pairs()
			if p == nil {
				if q != nil {
					t.Errorf("%s, adding %v: a curve of nothing", name, add)
				}
				continue
			}
			want := *p
			if want.Add, want.Under = nil, nil; add && p.Add != nil {
				want.Remove = p.Add
			}
			if q.Loose != p.Loose || q.Envelope != p.Envelope || q.Under != nil {
				t.Errorf("%s, adding %v: bounds %v %v, want %v %v", name, add, q.Loose, q.Envelope, p.Loose,
					p.Envelope)
			}
			for _, eps := range []float64{0, 0.3, 1.7} {
				_, got := pld.NewSingle(q, false).Delta(eps)
				if _, most := pld.NewSingle(&want, false).Delta(eps); got != most {
					t.Errorf("%s, adding %v: δ(%g) = %g, want %g", name, add, eps, got, most)
				}
			}
		}
	})
}
