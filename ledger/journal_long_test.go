package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
)

// listed is a journal in memory.
type listed struct{ lines []JournalLine }

func (j *listed) Append(_ context.Context, after Position, lines []JournalLine) error {
	if n := len(j.lines); after.Line != uint64(n) || n > 0 && j.lines[n-1].Position != after {
		return ErrConflict
	}
	j.lines = append(j.lines, lines...)
	return nil
}

func (j *listed) Read(_ context.Context, after Position) iter.Seq2[JournalLine, error] {
	return j.from(int(after.Line))
}

func (j *listed) from(i int) iter.Seq2[JournalLine, error] {
	return func(yield func(JournalLine, error) bool) {
		for _, line := range j.lines[min(i, len(j.lines)):] {
			if !yield(line, nil) {
				return
			}
		}
	}
}

func (j *listed) ReadLatest(context.Context) iter.Seq2[JournalLine, error] {
	for i := len(j.lines) - 1; i > 0; i-- {
		if j.lines[i].Snapshot {
			return j.from(i)
		}
	}
	return j.from(0)
}

func (j *listed) Place() string { return "a test" }

func (j *listed) Close() error { return nil }

// long returns a journal of at least the given number of lines. It writes the lines without
// computing their privacy cost.
func long(t testing.TB, lines int, transactions bool) *listed {
	j := &listed{}
	l, err := CreateOn(context.Background(), j,
		Terms{Name: "people", Budget: accountant.Budget{Epsilon: 1000, Delta: 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	kept := l.shared.journal
	for i := 0; len(j.lines) < lines; i++ {
		purpose := fmt.Sprint("purpose ", i%7)
		e := accountant.Event(accountant.Gaussian{NoiseMultiplier: 300 + float64(i%11)})
		if i%10 == 0 {
			e = accountant.Laplace{Scale: 5e4}
		}
		key, err := keyOf(e)
		if err != nil {
			t.Fatal(err)
		}
		c := &change{Reserve: &changeReserve{l.Relation(), purpose, json.RawMessage(key), 1 + i%3, 1}}
		if transactions || i%10 == 1 {
			tx := &changeTransaction{Relation: l.Relation(), Lines: []transactionLine{
				{Purpose: purpose, Event: json.RawMessage(key), Count: 2},
				{Purpose: "more", Event: json.RawMessage(key), Count: 1}}}
			if transactions {
				tx.ID = fmt.Sprintf("%032x", i)
			}
			c = &change{Transaction: tx}
		}
		err = kept.append(l, operation{lines: func() []*change { return []*change{c} },
			do: func() {
				if err := l.apply(c); err != nil {
					t.Fatal(err)
				}
			}}, kept.head)
		if err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// TestLongJournal opens a journal of many lines. It logs how long opening and computing ε take,
// and the memory of the ledger. It fails if reading ε a second time takes more than 10 ms.
func TestLongJournal(t *testing.T) {
	for _, c := range []struct {
		name         string
		lines        int
		transactions bool
	}{{"mixed", 20_000, false}, {"transactions with IDs", 2_000, true}} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() {
				c.lines /= 10
			}
			j := long(t, c.lines, c.transactions)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			begin := time.Now()
			l, err := OpenOn(context.Background(), j)
			if err != nil {
				t.Fatal(err)
			}
			opened := time.Since(begin)
			runtime.GC()
			runtime.ReadMemStats(&after)
			begin = time.Now()
			e := l.Epsilon()
			first := time.Since(begin)
			begin = time.Now()
			l.Epsilon()
			cached := time.Since(begin)
			bytes := 0
			snapshots := 0
			for _, line := range j.lines {
				bytes += len(line.Text)
				if line.Snapshot {
					snapshots++
				}
			}
			t.Logf("%d lines, %d KiB, %d snapshots: opened in %v, ε = %.4g in %v, again in %v; "+
				"memory %d KiB for %d entries", len(j.lines), bytes/1024, snapshots, opened, e.Upper,
				first, cached,
				(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1024, len(l.Entries()))
			if cached > 10*time.Millisecond {
				t.Errorf("a cached ε took %v, want at most 10 ms", cached)
			}
		})
	}
}

// TestSnapshotIsTheLines checks that a ledger opened from the last snapshot of a journal equals a
// ledger opened from the journal's first line.
func TestSnapshotIsTheLines(t *testing.T) {
	j := long(t, 4000, true)
	if !slices.ContainsFunc(j.lines, func(l JournalLine) bool { return l.Snapshot }) {
		t.Fatal("the journal has no snapshot")
	}
	quick, err := OpenOn(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := OpenOn(context.Background(), struct{ Journal }{j})
	if err != nil {
		t.Fatal(err)
	}
	a, errA := quick.MarshalJSON()
	b, errB := whole.MarshalJSON()
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("errors %v and %v, or different ledgers:\n%.400s\n%.400s", errA, errB, a, b)
	}
	if quick.Epsilon() != whole.Epsilon() {
		t.Error("the two ledgers have different ε")
	}
}
