package accountant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestPartsOfAJournalAreBounded checks the number of children that lines open together, in a
// request and in a journal that is read.
func TestPartsOfAJournalAreBounded(t *testing.T) {
	j := &listed{}
	l := created(t, j)
	run := Transaction{ID: "run", Groups: []Parts{{Purpose: "a", N: 9}, {Purpose: "b", N: 9}},
		Lines: []Line{{Purpose: "run", Event: journalEvent, Count: 2}}}
	if _, err := l.ReserveAll(run); err != nil {
		t.Fatal(err)
	}
	many := run
	many.ID = "many"
	many.Groups = []Parts{{Purpose: "a", N: maxParts / 2}, {Purpose: "b", N: maxParts / 2}}
	if _, err := l.ReserveAll(many); err == nil {
		t.Error("a transaction opens too many parts")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	refuses(t, rechained(j.lines, func(_ int, b []byte) []byte {
		return []byte(strings.ReplaceAll(string(b), `"n":9`, fmt.Sprintf(`"n":%d`, maxParts)))
	}), ErrDamaged)
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
		t.Errorf("reading takes %d MB", mb)
	}
}

// TestCostlyPricesAreRefused checks that a transaction, or a single reservation, of many events
// that each take a long time to price is refused before it is priced under the ledger's lock, and
// that a guarantee of them is not priced.
func TestCostlyPricesAreRefused(t *testing.T) {
	l := created(t, &listed{})
	free := NewLedger(Budget{Epsilon: 8, Delta: 1e-6})
	var run Transaction
	for i := range mostCostly + 1 {
		e := PoissonSampled{Event: Laplace{Scale: 9 + float64(i)}, Probability: 1e-7}
		if err := free.Spend("p", e); (err != nil) != (i == mostCostly) {
			t.Errorf("a memory ledger, event %d: %v", i, err)
		}
		run.Lines = append(run.Lines, Line{Purpose: "p", Event: e, Count: 1})
		if i == mostCostly-1 {
			text, err := json.Marshal(free.Guarantee())
			if err := json.Unmarshal(text, new(Guarantee)); err != nil {
				t.Error(err)
			}
			if _, err2 := l.ReserveAll(run); err != nil || err2 != nil {
				t.Error(err, err2)
			}
		}
	}
	if _, err := l.ReserveAll(run); err == nil || !strings.Contains(err.Error(), "Lines") {
		t.Errorf("a costly transaction: %v", err)
	}
	g := free.Guarantee()
	costly := g.Entries[0]
	costly.Event = bytes.Replace(costly.Event, []byte(`"scale":9`), []byte(`"scale":8`), 1)
	g.Entries = append(g.Entries, costly)
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	err = json.Unmarshal(text, new(Guarantee))
	if err == nil || !strings.Contains(err.Error(), "entries") {
		t.Errorf("a costly guarantee: %v", err)
	}
}

// TestPaidGuaranteesCanBeRead checks that a transaction is refused if the guarantee of the ledger
// could not be read after it, and that one of the largest guarantees is priced in a few seconds.
func TestPaidGuaranteesCanBeRead(t *testing.T) {
	l := NewLedger(Budget{Epsilon: 8, Delta: 1e-6})
	paid := 0
	for i := range mostCostly + 3 {
		e := PoissonSampled{Event: Laplace{Scale: 99 + float64(i)}, Probability: 1e-7}
		one := Transaction{Lines: []Line{{Purpose: "p", Event: e, Count: 1}}}
		if _, err := l.ReserveAll(one); err == nil {
			paid++
		}
	}
	text, err := json.Marshal(l.Guarantee())
	if err := errors.Join(err, json.Unmarshal(text, new(Guarantee))); err != nil {
		t.Fatal(err)
	}
	if paid != mostCostly {
		t.Errorf("%d transactions are paid for, want %d", paid, mostCostly)
	}
	for _, fixed := range []bool{false, true} { // few events, in many parts, take long to compose
		many := Transaction{Groups: []Parts{{Purpose: "a", N: 36, Fixed: fixed}}}
		for i := range 36 * 36 {
			e := PoissonSampled{Event: Laplace{Scale: 99 + float64(i%36)}, Probability: 1e-7}
			line := Line{Purpose: "p", Event: e, Count: 1, Group: 1, Part: i / 36}
			if i/36 == i%36 { // so no part costs less than another one
				line.Count = 2
			}
			many.Lines = append(many.Lines, line)
		}
		if _, err := NewLedger(l.Budget()).ReserveAll(many); err == nil {
			t.Error("a transaction of many compositions is paid for")
		}
	}
}

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
	start := time.Now()
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
	if took := time.Since(start); took > 20*time.Second { // 400 million pairs take minutes
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
	twice := func(n int) func(int) Event { // so no part costs less than another one
		return func(i int) Event { return Composed{append(list(n, sampled), sampled(i))} }
	}
	for name, c := range map[string]struct {
		event  Event
		priced bool
	}{
		"releases":              {Composed{list(32, sampled)}, true},
		"more releases":         {Composed{list(33, sampled)}, false},
		"selections":            {Composed{list(32, tuned)}, true},
		"a selection":           {RepeatAndSelect{Event: Composed{list(4, sampled)}, Mean: 9}, true},
		"a selection of many":   {RepeatAndSelect{Event: Composed{list(31, sampled)}, Mean: 9}, false},
		"selections of few":     {Composed{list(32, twiceTuned)}, false},
		"mixtures":              {Composed{list(32, mixture(16))}, true},
		"large sensitivities":   {Composed{list(4, of131072)}, false},
		"samples of many rows":  {Composed{list(4, ofTera)}, true},
		"samples of too many":   {Composed{list(8, ofTera)}, false},
		"mixtures of many":      {Composed{list(32, mixture(64))}, false},
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
