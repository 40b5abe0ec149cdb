package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// someRun returns one of many different events that take time to price.
func someRun(i int) accountant.Event {
	return accountant.Repeated{Count: 10 + i%7, Event: accountant.PoissonSampled{
		Probability: .01 + .0001*float64(i), Event: accountant.Gaussian{NoiseMultiplier: 4}}}
}

// runningPrice returns the running price of a ledger.
func runningPrice(t *testing.T, l *Ledger) float64 {
	t.Helper()
	p, ok := l.runningCost(t.Context(), l.runningWith(l, Transaction{}, nil), true)
	if !ok {
		t.Fatal("no running price within the budget")
	}
	return p.Upper
}

// agree fails unless the running sum of a ledger is exactly that of its events, reduced anew.
func agree(t *testing.T, what string, l *Ledger) {
	t.Helper()
	fresh := New(l.Budget())
	for i, e := range l.Entries() {
		if _, err := fresh.Reserve(fmt.Sprint(i), e.Event, e.Reserved); err != nil {
			t.Fatal(what, err)
		}
	}
	if got, want := runningPrice(t, l), runningPrice(t, fresh); got != want {
		t.Errorf("%s: a running price of %v, want %v", what, got, want)
	}
}

// TestRunningSumsFollowTheLedger checks the running sum after every kind of change: reservations of
// all forms, those of another process, a snapshot in place of the lines, and a saved ledger.
func TestRunningSumsFollowTheLedger(t *testing.T) {
	s := Memory()
	l := must[*Ledger](t)(s.Create(t.Context(), "people", Terms{Budget: journalBudget}))
	other := must[*Ledger](t)(s.Open(t.Context(), "people"))
	agree(t, "nothing", l)
	for i := range 3 {
		if err := l.Spend("spent", someRun(i)); err != nil {
			t.Fatal(err)
		}
		agree(t, "spent", l)
		must[*Reservation](t)(other.Reserve("reserved", someRun(i+1), 2))
		agree(t, "reserved by another process", l)
		run := lineOf(someRun(9), 1+i)
		run.Lines = append(run.Lines, Line{Purpose: "more", Event: someRun(8), Count: 1})
		must[[]*Reservation](t)(l.ReserveAll(run))
		agree(t, "a transaction", l)
		agree(t, "a transaction of another process", other)
		if err := other.Spend("large", accountant.Gaussian{NoiseMultiplier: 20}); err != nil {
			t.Fatal(err)
		}
		if err := other.Compact(); err != nil {
			t.Fatal(err)
		}
		agree(t, "a trimmed journal", l)
		agree(t, "a reopened journal", must[*Ledger](t)(s.Open(t.Context(), "people")))
	}
	agree(t, "a saved ledger",
		must[*Ledger](t)(Unmarshal(must[[]byte](t)(json.Marshal(l)))))
}

// TestRunningSumsFillTheBudget reserves different events until the ledger refuses. What is
// published is then the running price, below the budget and above what it must be, in the ledger,
// in another one on the same journal, and in the guarantee that is read.
func TestRunningSumsFillTheBudget(t *testing.T) {
	s := Memory()
	b := accountant.Budget{Epsilon: .35, Delta: 1e-6}
	l := must[*Ledger](t)(s.Create(t.Context(), "people", Terms{Budget: b}))
	var err error
	n := 0
	for ; err == nil; n++ {
		var taken []*Reservation
		taken, err = l.ReserveAll(lineOf(someRun(n), 1))
		for _, r := range taken {
			if err := r.Spend(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !errors.Is(err, accountant.ErrBudgetExceeded) || n < 40 {
		t.Fatalf("%d events: %v", n, err)
	}
	exact := must[accountant.Bound](t)(accountant.Epsilon(l.Event(), b.Delta, b.Relation))
	got := l.Epsilon()
	if !(got.Upper >= exact.Lower && got.Upper <= 1.006*exact.Upper && got.Upper <= b.Epsilon) {
		t.Errorf("ε = %v within a budget of %v, which is %v", got, b.Epsilon, exact)
	}
	if so := l.EpsilonSoFar(); so > got.Upper {
		t.Errorf("ε so far is %v, all is taken and costs %v", so, got)
	}
	if again := must[*Ledger](t)(s.Open(t.Context(), "people")).Epsilon(); again != got {
		t.Errorf("ε = %v in another process, want %v", again, got)
	}
	must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "p", N: 2})) // which costs nothing
	if after := l.Epsilon(); after != got {
		t.Errorf("ε = %v after parts are opened, want %v", after, got)
	}
	g, read := l.Guarantee(), Guarantee{}
	if err := json.Unmarshal(must[[]byte](t)(json.Marshal(g)), &read); err != nil ||
		read.Epsilon != got.Upper {
		t.Errorf("a guarantee of ε = %v is read as %v, %v", got.Upper, read.Epsilon, err)
	}
}

// TestRunningSumsAreOfWholeLedgers: the sum decides neither for a filter, whose order costs more,
// nor with parts, whose reservations it does not hold.
func TestRunningSumsAreOfWholeLedgers(t *testing.T) {
	e := accountant.Gaussian{NoiseMultiplier: 3}
	b := accountant.Budget{Epsilon: 2, Delta: 1e-6}
	free := New(b)
	if err := free.Spend("x", e); err != nil {
		t.Fatal(err)
	}
	runningPrice(t, free)
	for name, l := range map[string]*Ledger{"a filter": New(b, WithFilter(200)), "parts": New(b)} {
		if name == "parts" {
			parts := must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "p", N: 2, Fixed: true}))
			if err := parts[0].Spend("x", accountant.Pure{Epsilon: 1.9}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Spend("x", e); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("%s, spent: %v", name, err)
		}
		if _, err := l.ReserveAll(lineOf(e, 1)); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("%s, reserved: %v", name, err)
		}
	}
}

// TestRunningSumsLeaveGuaranteesReadable: an event is refused if the guarantee could not be read
// after it, also if the samples before are few enough that none are rounded.
func TestRunningSumsLeaveGuaranteesReadable(t *testing.T) {
	mixture := func(n int) accountant.Event {
		m := accountant.GaussianMixture{NoiseMultiplier: 400}
		for i := range n {
			m.Sensitivities = append(m.Sensitivities, float64(i)/float64(n))
			m.Probabilities = append(m.Probabilities, 1/float64(n))
		}
		return m
	}
	l := New(accountant.Budget{Epsilon: 100, Delta: 1e-6})
	for i := range 28 {
		if err := l.Spend("samples", someRun(i)); err != nil {
			t.Fatal(err)
		}
	}
	refused := 0
	for _, e := range []accountant.Event{accountant.SparseHistogram{Sigma: 20, Threshold: 300,
		Cells: 64}, mixture(256), mixture(80)} {
		if err := l.Spend("more", e); err != nil {
			refused++
			continue // the guarantee is the one that was read
		}
		var read Guarantee
		if err := json.Unmarshal(must[[]byte](t)(json.Marshal(l.Guarantee())), &read); err != nil {
			t.Error(err)
		}
	}
	if refused != 1 {
		t.Errorf("%d events are refused, want the larger mixture alone", refused)
	}
}
