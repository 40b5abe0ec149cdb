package accountant

import (
	"errors"
	"testing"
	"time"
)

// TestPartsThatRecordsMoveBetween checks that pricing many parts between which records move takes
// little time: many equal parts have the price of two, and many different ones are refused.
func TestPartsThatRecordsMoveBetween(t *testing.T) {
	of := func(parts, different int) Event {
		d := Disjoint{}
		for i := range parts {
			d.Parts = append(d.Parts, PoissonSampled{Probability: 0.01,
				Event: Gaussian{NoiseMultiplier: 9 + float64(i%different)}})
		}
		return d
	}
	start := processorTime()
	many, err := Epsilon(of(20_000, 1), 1e-6, ReplaceOne)
	two, err2 := Epsilon(of(2, 1), 1e-6, ReplaceOne)
	if err != nil || err2 != nil || many != two {
		t.Errorf("20,000 equal parts: %v, %v; two: %v, %v", many, err, two, err2)
	}
	for _, different := range []int{64, 2000} {
		if _, err := Epsilon(of(different, different), 1e-6, ReplaceOne); !errors.Is(err,
			ErrUnsupported) {
			t.Errorf("%d different parts: %v", different, err)
		}
	}
	var alternatives Disjoint
	for i := range 64 {
		inner := Disjoint{Fixed: true}
		for j := range 16 {
			inner.Parts = append(inner.Parts, Laplace{Scale: 50 + float64(j)})
		}
		alternatives.Parts = append(alternatives.Parts,
			Composed{[]Event{inner, Gaussian{NoiseMultiplier: 50 + float64(i)}}})
	}
	if _, err := Epsilon(alternatives, 1e-6, ReplaceOne); !errors.Is(err, ErrUnsupported) {
		t.Errorf("64 different parts of 16 alternatives: %v", err)
	}
	if took := processorTime() - start; took > 20*time.Second { // 400 million pairs take minutes
		t.Errorf("pricing took %v", took)
	}
}

// TestWorkOfAPrice checks which events a guarantee may have: those that take longer than about a
// second to price are refused, such as selections among long runs, which took minutes.
func TestWorkOfAPrice(t *testing.T) {
	skipSmallInts(t)
	list := func(n int, f func(int) Event) (list []Event) {
		for i := range n {
			list = append(list, f(i))
		}
		return list
	}
	sampled := func(i int) Event {
		return PoissonSampled{Probability: 0.01, Event: Gaussian{NoiseMultiplier: 2 + float64(i)/10}}
	}
	laplace := func(i int) Event {
		return PoissonSampled{Probability: 0.01, Event: Laplace{Scale: 2 + float64(i)/10}}
	}
	tuned := func(i int) Event {
		return RepeatAndSelect{Event: Repeated{sampled(i), 1000}, Mean: 10, Shape: 1}
	}
	twiceTuned := func(i int) Event { return RepeatAndSelect{Event: tuned(i), Mean: 9, Shape: 1} }
	gaussian := func(i int) Event { return Gaussian{NoiseMultiplier: 1 + float64(i)} }
	of131072 := func(i int) Event {
		return DiscreteLaplace{A: 1e-5 + float64(i)/1e9, Sensitivity: 1 << 17}
	}
	ofTera := func(i int) Event {
		return TruncatedPoisson{NoiseMultiplier: 9 + float64(i), Probability: .5, Population: bit(40),
			MaxBatch: bit(39)}
	}
	truncated := func(i int) Event {
		return TruncatedPoisson{NoiseMultiplier: 1 + float64(i), Probability: .01, Population: 9000,
			MaxBatch: 100}
	}
	allocated := func(i int) Event { return RandomAllocation{1000, 1 + float64(i), 0, false} }
	mixture := func(parts int) func(int) Event {
		return func(i int) Event {
			m := GaussianMixture{NoiseMultiplier: 20 + float64(i)}
			for k := range parts {
				m.Sensitivities = append(m.Sensitivities, float64(k+1))
				m.Probabilities = append(m.Probabilities, 1/float64(parts))
			}
			return m
		}
	}
	sparse := func(cells int) func(int) Event {
		return func(i int) Event { return SparseHistogram{20 + float64(i), 200, cells} }
	}
	twice := func(n int) func(int) Event { // so no part costs less than another one
		return func(i int) Event { return Composed{append(list(n, sampled), sampled(i))} }
	}
	moving := func(i int) Event { // no part covers the other one
		return Disjoint{Parts: []Event{Repeated{sampled(2 * i), 10}, Repeated{sampled(2*i + 1), 100}}}
	}
	for name, c := range map[string]struct {
		event  Event
		priced bool
	}{
		"releases":              {Composed{list(32, sampled)}, true},
		"rounded releases":      {Composed{list(1000, sampled)}, true},
		"more releases":         {Composed{list(33, laplace)}, false},
		"two moving groups":     {Composed{list(2, moving)}, true},
		"eight moving groups":   {Composed{list(8, moving)}, false},
		"selections":            {Composed{list(32, tuned)}, true},
		"a selection":           {RepeatAndSelect{Event: Composed{list(4, sampled)}, Mean: 9}, true},
		"a selection of many":   {RepeatAndSelect{Event: Composed{list(31, sampled)}, Mean: 9}, false},
		"selections of few":     {Composed{list(32, twiceTuned)}, false},
		"mixtures":              {Composed{list(32, mixture(16))}, true},
		"sparse histograms":     {Composed{list(6, sparse(16))}, true},
		"large sensitivities":   {Composed{list(4, of131072)}, false},
		"samples of many rows":  {Composed{list(4, ofTera)}, true},
		"samples of too many":   {Composed{list(8, ofTera)}, false},
		"truncated samples":     {Composed{list(16, truncated)}, true},
		"more of these":         {Composed{list(17, truncated)}, false},
		"epochs":                {Composed{list(11, allocated)}, true},
		"more epochs":           {Composed{list(12, allocated)}, false},
		"mixtures of many":      {Composed{list(32, mixture(64))}, false},
		"of many columns":       {Composed{list(2, sparse(64))}, false},
		"parts":                 {Disjoint{Parts: list(31, sampled), Fixed: true}, true},
		"parts of eleven":       {Disjoint{Parts: list(11, twice(11)), Fixed: true}, true},
		"parts of many":         {Disjoint{Parts: list(31, twice(31)), Fixed: true}, false},
		"moving parts of many":  {Disjoint{Parts: list(31, twice(31))}, false},
		"parts of a cheap kind": {Disjoint{Parts: list(300, gaussian)}, true},
	} {
		reduced, err := Reduce(c.event, AddOrRemoveOne)
		if err == nil {
			err = reduced.CheckWork("event")
		}
		if (err == nil) != c.priced {
			t.Errorf("%s: %v", name, err)
		}
	}
}
