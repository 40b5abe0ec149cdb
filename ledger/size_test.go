package ledger_test

import (
	"flag"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"errors"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

var (
	lines  = flag.Int("lines", 5_000, "lines of the journal that TestReopening opens")
	spends = flag.Int("spends", 160, "different events that TestGrowing reserves")
	tiny   = flag.String("tiny", "", "an empty folder on a small disk, which TestFullDisk fills up")
)

// TestReopening reports how long a long journal takes to open.
func TestReopening(t *testing.T) {
	ctx := t.Context()
	from := ledger.Memory()
	l, err := from.Create(ctx, "people", ledger.Terms{
		Budget: accountant.Budget{Epsilon: 50, Delta: 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < *lines; i++ {
		e := accountant.Gaussian{NoiseMultiplier: 400 + float64(i%13)}
		if err := l.Spend(fmt.Sprint("purpose ", i%7), e); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	s := ledger.Dir(folder)
	size := copyJournal(t, from, s)
	best := time.Hour
	var again *ledger.Ledger
	for range 5 {
		runtime.GC()
		begin := time.Now()
		if again, err = s.Open(ctx, "people"); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(begin))
		defer again.Close()
	}
	begin := time.Now()
	if got, want := again.Epsilon(), l.Epsilon(); got != want {
		t.Errorf("ε = %v, want %v", got, want)
	}
	first := time.Since(begin)
	begin = time.Now()
	again.Epsilon()
	cached := time.Since(begin)
	begin = time.Now()
	const spends = 50
	for range spends {
		if err := again.Spend("purpose 0", accountant.Gaussian{NoiseMultiplier: 400}); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lines, %d KiB: opening takes %v, ε first %v and then %v, a reservation %v", *lines,
		size/1024, best, first, cached, time.Since(begin)/spends)
}

// TestGrowing reports how long reservations of different events take, from five numbers of them.
func TestGrowing(t *testing.T) {
	for n := max(*spends/16, 1); n <= *spends; n *= 2 {
		for _, kind := range []string{"samples", "Gaussians"} {
			l := ledger.New(accountant.Budget{Epsilon: 4, Delta: 1e-6})
			begin, slowest := time.Now(), time.Duration(0)
			for i := range n {
				// different rates, noise and steps, in no order
				u, v := float64(i*7919%n)/float64(n), float64(i*104729%n)/float64(n)
				e := accountant.Event(accountant.Gaussian{NoiseMultiplier: 2000 + float64(i)})
				if kind == "samples" {
					e = accountant.Repeated{Count: 100 + i%900, Event: accountant.PoissonSampled{
						Probability: .0005 + .001*u,
						Event:       accountant.Gaussian{NoiseMultiplier: 4 + 4*v}}}
				}
				one := time.Now()
				if _, err := l.ReserveAll(ledger.Transaction{ID: fmt.Sprint(i), Lines: []ledger.Line{
					{Purpose: "run", Event: e, Count: 1}}}); err != nil {
					t.Fatal(i, err)
				}
				slowest = max(slowest, time.Since(one))
			}
			took := time.Since(begin)
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			t.Logf("%d different %s: %v, the slowest %v, %d KiB; ε = %v", n, kind, took, slowest,
				m.HeapAlloc>>10, l.Epsilon())
		}
	}
}

// copyJournal copies a journal line by line.
func copyJournal(t *testing.T, from, to ledger.Backend) (size int) {
	t.Helper()
	a := must(from.Journal(t.Context(), "people", ledger.Read))(t)
	b := must(to.Journal(t.Context(), "people", ledger.Create))(t)
	defer b.Close()
	var all []ledger.JournalLine
	for line, err := range a.Read(t.Context(), ledger.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
		size += len(line.Text) + 72
	}
	at := ledger.Position{}
	for len(all) > 0 {
		n := min(1000, len(all))
		if err := b.Append(t.Context(), at, all[:n]); err != nil {
			t.Fatal(err)
		}
		at, all = all[n-1].Position, all[n:]
	}
	return size
}

// TestFullDisk fills a real disk. A reservation is then refused, and everything that was answered
// is still in the ledger. When there is room again, the ledger can be used further.
func TestFullDisk(t *testing.T) {
	if *tiny == "" {
		t.Skip("no disk: mount -t tmpfs -o size=256k none DIR; go test ./ledger -run FullDisk -tiny DIR")
	}
	ballast := filepath.Join(*tiny, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	s := ledger.Dir(filepath.Join(*tiny, "ledgers"))
	l, err := s.Create(t.Context(), "people", ledger.Terms{
		Budget: accountant.Budget{Epsilon: 50, Delta: 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for answered < 10_000 {
		if err = l.Spend("count", accountant.Gaussian{NoiseMultiplier: 1000}); err != nil {
			break
		}
		answered++
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("after %d answers: got %v, want ENOSPC", answered, err)
	}
	for _, handle := range []*ledger.Ledger{l, mustOpen(t, s)} {
		if e := handle.Entries()[0]; e.Reserved < answered {
			t.Errorf("%d reservations were answered, the ledger has %d", answered, e.Reserved)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, s).Spend("count", accountant.Gaussian{NoiseMultiplier: 1000}); err != nil {
		t.Errorf("a reservation after room was made: %v", err)
	}
	t.Logf("%d answers before the disk was full", answered)
}

func mustOpen(t *testing.T, s *ledger.Store) *ledger.Ledger {
	t.Helper()
	l := must(s.Open(t.Context(), "people"))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}
