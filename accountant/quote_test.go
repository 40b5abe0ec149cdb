package accountant

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
)

// dear returns a transaction that takes about as long to price as any that is accepted: many
// seconds.
func dear() Transaction {
	t := Transaction{Groups: []Parts{{Purpose: "p", N: 31, Fixed: true}}}
	for i := range 31 * 31 {
		line := Line{Purpose: "p", Count: 1, Group: 1, Part: i / 31, Event: PoissonSampled{
			Probability: 1e-3, Event: Laplace{Scale: 200 + float64(i%31)}}}
		if i/31 == i%31 { // so no part costs less than another one
			line.Count = 2
		}
		t.Lines = append(t.Lines, line)
	}
	return t
}

func lineOf(e Event, count int) Transaction {
	return Transaction{Lines: []Line{{Purpose: "count", Event: e, Count: count}}}
}

// TestDearTransactionsHoldNobodyUp checks that others can reserve while a transaction is priced for
// many seconds, and that it then ends soon after its context, without a reservation.
func TestDearTransactionsHoldNobodyUp(t *testing.T) {
	l := created(t, &listed{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := l.ReserveAllContext(ctx, dear())
		done <- err
	}()
	time.Sleep(300 * time.Millisecond) // the test would pass without it, but might test nothing
	if _, err := l.ReserveAll(lineOf(Gaussian{NoiseMultiplier: 400}, 1)); err != nil {
		t.Error(err)
	}
	select {
	case err := <-done:
		t.Fatalf("the dear transaction came first: %v", err)
	default:
	}
	cancel()
	start := time.Now()
	if err := <-done; !errors.Is(err, context.Canceled) || !param.IsRefused(err) {
		t.Errorf("got %v, want a refusal by the context", err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("pricing goes on for %v after its context", took)
	}
	if e := l.Entries(); len(e) != 1 || len(l.Children()) != 0 {
		t.Errorf("got %d entries, want that of the Gaussian only", len(e))
	}
}

// TestContextEndsTheWait checks that a context ends the wait for another reservation, here one
// whose policy does not answer, and the reservation whose policy it ends in.
func TestContextEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out := make(chan struct{}), make(chan struct{})
	l := NewLedger(journalBudget, WithPolicy(func(Request) error { close(in); <-out; return nil }))
	first := make(chan error, 1)
	go func() {
		_, err := l.ReserveAllContext(ctx, lineOf(journalEvent, 1))
		first <- err
	}()
	<-in
	cancel()
	second := make(chan error, 1)
	go func() {
		_, err := l.ReserveAllContext(ctx, lineOf(journalEvent, 2))
		second <- err
	}()
	select {
	case err := <-second:
		if !errors.Is(err, context.Canceled) || !param.IsRefused(err) {
			t.Errorf("the second reservation: %v, want a refusal by the context", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the second reservation still waits")
	}
	close(out)
	if err := <-first; !errors.Is(err, context.Canceled) || !param.IsRefused(err) {
		t.Errorf("the first reservation: %v, want a refusal by the context", err)
	}
	if e := l.Entries(); len(e) != 0 {
		t.Errorf("got entries %v, want none", e)
	}
}

// TestQuotesHoldForOneVersion checks that a quote is worthless after another reservation: every
// time others spend the budget between a quote and its use, and the last price is computed under
// the lock.
func TestQuotesHoldForOneVersion(t *testing.T) {
	one := Pure{Epsilon: 0.5}
	for others := range maxQuotes + 2 {
		l := created(t, &listed{})
		run := lineOf(one, 3)
		if err := l.Affords(lineOf(one, 5)); err == nil {
			t.Fatal("the budget allows both")
		}
		lines := must[[]*placedLine](t)(run.placed(l.Relation()))
		a, q := asking{ctx: t.Context(), ledger: l}, quote{ctx: t.Context(), left: maxQuotes}
		rounds := 0
		for ; ; rounds++ {
			out, err := l.reserveAll(run, lines, &a, &q)
			if rounds == maxQuotes || !errors.Is(err, errUnpriced) {
				if wrong := (err == nil) != (others == 0) || (len(out) > 0) != (err == nil); wrong ||
					err != nil && !errors.Is(err, ErrBudgetExceeded) {
					t.Errorf("%d changes: got %v", others, err)
				}
				break
			}
			q.price()
			if rounds < others {
				if _, err := l.ReserveAll(lineOf(one, 3/min(others, maxQuotes))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if want := min(others+1, maxQuotes); rounds != want {
			t.Errorf("%d changes: %d quotes, want %d", others, rounds, want)
		}
		if e := l.Epsilon(); !(e.Upper <= l.Budget().Epsilon) {
			t.Errorf("%d changes: ε is %v", others, e)
		}
	}
}

// endsAfter is a context that has ended once its error was asked for left times.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedPrices ends the context at every point where it is looked at. The result is the
// context's error or the right price, and no other price is remembered.
func TestInterruptedPrices(t *testing.T) {
	laplace := PoissonSampled{Event: Laplace{Scale: 3}, Probability: 0.01}
	for name, e := range map[string]Event{
		"composition": Composed{[]Event{Repeated{laplace, 9},
			PoissonSampled{Event: Laplace{Scale: 4}, Probability: 0.01}, Gaussian{NoiseMultiplier: 9}}},
		"selection": RepeatAndSelect{Event: laplace, Mean: 9, Shape: 1},
		"parts":     Composed{[]Event{Disjoint{Parts: []Event{laplace, Laplace{Scale: 70}}}, laplace}},
	} {
		alts := must[[][]term](t)(reduce(e, AddOrRemoveOne))
		prices.forget()
		want := must[priced](t)(priceAll(t.Context(), alts, 1e-5, AddOrRemoveOne, true))
		interrupted := 0
		for ; ; interrupted++ {
			prices.forget()
			ctx := &endsAfter{t.Context(), interrupted}
			got, err := priceAll(ctx, alts, 1e-5, AddOrRemoveOne, true)
			after := must[priced](t)(priceAll(t.Context(), alts, 1e-5, AddOrRemoveOne, true))
			if err == nil && got != want || err != nil && !errors.Is(err, context.Canceled) ||
				after != want {
				t.Fatalf("%s: after %d looks: %v, %v, then %v; want %v", name, interrupted, got, err,
					after, want)
			}
			if err == nil {
				break
			}
		}
		if interrupted < 2 {
			t.Errorf("%s: the context is looked at %d times", name, interrupted)
		}
	}
}
