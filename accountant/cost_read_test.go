package accountant

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
)

func nested(n int) Event {
	e := Event(Pure{Epsilon: 1e-9})
	for range n {
		e = Composed{[]Event{e}}
	}
	return e
}

func curveOf(points int) Event {
	c := Curve{Name: "steps"}
	for i := range points {
		c.Epsilons = append(c.Epsilons, float64(i)/float64(points))
		c.Deltas = append(c.Deltas, 1e-9*float64(points-1-i)/float64(points))
	}
	return c
}

// TestPaidEventsFitInFiles checks that an event is refused before it is paid for if its text is too
// long, or too deeply nested, for a file with the guarantee in it.
func TestPaidEventsFitInFiles(t *testing.T) {
	type entries = map[string]Event
	many := func(n int, f func(int) Event) entries {
		out := entries{}
		for i := range n {
			out[fmt.Sprint("p", i)] = f(i)
		}
		return out
	}
	batch := func(i int) Event { return SameBatch{[]float64{1e6, 2e6, 3e6, 4e6, 5e6, 6e6}} }
	for name, c := range map[string]struct {
		paid entries
		fits bool
	}{
		"a curve":             {entries{"p": curveOf(20_000)}, true},
		"a curve of more":     {entries{"p": curveOf(60_000)}, false},
		"nested events":       {entries{"p": nested(20)}, true},
		"more nested events":  {entries{"p": nested(30)}, false},
		"batches":             {many(3_000, batch), true},
		"more batches":        {many(8_000, batch), false},
		"a curve and batches": {entries{"p": curveOf(40_000), "q": curveOf(39_999)}, false},
	} {
		var run Transaction
		for purpose, e := range c.paid {
			run.Lines = append(run.Lines, Line{Purpose: purpose, Event: e, Count: 1})
		}
		l := NewLedger(Budget{Epsilon: 8, Delta: 1e-5})
		_, err := l.ReserveAll(run)
		if bad := new(param.Error); (err == nil) != c.fits || err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			header := map[string]any{"content": map[string]any{"guarantee": l.Guarantee()}}
			text, err := json.Marshal(header)
			if err := errors.Join(err, param.Limits{}.Check(text)); err != nil {
				t.Errorf("%s: a file: %v", name, err)
			}
		}
		if len(c.paid) == 1 { // a single reservation is checked, too
			if err := NewLedger(l.Budget()).Spend("p", c.paid["p"]); (err == nil) != c.fits {
				t.Errorf("%s, spent: %v", name, err)
			}
		}
	}
}

// TestReductionsAreBounded checks that events whose text is a fraction of a megabyte are reduced,
// or refused, in little time. Each takes less than half a second. Without bounds on the steps, or
// with tails that are computed at every mention, some took ten times the limit.
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
	group := func(i int) Event { return Disjoint{Parts: list(20+i, mixed(70))} }
	for name, c := range map[string]struct {
		event Event
		r     Relation
	}{
		"truncated samples":    {Composed{list(2000, truncated)}, AddOrRemoveOne},
		"parts":                {Disjoint{Parts: list(150, laplaces)}, ReplaceOne},
		"parts of parts":       {Disjoint{Parts: list(250, mixed(250))}, ReplaceOne},
		"many groups of parts": {Composed{list(50, group)}, ReplaceOne},
		"choices":              {OneOf{list(5000, mixed(5000))}, AddOrRemoveOne},
		"selections":           {Composed{list(500, tuned)}, AddOrRemoveOne},
		"best of samples":      {Composed{list(500, bestOfTwo)}, AddOrRemoveOne},
		"best of five":         {Composed{list(100, bestOfFive)}, AddOrRemoveOne},
		"best of truncated":    {Composed{list(1000, bestTruncated)}, AddOrRemoveOne},
		"equal selections":     {Repeated{Composed{list(5000, equal)}, 1}, ReplaceOne},
		"common events":        {common(25, 300), ReplaceOne},
		"common and deep":      {deep(14, common(2, 4500)), ReplaceOne},
		"a deep mixture":       {oneOf(20, mixture), AddOrRemoveOne},
		"discrete noise":       {Composed{list(1000, noise)}, AddOrRemoveOne},
	} {
		start := time.Now()
		reduced, err := Reduce(c.event, c.r)
		if err == nil {
			err = reduced.CheckWork("event")
		}
		if (err == nil) != (name == "parts" || name == "equal selections") {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: reduced in %v", name, took)
		}
	}
}
