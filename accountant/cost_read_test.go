package accountant

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestReductionsAreBounded checks that the work of a reduction is counted, and that an event whose
// text is a fraction of a megabyte is refused once it takes too many steps. Each step takes about a
// microsecond; without the bound some events took many seconds.
func TestReductionsAreBounded(t *testing.T) {
	list := func(n int, f func(int) Event) (list []Event) {
		for i := range n {
			list = append(list, f(i))
		}
		return list
	}
	laplaces := func(i int) Event { return Repeated{Laplace{Scale: 1e6}, 1 + i} }
	mixed := func(n int) func(int) Event { // so no part costs less than another one
		return func(i int) Event {
			return Composed{[]Event{Repeated{Laplace{Scale: 1e6}, 1 + i},
				Repeated{Pure{Epsilon: 1e-6}, n - i}}}
		}
	}
	truncated := func(i int) Event {
		return TruncatedPoisson{NoiseMultiplier: 9, Probability: .5, Population: int(1e9) + i,
			MaxBatch: 5e8}
	}
	tuned := func(i int) Event {
		e := Event(Laplace{Scale: 1e6 + float64(i)})
		for range 6 {
			e = RepeatAndSelect{Event: e, Mean: 2, Shape: 1}
		}
		return e
	}
	best := func(e Event) Event { return RepeatAndSelect{Event: e, Mean: 2, Poisson: true} }
	bestOfTwo := func(i int) Event {
		return best(best(PoissonSampled{0.01 + float64(i)*1e-6, Gaussian{1}}))
	}
	bestOfFive := func(i int) Event { return best(best(best(bestOfTwo(i)))) }
	equal := func(int) Event { return bestOfTwo(0) }
	bestTruncated := func(i int) Event {
		return RepeatAndSelect{Event: truncated(i), Mean: 2, Shape: 1}
	}
	noise := func(i int) Event {
		return PoissonSampled{Probability: .5,
			Event: DiscreteLaplace{A: 1e-9 * float64(1+i), Sensitivity: 1 << 17}}
	}
	common := func(parts, n int) Event {
		return Disjoint{Parts: list(parts, func(i int) Event {
			return Composed{append(list(n, func(k int) Event { return Pure{1e-6 + float64(k)*1e-12} }),
				Pure{1e-5 + float64(i)*1e-12})}
		})}
	}
	deep := func(n int, e Event) Event {
		for range n {
			e = Disjoint{Parts: []Event{e, Laplace{1e6}}}
		}
		return e
	}
	oneOf := func(n int, e Event) Event {
		for range n {
			e = OneOf{[]Event{e, Laplace{1e6}}}
		}
		return e
	}
	mixture := GaussianMixture{NoiseMultiplier: 1e6}
	for k := range 20_000 {
		mixture.Sensitivities = append(mixture.Sensitivities, float64(k+1)/20_000)
		mixture.Probabilities = append(mixture.Probabilities, 1./20_000)
	}
	sparse := func(i int) Event { return SparseHistogram{20 + float64(i), 2e5, 64} }
	group := func(i int) Event { return Disjoint{Parts: list(20+i, mixed(70))} }
	const add, replace = AddOrRemoveOne, ReplaceOne
	for name, c := range map[string]struct {
		event   Event
		r       Relation
		room    int // steps that are left; a reduction that ends takes at least half of them
		reduced bool
		priced  bool
	}{
		"truncated samples":    {Composed{list(2000, truncated)}, add, 9000, true, false},
		"parts":                {Disjoint{Parts: list(60, laplaces)}, replace, 1 << 17, true, true},
		"parts of parts":       {Disjoint{Parts: list(250, mixed(250))}, replace, 1 << 20, false, false},
		"many groups of parts": {Composed{list(50, group)}, replace, 1 << 20, false, false},
		"choices":              {OneOf{list(5000, mixed(5000))}, add, 1 << 20, false, false},
		"selections":           {Composed{list(500, tuned)}, add, 1 << 20, false, false},
		"best of samples":      {Composed{list(1500, bestOfTwo)}, add, 1 << 17, false, false},
		"best of five":         {Composed{list(100, bestOfFive)}, add, 1 << 17, false, false},
		"best of truncated":    {Composed{list(1000, bestTruncated)}, add, 1 << 17, false, false},
		"equal selections":     {Repeated{Composed{list(900, equal)}, 1}, replace, 31e3, true, true},
		"common events":        {common(25, 300), replace, 1 << 17, false, false},
		"common and deep":      {deep(14, common(2, 4500)), replace, 1 << 17, false, false},
		"a deep mixture":       {oneOf(20, mixture), add, 1 << 17, false, false},
		"deep histograms":      {oneOf(4, Composed{list(2000, sparse)}), add, 1 << 18, true, false},
		"discrete noise":       {Composed{list(4000, noise)}, add, 1 << 17, false, false},
	} {
		w := newWork()
		w.steps = mostSteps - c.room
		lists, err := (&collector{work: w}).reduce(c.event, c.r)
		if taken := w.steps + c.room - mostSteps; (err == nil) != c.reduced || c.reduced &&
			taken < c.room/2 {
			t.Errorf("%s: %d steps of %d, %v", name, taken, c.room, err)
		}
		if err == nil {
			err = Reduced{lists: lists, relation: c.r}.CheckWork("event")
		}
		if (err == nil) != c.priced {
			t.Errorf("%s: priced with %v", name, err)
		}
	}
}

// TestTailsAreComputedWhenNeeded: the tails of cut samples take long. They are no steps of a
// reduction, so it must not compute them: two thousand samples are reduced in less than the time of
// a hundred tails.
func TestTailsAreComputedWhenNeeded(t *testing.T) {
	skipSmallInts(t)
	var all Composed
	for i := range 2000 {
		all.Events = append(all.Events, TruncatedPoisson{NoiseMultiplier: 9, Probability: .5,
			Population: bit(38) + i, MaxBatch: bit(37)})
	}
	start := processorTime()
	terms := must[[][]term](t)(reduce(all, AddOrRemoveOne))[0]
	took := processorTime() - start
	start = processorTime()
	terms[0].atom.(truncAtom).tails()
	if one := processorTime() - start; len(terms) != 2000 || took > 100*one {
		t.Errorf("%d samples are reduced in %v, and the tails of one take %v", len(terms), took, one)
	}
}

// TestLongNestedTextsAreRefused: the text of an event is read at every depth again.
func TestLongNestedTextsAreRefused(t *testing.T) {
	for depth, good := range map[int]bool{1: true, 28: false} {
		text := strings.Repeat(`{"kind":"composed","events":[`, depth) +
			strings.Repeat(`{"kind":"gaussian","noise_multiplier":1},`, 12_000)
		text = text[:len(text)-1] + strings.Repeat(`]}`, depth)
		e, err := UnmarshalEvent([]byte(text))
		if (err == nil) != good {
			t.Errorf("%d deep: %v", depth, err)
		}
		if err == nil {
			for range 27 {
				e = Composed{[]Event{e}}
			}
			if _, _, err := Own(e); err == nil {
				t.Error("an event is accepted whose text cannot be read")
			}
		}
	}
}

// busy returns the time that twenty million multiplications take now.
func busy() time.Duration {
	start, x := processorTime(), uint64(1)
	for range 20_000_000 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return max(processorTime()-start, time.Duration(1+x%2)) // x is used, or the loop would be left out
}

// TestLargeEffectsTakeLittleTime: the divergence of a sample of an effect of 400 was the sum of a
// million points, so that two kilobytes of text took 90 units of time to price.
func TestLargeEffectsTakeLittleTime(t *testing.T) {
	var all Composed
	for i := range 32 {
		all.Events = append(all.Events, SampledSum{.01 + 1e-4*float64(i), 1. / 400})
	}
	best := time.Duration(math.MaxInt64) // others may hold up one of several runs
	for try := 0; try < 3 && best > 45; try++ {
		prices.forget()
		unit, start := busy(), processorTime()
		b := must[Bound](t)(Epsilon(all, 1e-5, AddOrRemoveOne))
		best = min(best, (processorTime()-start)/unit)
		if whole := float64(32 * 400 * 400 / 2); b.Upper < .9*whole || b.Upper > 1.1*whole {
			t.Fatalf("ε is %v, want about the loss of the mean, %v", b, whole)
		}
	}
	if best > 45 {
		t.Errorf("priced in %d units of twenty million multiplications", best)
	}
}

// TestLowerEndsOfListsAreQuick checks that the lower end of an event with a choice, within the
// bounds of files, needs no prices of the choice's lists if these take long. If each list had its
// own three prices, with all releases that follow, the time would be eight times as long.
func TestLowerEndsOfListsAreQuick(t *testing.T) {
	var all, parts []Event
	for i := range 5 {
		all = append(all, RandomAllocation{Steps: 60 - 7*i, NoiseMultiplier: 1 + float64(i)/3})
		parts = append(parts, DiscreteLaplace{A: 1 + float64(i), Sensitivity: 2})
	}
	all = append(all, OneOf{[]Event{Pure{0.55}, Gaussian{2.4}, Laplace{3.5}}},
		Repeated{SampledSum{0.0065, 0.35}, 1 << 28}, Repeated{SampledSum{0.065, 1.2}, 1000},
		Disjoint{Parts: parts[:3], Fixed: true})
	reduced, err := Reduce(Composed{all}, AddOrRemoveOne)
	if err == nil {
		err = reduced.CheckWork("event")
	}
	if err != nil {
		t.Fatal(err)
	}
	prices.forget()
	if _, err := reduced.Price(t.Context(), Budget{Epsilon: 1, Delta: 1e-5}, 0, true); err != nil {
		t.Fatal(err)
	}
	if n := len(prices.recent); n != len(reduced.lists) {
		t.Errorf("%d prices are kept, want one of each of %d lists", n, len(reduced.lists))
	}
	prices.forget()
	few := must[Reduced](t)(Reduce(Composed{all[5:6]}, AddOrRemoveOne))
	few.lists[0] = append(few.lists[0], term{laplaceAtom{9}, 1})
	if _, err := few.Price(t.Context(), Budget{Epsilon: 1, Delta: 1e-5}, 0, true); err != nil {
		t.Fatal(err)
	}
	if n := len(prices.recent); n < 4 {
		t.Errorf("%d prices are kept of an event whose lists are priced quickly", n)
	}
}
