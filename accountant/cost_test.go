package accountant

import (
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

// TestCostlyPricesAreRefused checks that a transaction of many events that each take a long time to
// price is refused before it is priced under the ledger's lock, and that a guarantee of them is not
// priced.
func TestCostlyPricesAreRefused(t *testing.T) {
	l := created(t, &listed{})
	free := NewLedger(Budget{Epsilon: 8, Delta: 1e-6})
	var run Transaction
	for i := range mostCostly + 1 {
		e := PoissonSampled{Event: Laplace{Scale: 9 + float64(i)}, Probability: 1e-7}
		if err := free.Spend("p", e); err != nil {
			t.Fatal(err)
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
	text, err := json.Marshal(free.Guarantee())
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
