package ledger

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// takeAll takes all uses that are left and returns their number.
func takeAll(t *testing.T, r *Reservation) (n int) {
	t.Helper()
	for {
		err := r.Spend()
		if errors.Is(err, ErrReservationExhausted) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
}

// TestLedgerReservationsKeepToTheirOwnUses: two reservations share an entry but not their uses.
func TestLedgerReservationsKeepToTheirOwnUses(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	two := must[*Reservation](t)(l.Reserve("steps", step, 2))
	three := must[*Reservation](t)(l.Reserve("steps", step, 3))
	if a, b := takeAll(t, two), takeAll(t, three); a != 2 || b != 3 {
		t.Errorf("took %d of 2 and %d of 3", a, b)
	}
}

// TestLedgerKeepsTransactionsUses: Resume may hand out uses that Reserve or a transaction without
// an ID has handed out before. Taking such uses twice never uses up a transaction with an ID.
func TestLedgerKeepsTransactionsUses(t *testing.T) {
	lines := func(n int) []Line { return []Line{{Purpose: "steps", Event: step, Count: n}} }
	for name, reserve := range map[string]func(l *Ledger) (*Reservation, error){
		"Reserve": func(l *Ledger) (*Reservation, error) { return l.Reserve("steps", step, 20) },
		"no ID": func(l *Ledger) (*Reservation, error) {
			r, err := l.ReserveAll(Transaction{Lines: lines(20)})
			if err != nil {
				return nil, err
			}
			return r[0], nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
			run := must[[]*Reservation](t)(l.ReserveAll(Transaction{ID: "a", Lines: lines(50)}))[0]
			first := must[*Reservation](t)(reserve(l))
			again := must[*Reservation](t)(l.Resume("steps", step))
			if n := takeAll(t, again) + takeAll(t, first); n != 20 {
				t.Errorf("%d uses were taken, want 20", n)
			}
			if n := takeAll(t, run); n != 50 {
				t.Errorf("the transaction got %d uses, want 50", n)
			}
		})
	}
}

// TestLedgerPolicySeesCopies: a policy cannot change the priced event or the caller's event.
func TestLedgerPolicySeesCopies(t *testing.T) {
	for name, reserve := range map[string]func(l *Ledger, e accountant.Event) error{
		"Reserve": func(l *Ledger, e accountant.Event) error {
			_, err := l.Reserve("x", e, 1)
			return err
		},
		"Spend": func(l *Ledger, e accountant.Event) error { return l.Spend("x", e) },
		"ReserveAll": func(l *Ledger, e accountant.Event) error {
			_, err := l.ReserveAll(Transaction{Lines: []Line{{Purpose: "x", Event: e, Count: 1}}})
			return err
		},
	} {
		asked := 0
		l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5}, WithPolicy(func(r Request) error {
			asked++
			r.Event.(accountant.SameBatch).NoiseMultipliers[0] = 1e6
			return nil
		}))
		e := accountant.SameBatch{NoiseMultipliers: []float64{6}}
		if err := reserve(l, e); err != nil || asked != 1 {
			t.Fatalf("%s: asked %d times: %v", name, asked, err)
		}
		want := upper(
			t,
			accountant.SameBatch{NoiseMultipliers: []float64{6}},
			1e-5,
			accountant.AddOrRemoveOne,
		)
		if got := l.Epsilon().Upper; got != want {
			t.Errorf("%s: got ε = %v, want %v", name, got, want)
		}
		if e.NoiseMultipliers[0] != 6 {
			t.Errorf("%s: the caller's event is %v", name, e)
		}
	}
}

// kept returns a ledger with two unfinished transactions, and with uses of the same events outside
// transactions. One transaction is in a part.
func kept(t *testing.T) *Ledger {
	t.Helper()
	l := New(accountant.Budget{Epsilon: 3, Delta: 1e-5})
	must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "other", N: 3}))
	run := must[[]*Reservation](t)(l.ReserveAll(Transaction{ID: "a",
		Groups: []Parts{{Purpose: "parts", N: 2}},
		Lines: []Line{
			{Purpose: "steps", Event: step, Count: 50},
			{Purpose: "steps", Event: step, Count: 10},
			{Purpose: "part", Event: step, Count: 30, Group: 1, Part: 1},
		}}))
	child := l.Children()[1].Parts[1]
	inner := must[[]*Reservation](t)(child.ReserveAll(Transaction{ID: "b",
		Lines: []Line{{Purpose: "inner", Event: step, Count: 9}}}))
	for _, r := range append(run, inner...) {
		for range 7 {
			if err := r.Spend(); err != nil {
				t.Fatal(err)
			}
		}
	}
	must[*Reservation](t)(l.Reserve("steps", step, 5))
	must[*Reservation](t)(child.Reserve("part", step, 4))
	return l
}

// TestLedgerCountsDoNotWrap checks that the counts of lines with the same entry are added up,
// together with the uses that the entry already holds.
func TestLedgerCountsDoNotWrap(t *testing.T) {
	e := accountant.Gaussian{NoiseMultiplier: 1e15}
	line := func(purpose string, count, part int) Line {
		l := Line{Purpose: purpose, Event: e, Count: count}
		if part > 0 {
			l.Group, l.Part = 1, part-1
		}
		return l
	}
	for name, x := range map[string]struct {
		lines []Line
		ok    bool
	}{
		"five times the most": {[]Line{line("x", maxCount, 0), line("x", maxCount, 0),
			line("x", maxCount, 0), line("x", maxCount, 0), line("x", maxCount, 0)}, false},
		"one too many beside what is held": {
			[]Line{line("held", maxCount-10, 0), line("held", 1, 0)}, false},
		"one too many in a part": {[]Line{line("x", maxCount, 2), line("x", 1, 2)}, false},
		"the most":               {[]Line{line("held", maxCount-11, 0), line("held", 1, 0)}, true},
		"the most in each place": {[]Line{line("x", maxCount, 0), line("y", maxCount, 0),
			line("x", maxCount, 1), line("x", maxCount, 2)}, true},
	} {
		l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
		must[*Reservation](t)(l.Reserve("held", e, 10))
		_, err := l.ReserveAll(Transaction{ID: "a", Groups: []Parts{{Purpose: "p", N: 2}},
			Lines: x.lines})
		var bad *param.Error
		if x.ok && err != nil || !x.ok && !errors.As(err, &bad) {
			t.Errorf("%s: got %v, want a *param.Error", name, err)
		}
		if !x.ok && len(l.Entries()) != 1 {
			t.Errorf("%s: something was set aside", name)
		}
		text := must[[]byte](t)(json.Marshal(l))
		if _, err := Unmarshal(text); err != nil {
			t.Errorf("%s: cannot be read back: %v", name, err)
		}
	}
}
