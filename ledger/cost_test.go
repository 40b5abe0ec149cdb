package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
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
	free := New(accountant.Budget{Epsilon: 8, Delta: 1e-6})
	var run Transaction
	for i := range 32 + 1 {
		e := accountant.PoissonSampled{
			Event:       accountant.Laplace{Scale: 9 + float64(i)},
			Probability: 1e-7,
		}
		if err := free.Spend("p", e); (err != nil) != (i == 32) {
			t.Errorf("a memory ledger, event %d: %v", i, err)
		}
		run.Lines = append(run.Lines, Line{Purpose: "p", Event: e, Count: 1})
		if i == 32-1 {
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
	l := New(accountant.Budget{Epsilon: 8, Delta: 1e-6})
	paid := 0
	for i := range 32 + 3 {
		e := accountant.PoissonSampled{
			Event:       accountant.Laplace{Scale: 99 + float64(i)},
			Probability: 1e-7,
		}
		one := Transaction{Lines: []Line{{Purpose: "p", Event: e, Count: 1}}}
		if _, err := l.ReserveAll(one); err == nil {
			paid++
		}
	}
	text, err := json.Marshal(l.Guarantee())
	if err := errors.Join(err, json.Unmarshal(text, new(Guarantee))); err != nil {
		t.Fatal(err)
	}
	if paid != 32 {
		t.Errorf("%d transactions are paid for, want %d", paid, 32)
	}
	for _, fixed := range []bool{false, true} { // few events, in many parts, take long to compose
		many := Transaction{Groups: []Parts{{Purpose: "a", N: 36, Fixed: fixed}}}
		for i := range 36 * 36 {
			e := accountant.PoissonSampled{
				Event:       accountant.Laplace{Scale: 99 + float64(i%36)},
				Probability: 1e-7,
			}
			line := Line{Purpose: "p", Event: e, Count: 1, Group: 1, Part: i / 36}
			if i/36 == i%36 { // so no part costs less than another one
				line.Count = 2
			}
			many.Lines = append(many.Lines, line)
		}
		if _, err := New(l.Budget()).ReserveAll(many); err == nil {
			t.Error("a transaction of many compositions is paid for")
		}
	}
}

// TestManyRunsShareALedger checks that a service can go on after its thirty-second run with
// settings of its own, and that its guarantee can be read.
func TestManyRunsShareALedger(t *testing.T) {
	const runs = 100
	l := New(accountant.Budget{Epsilon: 8, Delta: 1e-6})
	var all []accountant.Event
	for i := range runs {
		e := accountant.Repeated{Count: 500, Event: accountant.PoissonSampled{
			Probability: .002 + 1e-5*float64(i),
			Event:       accountant.Gaussian{NoiseMultiplier: 2 + .01*float64(i)},
		}}
		if all = append(all, e); i < 30 || i%10 == 9 { // the others are left to one transaction
			one := Transaction{Lines: []Line{{Purpose: "run", Event: e, Count: 1}}}
			if _, err := l.ReserveAll(one); err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
		}
	}
	var rest Transaction
	for i, e := range all {
		if i >= 30 && i%10 != 9 {
			rest.Lines = append(rest.Lines, Line{Purpose: "run", Event: e, Count: 1})
		}
	}
	if _, err := l.ReserveAll(rest); err != nil {
		t.Fatal(err)
	}
	exact, err := accountant.Epsilon(accountant.Composed{Events: all}, 1e-6, l.Relation())
	if err != nil {
		t.Fatal(err)
	}
	g := l.Guarantee()
	if !(g.Epsilon >= exact.Lower && g.Epsilon <= 1.1*exact.Upper) {
		t.Errorf("the guarantee states ε = %v, which is %v", g.Epsilon, exact)
	}
	text, err := json.Marshal(g)
	read := new(Guarantee)
	if err := errors.Join(err, json.Unmarshal(text, read)); err != nil || read.Epsilon != g.Epsilon {
		t.Errorf("read: %v, %v; want ε = %v", read.Epsilon, err, g.Epsilon)
	}
	honest := g.Epsilon
	g.Epsilon = .01 // which the entries disprove
	text, err = json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, read); err == nil && read.Epsilon != honest {
		t.Errorf("a guarantee that states ε = .01 is read as ε = %v, want %v", read.Epsilon, honest)
	}
}
