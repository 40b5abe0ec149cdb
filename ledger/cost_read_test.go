package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

func nested(n int) accountant.Event {
	e := accountant.Event(accountant.Pure{Epsilon: 1e-9})
	for range n {
		e = accountant.Composed{Events: []accountant.Event{e}}
	}
	return e
}

func curveOf(points int) accountant.Event {
	c := accountant.Curve{Name: "steps"}
	for i := range points {
		c.Epsilons = append(c.Epsilons, float64(i)/float64(points))
		c.Deltas = append(c.Deltas, 1e-9*float64(points-1-i)/float64(points))
	}
	return c
}

// TestPaidEventsFitInFiles checks that an event is refused before it is paid for if its text is too
// long, or too deeply nested, for a file with the guarantee in it.
func TestPaidEventsFitInFiles(t *testing.T) {
	type entries = map[string]accountant.Event
	many := func(n int, f func(int) accountant.Event) entries {
		out := entries{}
		for i := range n {
			out[fmt.Sprint("p", i)] = f(i)
		}
		return out
	}
	batch := func(i int) accountant.Event {
		return accountant.SameBatch{NoiseMultipliers: []float64{1e6, 2e6, 3e6, 4e6, 5e6, 6e6}}
	}
	for name, c := range map[string]struct {
		paid entries
		fits bool
	}{
		"a curve":             {entries{"p": curveOf(20_000)}, true},
		"a curve of more":     {entries{"p": curveOf(150_000)}, false},
		"nested events":       {entries{"p": nested(20)}, true},
		"more nested events":  {entries{"p": nested(30)}, false},
		"batches":             {many(3_000, batch), true},
		"more batches":        {many(14_000, batch), false},
		"a curve and batches": {entries{"p": curveOf(80_000), "q": curveOf(79_999)}, false},
	} {
		var run Transaction
		for purpose, e := range c.paid {
			run.Lines = append(run.Lines, Line{Purpose: purpose, Event: e, Count: 1})
		}
		l := New(accountant.Budget{Epsilon: 8, Delta: 1e-5})
		_, err := l.ReserveAll(run)
		if bad := new(param.Error); (err == nil) != c.fits || err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			header := map[string]any{"content": map[string]any{"guarantee": l.Guarantee()}}
			text, err := json.Marshal(header)
			if err := errors.Join(err, param.Limits{Values: mostReadAll}.Check(text)); err != nil {
				t.Errorf("%s: a file: %v", name, err)
			}
		}
		if len(c.paid) == 1 { // a single reservation is checked, too
			if err := New(l.Budget()).Spend("p", c.paid["p"]); (err == nil) != c.fits {
				t.Errorf("%s, spent: %v", name, err)
			}
		}
	}
}

// TestManySamplesAreReadQuickly: the ε of a text that holds many samples in few bytes is found
// without the running sum. It is then larger than the one that was published. Otherwise it is the
// same.
func TestManySamplesAreReadQuickly(t *testing.T) {
	for name, c := range map[string]struct {
		samples, events int
		same            bool
	}{
		"as many as are quick": {fewSamples, 1, true},
		"more in one event":    {fewSamples + 16, 1, false},
		"more in many entries": {fewSamples + 16, fewSamples + 16, true},
	} {
		var lines []Line
		for k := range c.events {
			var parts []accountant.Event
			for i := k * c.samples / c.events; i < (k+1)*c.samples/c.events; i++ {
				parts = append(parts, accountant.SampledSum{Probability: 1e-3 + 1e-6*float64(i),
					NoiseMultiplier: 0.5 + 1e-5*float64(i)})
			}
			lines = append(lines, Line{Purpose: fmt.Sprint(k), Count: 10,
				Event: accountant.Composed{Events: parts}})
		}
		l := New(accountant.Budget{Epsilon: 100, Delta: 1e-6})
		if _, err := l.ReserveAll(Transaction{Lines: lines}); err != nil {
			t.Fatal(name, err)
		}
		var read Guarantee
		if err := json.Unmarshal(must[[]byte](t)(json.Marshal(l.Guarantee())), &read); err != nil {
			t.Fatal(name, err)
		}
		if e := l.Epsilon().Upper; !(read.Epsilon >= e && read.Epsilon < 2*e) ||
			(read.Epsilon == e) != c.same {
			t.Errorf("%s: ε = %v is read as %v", name, e, read.Epsilon)
		}
	}
}
