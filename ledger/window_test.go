package ledger_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestWindowsCountTransactions: a limit with a window counts what transactions set aside, as it
// counts single reservations, in the handle that reserved, in another that was open, in one that
// reads all lines and in one that begins with a snapshot.
func TestWindowsCountTransactions(t *testing.T) {
	event := accountant.Gaussian{NoiseMultiplier: 100}
	two := must(accountant.Epsilon(accountant.Repeated{Event: event, Count: 2}, 1e-6, 0))(t)
	s := ledger.Memory()
	first := must(s.Create(t.Context(), "people", ledger.Terms{
		Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6},
		Limits: []ledger.Limit{{Epsilon: 1.01 * two.Upper, Window: time.Hour}}}))(t)
	other := opened(t, s)
	if _, err := first.ReserveAll(twoUses(event)); err != nil {
		t.Fatal(err)
	}
	refused := func(how string, l *ledger.Ledger) {
		t.Helper()
		_, err := l.ReserveAll(twoUses(event))
		for _, err := range []error{err, l.Spend("one", event)} {
			if !errors.Is(err, accountant.ErrBudgetExceeded) {
				t.Errorf("%s: got %v, want ErrBudgetExceeded", how, err)
			}
		}
	}
	refused("the same handle", first)
	refused("an open handle", other)
	refused("a new handle", opened(t, s))
	if err := first.Compact(); err != nil {
		t.Fatal(err)
	}
	refused("after a snapshot", opened(t, s))
}

func twoUses(event accountant.Event) ledger.Transaction {
	return ledger.Transaction{Lines: []ledger.Line{
		{Purpose: "a", Event: event, Count: 1}, {Purpose: "b", Event: event, Count: 1}}}
}

func opened(t *testing.T, s *ledger.Store) *ledger.Ledger {
	t.Helper()
	return must(s.Open(t.Context(), "people"))(t)
}

// TestWindowsOfOtherPurposes: a limit for another purpose takes no part in a request, and every
// other limit counts the uses in its own window.
func TestWindowsOfOtherPurposes(t *testing.T) {
	event := accountant.Gaussian{NoiseMultiplier: 100}
	one := must(accountant.Epsilon(event, 1e-6, 0))(t)
	l := must(ledger.Memory().Create(t.Context(), "people", ledger.Terms{
		Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6},
		Limits: []ledger.Limit{{Purpose: "other", Epsilon: 1, Window: time.Hour},
			{Epsilon: 1.01 * one.Upper, Window: time.Hour}}}))(t)
	if err := l.Spend("one", event); err != nil {
		t.Fatal(err)
	}
	for _, purpose := range []string{"one", "other"} {
		if err := l.Spend(purpose, event); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("a second use, for %q: got %v, want ErrBudgetExceeded", purpose, err)
		}
	}
}

// TestNoWindowHoldsMore: at every moment the uses within the time before it cost no more than the
// limit, whatever the events and their times; and what is refused would have cost more within a
// little longer. So it is after a snapshot, and in another process.
func TestNoWindowHoldsMore(t *testing.T) {
	const length, most = time.Hour, 1.0
	type use struct {
		at      time.Time
		epsilon float64
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
		clock := ledger.WithClock(func() time.Time { return now })
		s := ledger.Memory()
		l, err := s.Create(t.Context(), "people", ledger.Terms{Budget: accountant.Budget{Epsilon: 1000},
			Limits: []ledger.Limit{{Window: length, Epsilon: most}}}, clock)
		check(t, err)
		var made []use
		within := func(d time.Duration) (sum float64) {
			for _, u := range made {
				if now.Sub(u.at) < d {
					sum += u.epsilon
				}
			}
			return sum
		}
		for range 60 {
			now = now.Add(time.Duration(rng.Int64N(int64(length) / 5)))
			switch rng.IntN(12) {
			case 0:
				check(t, l.Compact())
			case 1:
				l, err = s.Open(t.Context(), "people", clock)
				check(t, err)
			}
			epsilon := []float64{0.125, 0.25, 0.5}[rng.IntN(3)]
			err := l.Spend("count", accountant.Pure{Epsilon: epsilon})
			switch {
			case err == nil:
				made = append(made, use{now, epsilon})
				if sum := within(length); sum > most {
					t.Errorf("%v: uses within %v cost %v, want at most %v", now, length, sum, most)
				}
			case !errors.Is(err, accountant.ErrBudgetExceeded):
				t.Fatal(err)
			case within(length+length/16)+epsilon <= most:
				t.Errorf("%v: a use of %v is refused, after %v", now, epsilon, within(length+length/16))
			}
		}
	}
}
