package ledger

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// slow is a context whose error is known to the ledger at once, and to the price only after open is
// closed.
type slow struct {
	context.Context
	looks   atomic.Int32
	pricing chan struct{} // closed when the price looks
	open    chan struct{}
}

func (c *slow) Err() error {
	if c.looks.Add(1) == 2 {
		close(c.pricing)
		<-c.open
	}
	return c.Context.Err()
}

func lineOf(e accountant.Event, count int) Transaction {
	return Transaction{Lines: []Line{{Purpose: "count", Event: e, Count: count}}}
}

// TestDearTransactionsHoldNobodyUp checks that others can reserve while a transaction is priced,
// and that it then ends with its context, without a reservation.
func TestDearTransactionsHoldNobodyUp(t *testing.T) {
	l := created(t, &listed{})
	ctx, cancel := context.WithCancel(t.Context())
	long := &slow{Context: ctx, pricing: make(chan struct{}), open: make(chan struct{})}
	done := make(chan error, 1)
	go func() {
		_, err := l.ReserveAllContext(long, lineOf(accountant.Laplace{Scale: 200}, 3))
		done <- err
	}()
	<-long.pricing
	soon(t, "a reservation", func() {
		if _, err := l.ReserveAll(lineOf(accountant.Gaussian{NoiseMultiplier: 400}, 1)); err != nil {
			t.Error(err)
		}
	})
	cancel()
	close(long.open)
	if err := <-done; !errors.Is(err, context.Canceled) || !param.IsRefused(err) {
		t.Errorf("got %v, want a refusal by the context", err)
	}
	if e := l.Entries(); len(e) != 1 || len(l.Children()) != 0 {
		t.Errorf("got %d entries, want that of the Gaussian only", len(e))
	}
}

// soon fails the test unless f returns within 20 seconds.
func soon(t *testing.T, name string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s still waits for a price", name)
	}
}

// TestQuestionsHoldNobodyUp checks that others can take their uses while a question about the
// ledger is priced.
func TestQuestionsHoldNobodyUp(t *testing.T) {
	var dear Transaction // with a text that is too long for the memory of prices
	for i := range 30 {
		dear.Lines = append(dear.Lines, Line{Purpose: "a", Count: 1, Event: accountant.PoissonSampled{
			Probability: 0.01, Event: accountant.Laplace{Scale: 50 + float64(i)}}})
	}
	for name, ask := range map[string]func(*Ledger){
		"Guarantee": func(l *Ledger) { l.Guarantee() },
		"Epsilon":   func(l *Ledger) { l.Epsilon() },
		"Affords": func(l *Ledger) { // too dear, so that the whole ledger is priced
			many := Transaction{Lines: slices.Clone(dear.Lines)}
			many.Lines[0].Count = 1 << 24
			_ = l.Affords(many)
		},
	} {
		for _, l := range []*Ledger{New(journalBudget), created(t, &listed{})} {
			held := must[[]*Reservation](t)(l.ReserveAll(dear))
			waits := true
			for try := 0; try < 5 && waits; try++ { // on a busy machine the price may be done first
				waits = waitsForPrice(t, l, held[try], ask)
			}
			if waits {
				t.Errorf("a use during %s waits for the price", name)
			}
		}
	}
}

// waitsForPrice reports whether a use, taken while the answer to a question is priced, ends after
// the answer.
func waitsForPrice(t *testing.T, l *Ledger, use *Reservation, ask func(*Ledger)) bool {
	t.Helper()
	l.shared.state.Lock()
	l.shared.root.version++ // all prices are forgotten
	l.shared.state.Unlock()
	done := make(chan struct{})
	go func() { ask(l); close(done) }()
	for all := make([]byte, 1<<20); !bytes.Contains(all[:runtime.Stack(all, true)],
		[]byte("accountant.priceByEngines")); {
		select {
		case <-done: // priced between two looks
			return true
		case <-time.After(time.Millisecond):
		}
	}
	if err := use.Spend(); err != nil {
		t.Error(err)
	}
	select {
	case <-done:
		return true
	default:
		<-done
		return false
	}
}

// TestContextEndsTheWait checks that a context ends the wait for another reservation, here one
// whose policy does not answer, and the reservation whose policy it ends in.
func TestContextEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out := make(chan struct{}), make(chan struct{})
	l := New(journalBudget, WithPolicy(func(Request) error { close(in); <-out; return nil }))
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
	one := accountant.Pure{Epsilon: 0.5}
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
					err != nil && !errors.Is(err, accountant.ErrBudgetExceeded) {
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
		want := 1
		if others > 0 { // one for every change, and one for the whole ledger when its sum is too dear
			want = min(others+2, maxQuotes)
		}
		if rounds != want {
			t.Errorf("%d changes: %d quotes, want %d", others, rounds, want)
		}
		if e := l.Epsilon(); !(e.Upper <= l.Budget().Epsilon) {
			t.Errorf("%d changes: ε is %v", others, e)
		}
	}
}
