package accountant

import (
	"fmt"
	"strings"
	"testing"
)

// TestRememberedPricesAreThoseOfTheQuestion requests prices twice, with one argument changed at a
// time. Cached prices equal computed prices.
func TestRememberedPricesAreThoseOfTheQuestion(t *testing.T) {
	type question struct {
		steps int
		sigma float64
		delta float64
		r     Relation
		lower bool
	}
	ask := func(q question) string {
		alts := must[[][]term](t)(reduce(poissonSteps(0.01, q.sigma, q.steps), q.r))
		return fmt.Sprintf("%+v", must[Price](t)(priceAll(t.Context(), alts, q.delta, q.r, q.lower)))
	}
	first := question{100, 1.1, 1e-5, AddOrRemoveOne, false}
	list := []question{first}
	for _, change := range []func(*question){
		func(q *question) { q.steps++ }, func(q *question) { q.sigma *= 1 + 1e-15 },
		func(q *question) { q.delta = 1.001e-5 }, func(q *question) { q.r = ReplaceOne },
		func(q *question) { q.lower = true }, func(q *question) { q.steps, q.lower = 7, true }} {
		q := first
		change(&q)
		list = append(list, q)
	}
	fresh := map[question]string{}
	for _, q := range list {
		prices.forget()
		fresh[q] = ask(q)
	}
	prices.forget()
	for range 2 {
		for _, q := range list {
			if got := ask(q); got != fresh[q] {
				t.Errorf("%+v costs %s after other prices were cached, want %s", q, got, fresh[q])
			}
		}
	}
	for _, i := range []int{1, 3, 4, 5} { // the change of σ may be too small to be seen
		if fresh[first] == fresh[list[i]] {
			t.Errorf("%+v has the same price as %+v", list[i], first)
		}
	}
}

// TestRememberedPricesHaveARelation: the terms of a truncated sample are alike under both
// relations, and their prices are not.
func TestRememberedPricesHaveARelation(t *testing.T) {
	e := Repeated{TruncatedPoisson{NoiseMultiplier: 1, Probability: 0.01, Population: 1000,
		MaxBatch: 30}, 5}
	prices.forget()
	one := upper(t, e, 1e-5, AddOrRemoveOne)
	two := upper(t, e, 1e-5, ReplaceOne)
	prices.forget()
	if fresh := upper(t, e, 1e-5, ReplaceOne); two != fresh || two <= one {
		t.Errorf("ε = %g under replace-one after %g under add-or-remove-one, want %g", two, one, fresh)
	}
}

// TestRememberedUsesHaveARelation: what a use adds to a running sum under one relation is not what
// it adds under the other, in the same process and for the same ε and δ.
func TestRememberedUsesHaveARelation(t *testing.T) {
	cost := func(e Event, r Relation) (float64, bool) {
		b := Budget{Epsilon: 8, Delta: 1e-5, Relation: r}
		before := must[Reduced](t)(Reduce(Gaussian{50}, r))
		all, err := Reduce(Repeated{e, 20}, r, before)
		if err != nil {
			return 0, false
		}
		p, err := all.Price(t.Context(), b, 0, true)
		return p.Upper, err == nil
	}
	events := append(allEvents(), TruncatedPoisson{Probability: 0.1, Population: 100, MaxBatch: 25,
		NoiseMultiplier: 1})
	differ := 0
	for _, e := range events {
		var fresh [2]float64
		for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
			usesOfSums.forget()
			fresh[r], _ = cost(e, r)
		}
		if fresh[0] != fresh[1] && fresh[0] > 0 && fresh[1] > 0 {
			differ++
		}
		for _, first := range []Relation{AddOrRemoveOne, ReplaceOne} {
			usesOfSums.forget()
			cost(e, first)
			if got, _ := cost(e, 1-first); got != fresh[1-first] {
				t.Errorf("%s: ε = %g under %v after a price under %v, want %g", Describe(e), got, 1-first,
					first, fresh[1-first])
			}
		}
	}
	if differ < 3 {
		t.Errorf("%d events have two prices, want several: the test shows nothing", differ)
	}
}

// TestRememberedUsesHaveAnAim: what a use adds to a running sum for one δ is not what it adds for
// another.
func TestRememberedUsesHaveAnAim(t *testing.T) {
	cost := func(eps, delta float64) string {
		before := must[Reduced](t)(Reduce(Gaussian{5}, AddOrRemoveOne))
		all := must[Reduced](t)(Reduce(poissonSteps(0.02, 1, 20), AddOrRemoveOne, before))
		b := Budget{Epsilon: eps, Delta: delta, Relation: AddOrRemoveOne}
		return fmt.Sprintf("%+v", must[Price](t)(all.Price(t.Context(), b, 0, true)))
	}
	aims := [][2]float64{{8, 1e-5}, {8, 1e-9}, {8, 1e-4}, {4, 1e-5}}
	for _, aim := range aims {
		usesOfSums.forget()
		fresh := cost(aim[0], aim[1])
		for _, other := range aims {
			usesOfSums.forget()
			cost(other[0], other[1])
			if got := cost(aim[0], aim[1]); got != fresh {
				t.Errorf("at %v after %v: %s, want %s", aim, other, got, fresh)
			}
		}
	}
}

// TestFewPricesAreRemembered: the cache stays small in a search over many plans.
func TestFewPricesAreRemembered(t *testing.T) {
	m := memo[Price]{most: 512}
	for i := range 10 * m.most {
		m.keep(fmt.Sprint(i), Price{})
		if _, ok := m.find("0"); !ok {
			t.Fatalf("a price that is requested repeatedly is dropped after %d other prices", i)
		}
	}
	if n := len(m.recent) + len(m.older); n > 2*m.most {
		t.Errorf("%d prices are kept, want at most twice as many as its generations hold", n)
	}
	long := make([]term, 65)
	for i := range long {
		long[i] = term{gaussianAtom{1}, 1}
	}
	if _, short := priceKey(long, 1e-5, AddOrRemoveOne, true); short {
		t.Error("a price of 65 terms is kept")
	}
}

// TestPartsWithForgedNames: without quotes around names, both parts would have the same key,
// because of the name of a curve in the first part. Both parts are still priced.
func TestPartsWithForgedNames(t *testing.T) {
	curve := func(name string, d float64) Curve {
		return Curve{name, []float64{0, 1, 2}, []float64{d, d / 2, 0}, nil}
	}
	strong, weak := curve("a", 0.5), curve("b", 0.001)
	for _, format := range []string{"%+v", "%s %v %v %v"} {
		text := fmt.Sprintf(format, strong)
		if format != "%+v" {
			text = fmt.Sprintf(format, strong.Name, strong.Epsilons, strong.Deltas, strong.AddDeltas)
		}
		name := strings.TrimPrefix(text, "{Name:") + ";1×curve b"
		if format == "%+v" {
			name = strings.TrimPrefix(text, "{Name:") + ";1×curve {Name:b"
		}
		forged := curve(name, 0.001)
		both := Composed{[]Event{strong, weak}}
		want := must[Bound](t)(Epsilon(both, 1e-5, AddOrRemoveOne))
		prices.forget()
		got := must[Bound](t)(Epsilon(Disjoint{Parts: []Event{forged, both}}, 1e-5, AddOrRemoveOne))
		if got.Upper < want.Upper {
			t.Errorf("two parts cost %v, but the second part alone costs %v", got, want)
		}
	}
}

// TestNamesForgeNoPrice: if the name of a curve contains the key of two other curves, its key still
// differs from their key.
func TestNamesForgeNoPrice(t *testing.T) {
	weak := Curve{"b", []float64{0, 1}, []float64{0.01, 0}, nil}
	strong := Curve{"a", []float64{0, 1, 2}, []float64{0.5, 0.4, 0}, nil}
	key := func(e Event) string {
		return termsKey(must[[][]term](t)(reduce(e, AddOrRemoveOne))[0])
	}
	both := key(Composed{[]Event{strong, weak}})
	_, rest, _ := strings.Cut(key(Curve{"", weak.Epsilons, weak.Deltas, nil}), "curve ")
	for _, end := range []string{rest, key(weak)} {
		for cut := range len(end) {
			// The name is everything before the end of the last curve.
			name, ok := strings.CutSuffix(both, end[cut:])
			if !ok {
				continue
			}
			for from := range len(name) {
				if key(Curve{name[from:], weak.Epsilons, weak.Deltas, nil}) == both {
					t.Fatalf("a curve named %q has the key of two other curves", name[from:])
				}
			}
		}
	}
}

// forget empties the cache, for benchmarks of first prices.
func (m *memo[V]) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recent, m.older = nil, nil
}
