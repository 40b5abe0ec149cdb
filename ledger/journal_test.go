package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

var (
	journalBudget = accountant.Budget{Epsilon: 2, Delta: 1e-6}
	journalEvent  = accountant.Gaussian{NoiseMultiplier: 50}
)

func created(t *testing.T, j Journal) *Ledger {
	t.Helper()
	l, err := CreateOn(t.Context(), j, Terms{Name: "people", Budget: journalBudget})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// rechained returns the lines with changed texts and with the hashes of the changed texts.
func rechained(lines []JournalLine, change func(i int, text []byte) []byte) *listed {
	out := &listed{}
	at := Position{}
	for i, line := range lines {
		line.Text = change(i, slices.Clone(line.Text))
		if line.Snapshot { // a snapshot contains the hash of the line before it
			_, rest, _ := bytes.Cut(line.Text, []byte(`"previous":"`))
			old, _, _ := bytes.Cut(rest, []byte(`"`))
			line.Text = bytes.Replace(line.Text, old, []byte(at.Hash), 1)
		}
		at = Position{at.Line + 1, ChainHash(at.Hash, line.Text)}
		line.Position = at
		out.lines = append(out.lines, line)
	}
	return out
}

// refuses checks that opening a journal fails with the given error.
func refuses(t *testing.T, j Journal, want error) {
	t.Helper()
	if _, err := OpenOn(t.Context(), j); !errors.Is(err, want) {
		t.Errorf("OpenOn returns %v, want %v", err, want)
	}
}

func TestJournalChangedLine(t *testing.T) {
	j := &listed{}
	l := created(t, j)
	behind, err := OpenOn(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve("count", journalEvent, 9); err != nil {
		t.Fatal(err)
	}
	good := slices.Clone(j.lines)
	j.lines[1].Text = bytes.Replace(j.lines[1].Text, []byte(`"count":9`), []byte(`"count":1`), 1)
	refuses(t, j, ErrDamaged)
	if err := behind.Spend("count", journalEvent); !errors.Is(err, ErrDamaged) {
		t.Errorf("a reservation on a damaged journal returns %v, want ErrDamaged", err)
	}
	if e := behind.Epsilon().Upper; !math.IsInf(e, 1) {
		t.Errorf("ε = %v, want +Inf", e)
	}
	j.lines = good
	if err := behind.Spend("count", journalEvent); !errors.Is(err, ErrDamaged) {
		t.Errorf("a second try returns %v, want ErrDamaged", err)
	}
	if g := behind.Guarantee(); !math.IsInf(g.Epsilon, 1) {
		t.Errorf("the guarantee says ε = %v, want +Inf", g.Epsilon)
	}
}

// TestJournalHostileLines: invalid texts are refused even if their hashes match.
func TestJournalHostileLines(t *testing.T) {
	j := &listed{}
	l := created(t, j)
	r, err := l.Reserve("count", journalEvent, 3)
	if err != nil || r.Spend() != nil {
		t.Fatal(err)
	}
	run := Transaction{ID: "run", Lines: []Line{{Purpose: "run", Event: journalEvent, Count: 2}}}
	all, err := l.ReserveAll(run)
	if err != nil || all[0].Spend() != nil {
		t.Fatal(err)
	}
	if _, err := OpenOn(t.Context(), rechained(j.lines, func(_ int, b []byte) []byte {
		return b
	})); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line     int
		old, new string
	}{
		{0, `"version":1`, `"version":2`}, {0, `"epsilon":2`, `"epsilon":-2`},
		{0, `"line":1`, `"line":2`},
		{1, `"count":3`, `"count":0`}, {1, `"count":3`, `"count":-3`}, {1, `"count":3`, `"counts":3`},
		{1, `"count":3`, `"count":9223372036854775807`}, {1, `"count":3`, `"count":3,"taken":4`},
		{1, `add_or_remove_one`, `replace_one`}, {1, `"noise_multiplier":50`, `"noise_multiplier":-1`},
		{1, `"reserve"`, `"note":{"entry":0,"class":"exact"},"reserve"`},
		{2, `"count":1`, `"count":4`}, {2, `"index":0`, `"index":1`}, {2, `"index":0`, `"index":-1`},
		{2, `"spend"`, `"at":[{"group":0,"part":0}],"spend"`},
		{3, `"count":2`, `"count":2,"group":1`},
		{3, `"id":"run"`, `"id":"run","groups":[{"purpose":"","n":99999999}]`},
		{4, `"count":1`, `"count":3`}, {4, `"index":0`, `"index":7`}, {4, `"id":"run"`, `"id":"walk"`},
	} {
		bad := rechained(j.lines, func(i int, text []byte) []byte {
			if i == c.line {
				if !bytes.Contains(text, []byte(c.old)) {
					t.Fatalf("line %d has no %s: %s", i+1, c.old, text)
				}
				text = bytes.Replace(text, []byte(c.old), []byte(c.new), 1)
			}
			return text
		})
		if _, err := OpenOn(t.Context(), bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("line %d with %s: got %v, want ErrDamaged", c.line+1, c.new, err)
		}
	}
	twice := rechained(append(slices.Clone(j.lines), j.lines[3]), func(i int, text []byte) []byte {
		return bytes.Replace(text, []byte(`"line":4`), fmt.Appendf(nil, `"line":%d`, i+1), 1)
	})
	refuses(t, twice, ErrDamaged)
}

// TestJournalSmallerSnapshot: a ledger refuses a snapshot that counts less than the earlier lines,
// whether the ledger has read all of these lines or only some of them.
func TestJournalSmallerSnapshot(t *testing.T) {
	j := &listed{}
	l := created(t, j)
	if _, err := l.Reserve("count", journalEvent, 9); err != nil {
		t.Fatal(err)
	}
	early, err := OpenOn(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Spend("other", journalEvent); err != nil {
		t.Fatal(err)
	}
	late, err := OpenOn(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Compact(); err != nil {
		t.Fatal(err)
	}
	last := len(j.lines) - 1
	forged := rechained(j.lines, func(i int, text []byte) []byte {
		if i == last {
			text = bytes.Replace(text, []byte(`"reserved":9`), []byte(`"reserved":1`), 1)
		}
		return text
	})
	refuses(t, struct{ Journal }{forged}, ErrDamaged)
	j.lines = forged.lines
	if err := late.Spend("other", journalEvent); !errors.Is(err, ErrDamaged) {
		t.Errorf("a ledger that has read all lines: got %v, want ErrDamaged", err)
	}
	j.lines = forged.lines[last:] // trimmed
	trimmed := &shortened{listed: &listed{j.lines}}
	early.shared.journal.lines = trimmed
	if err := early.Spend("other", journalEvent); !errors.Is(err, ErrDamaged) {
		t.Errorf("a ledger that has read some lines: got %v, want ErrDamaged", err)
	}
}

// shortened is a journal whose first lines were trimmed.
type shortened struct{ *listed }

func (j *shortened) Read(context.Context, Position) iter.Seq2[JournalLine, error] {
	return j.from(0)
}

// TestResumeHandsOutUsesAhead: uses that the journal counts before they are handed out are not lost
// to a run that resumes in the same process.
func TestResumeHandsOutUsesAhead(t *testing.T) {
	l := created(t, &listed{})
	r, err := l.Reserve("count", journalEvent, 200)
	for err == nil && r.entry.ahead < 2 {
		err = r.Spend()
	}
	if err != nil {
		t.Fatal(err)
	}
	drawn := 200 - r.Remaining()
	again, err := l.Resume("count", journalEvent)
	for err == nil && again.Spend() == nil {
		drawn++
	}
	if err != nil || drawn != 200 {
		t.Errorf("%d uses are handed out, error %v; want 200", drawn, err)
	}
}

// TestLinesKeepTheirUses: after a snapshot the uses of a transaction's second line are still its
// own when the ledger is read again.
func TestLinesKeepTheirUses(t *testing.T) {
	j := &listed{}
	l, run := created(t, j), Transaction{ID: "run", Lines: []Line{
		{Purpose: "a", Event: journalEvent, Count: 3}, {Purpose: "b", Event: journalEvent, Count: 5}}}
	spend := func(l *Ledger, want ...int) {
		t.Helper()
		all, err := l.ReserveAll(run)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range all {
			if r.Remaining() != want[i] {
				t.Errorf("line %d has %d uses, want %d", i, r.Remaining(), want[i])
			}
		}
		if err := errors.Join(all[1].Spend(), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.ReserveAll(run); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Compact(), l.Close()); err != nil {
		t.Fatal(err)
	}
	for left := 5; left > 2; left-- {
		l, err := OpenOn(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		spend(l, 3, left)
	}
}

// TestJournalCheckpointAhead: the journal counts some uses as taken before they are handed out. If
// a checkpoint says that such a use was taken, it is not handed out again.
func TestJournalCheckpointAhead(t *testing.T) {
	j := &listed{}
	l := created(t, j)
	run := Transaction{ID: "run", Lines: []Line{{Purpose: "run", Event: journalEvent, Count: 200}}}
	all, err := l.ReserveAll(run)
	if err != nil {
		t.Fatal(err)
	}
	for all[0].entry.ownedSpent < 150 || all[0].line.ahead < 3 {
		if err := all[0].Spend(); err != nil {
			t.Fatal(err)
		}
	}
	spent := all[0].line.spent
	run.Lines[0].Taken = spent - 1
	again, err := l.ReserveAll(run)
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for again[0].Spend() == nil {
		drawn++
	}
	if drawn != 200-run.Lines[0].Taken {
		t.Errorf("%d uses are handed out after %d were taken, want 200 in all", drawn,
			run.Lines[0].Taken)
	}
}

// faulty is a journal that fails.
type faulty struct {
	*listed
	read, write, after error
}

func (j *faulty) Read(ctx context.Context, after Position) iter.Seq2[JournalLine, error] {
	if j.read != nil {
		return func(yield func(JournalLine, error) bool) { yield(JournalLine{}, j.read) }
	}
	return j.listed.Read(ctx, after)
}

func (j *faulty) Append(ctx context.Context, after Position, lines []JournalLine) error {
	if j.write != nil {
		return j.write
	}
	return errors.Join(j.listed.Append(ctx, after, lines), j.after)
}

var errNetwork = errors.New("the network is gone")

// TestJournalUnread: while the journal cannot be read, ε is infinite and nothing is reserved.
func TestJournalUnread(t *testing.T) {
	j := &faulty{listed: &listed{}}
	l := created(t, j)
	if err := l.Spend("count", journalEvent); err != nil {
		t.Fatal(err)
	}
	j.read = errNetwork
	if e := l.Epsilon(); !math.IsInf(e.Upper, 1) {
		t.Errorf("ε = %v, want +Inf", e)
	}
	if g := l.Guarantee(); !math.IsInf(g.Epsilon, 1) || !strings.Contains(g.Accountant, "network") {
		t.Errorf("ε = %v by %s", g.Epsilon, g.Accountant)
	}
	_, jsonErr := l.MarshalJSON()
	_, resumeErr := l.Resume("count", journalEvent)
	_, partsErr := l.Disjoint(Parts{Purpose: "parts", N: 2})
	for i, err := range []error{jsonErr, resumeErr, partsErr, l.Affords(once(journalEvent)),
		l.Spend("count", journalEvent), l.Compact(), l.Holds(*l.Kept())} {
		if !errors.Is(err, errNetwork) {
			t.Errorf("call %d returns %v, want the error of the network", i, err)
		}
	}
	j.read = nil
	if err := l.Spend("count", journalEvent); err != nil {
		t.Errorf("when the journal can be read again: %v", err)
	}
}

// TestJournalUncertainAppend: if Append returns an error but the line is in the journal, the line
// counts. Its uses are handed out to the next caller that requests its transaction.
func TestJournalUncertainAppend(t *testing.T) {
	run := Transaction{ID: "run", Lines: []Line{{Purpose: "run", Event: journalEvent, Count: 2}}}
	for _, there := range []bool{false, true} {
		j := &faulty{listed: &listed{}}
		l := created(t, j)
		fail := func(err error) {
			if j.write, j.after = nil, nil; there {
				j.after = err
			} else {
				j.write = err
			}
		}
		fail(errNetwork)
		if _, err := l.ReserveAll(run); !errors.Is(err, errNetwork) {
			t.Fatal(err)
		}
		fail(nil)
		if got := len(l.Entries()); got != map[bool]int{false: 0, true: 1}[there] {
			t.Errorf("line in the journal: %t; got %d entries", there, got)
		}
		all, err := l.ReserveAll(run)
		if err != nil {
			t.Fatal(err)
		}
		fail(errNetwork)
		if err := all[0].Spend(); !errors.Is(err, errNetwork) {
			t.Fatal(err)
		}
		fail(nil)
		drawn := 0
		for all[0].Spend() == nil {
			drawn++
		}
		if e := l.Entries()[0]; e.Reserved != 2 || e.Spent != 2 || drawn > 2 || there && drawn > 1 {
			t.Errorf("line in the journal: %t; %d uses drawn of %+v", there, drawn, e)
		}
	}
}

// TestJournalEnds: after the ledger's context ends, nothing more can be reserved. After Close,
// nothing more can be taken, not even uses that were counted as taken ahead of time. Nor can they
// after a damaged line.
func TestJournalEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	j := &listed{}
	created(t, j)
	l, err := OpenOn(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	ahead := func(l *Ledger) *Reservation {
		r := must[*Reservation](t)(l.Reserve("count", journalEvent, 100))
		for *r.ahead() == 0 {
			if err := r.Spend(); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	r, other := ahead(l), must[*Ledger](t)(OpenOn(t.Context(), j))
	cancel()
	if _, err := l.Reserve("count", journalEvent, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context ended: got %v, want context.Canceled", err)
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if err := r.Spend(); !errors.Is(err, errClosed) {
		t.Errorf("after Close: got %v, want errClosed", err)
	}
	if e := l.Epsilon(); math.IsInf(e.Upper, 1) || e.Upper == 0 {
		t.Errorf("after Close: ε = %v, want a positive finite number", e)
	}
	r = ahead(other)
	line := j.lines[len(j.lines)-1]
	line.Line++
	j.lines = append(j.lines, line)
	if e := other.Epsilon(); !math.IsInf(e.Upper, 1) || !errors.Is(r.Spend(), ErrDamaged) {
		t.Errorf("after a damaged line: ε = %v, or a use is handed out", e)
	}
}

// TestJournalNotesWait: if the line of a note or a mark cannot be written, the state that is
// compared with snapshots does not change yet. The line is written before any further use is taken.
// A mark that a run is not private nevertheless takes effect at once.
func TestJournalNotesWait(t *testing.T) {
	shared := &listed{}
	j := &faulty{listed: shared}
	created(t, shared)
	l, err := OpenOn(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Reserve("count", journalEvent, 100)
	if err != nil {
		t.Fatal(err)
	}
	for r.entry.ahead < 2 {
		if err := r.Spend(); err != nil {
			t.Fatal(err)
		}
	}
	other, err := OpenOn(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := other.Resume("count", journalEvent)
	if err != nil {
		t.Fatal(err)
	}
	j.write = errNetwork
	r.Note(ExactNoise)
	l.MarkNotPrivate("bad \xff")
	if l.NotPrivate() == "" || l.Guarantee().NotPrivate == "" {
		t.Error("the mark takes effect only when its line is written")
	}
	if err := r.Spend(); !errors.Is(err, errNetwork) {
		t.Errorf("a use before the note is written: got %v, want errNetwork", err)
	}
	mine.Note(RealNoise)
	if err := other.Compact(); err != nil {
		t.Fatal(err)
	}
	if e := l.Epsilon(); math.IsInf(e.Upper, 1) {
		t.Fatal("after an unwritten note, the snapshot of another ledger is refused")
	}
	j.write = nil
	if err := r.Spend(); err != nil {
		t.Fatal(err)
	}
	if err := l.Compact(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenOn(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []*Ledger{l, other, again} {
		if e := k.Entries()[0]; len(e.Notes) != 2 || k.NotPrivate() != "bad ?" {
			t.Errorf("notes %v, not private: %q", e.Notes, k.NotPrivate())
		}
	}
}

// TestCloseWritesPendingNotes: notes and marks whose lines could not be written are written when
// the ledger is closed.
func TestCloseWritesPendingNotes(t *testing.T) {
	shared := &listed{}
	j := &faulty{listed: shared}
	created(t, shared)
	l, err := OpenOn(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Reserve("count", journalEvent, 1)
	if err != nil {
		t.Fatal(err)
	}
	j.write = errNetwork
	r.Note(RealNoise)
	l.MarkNotPrivate("bad")
	j.write = nil
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenOn(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	if n := again.Entries()[0].Notes; len(n) != 1 || again.NotPrivate() != "bad" {
		t.Errorf("notes %v, not private: %q", n, again.NotPrivate())
	}
}

// TestJournalQuestionsWhileAsking: while a policy runs, queries are answered, and they include the
// reservations that other ledgers make in the meantime. A decision made without these reservations
// is repeated.
func TestJournalQuestionsWhileAsking(t *testing.T) {
	j := &listed{}
	other := created(t, j)
	asked := 0
	var l *Ledger
	l, err := OpenOn(t.Context(), j, WithPolicy(func(Request) error {
		asked++
		before := l.Epsilon().Upper
		if err := other.Spend("big", accountant.Gaussian{NoiseMultiplier: 3}); err != nil {
			t.Error(err)
		}
		if after := l.Epsilon().Upper; !(after > before) {
			t.Errorf("ε = %v, then %v", before, after)
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	err = l.Spend("big", accountant.Gaussian{NoiseMultiplier: 3}) // there was room for one use only
	if !errors.Is(err, accountant.ErrBudgetExceeded) || asked != 1 {
		t.Errorf("got %d calls of the policy and %v, want 1 call and ErrBudgetExceeded", asked, err)
	}
}

// TestJournalDecidesOnWhatItWrites: if lines of another ledger are read after a decision, the
// decision is repeated.
func TestJournalDecidesOnWhatItWrites(t *testing.T) {
	j := &listed{}
	other := created(t, j)
	l, err := OpenOn(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	decided := 0
	l.shared.reserve.Lock()
	defer l.shared.reserve.Unlock()
	err = l.shared.commit(operation{
		decide: func() error {
			if decided++; decided == 1 {
				if err := other.Spend("count", journalEvent); err != nil {
					t.Error(err)
				}
				l.Epsilon() // reads lines, as another goroutine could
			}
			return nil
		},
		lines: func() []*change { return []*change{{NotPrivate: "a test"}} },
		do:    func() {},
	})
	if err != nil || decided != 2 {
		t.Errorf("got %d decisions (%v), want 2", decided, err)
	}
}

// TestJournalStuck: a journal that always reports a conflicting line but never returns one leads
// to an error.
func TestJournalStuck(t *testing.T) {
	j := &faulty{listed: &listed{}}
	l := created(t, j)
	j.write = ErrConflict
	if err := l.Spend("count", journalEvent); !errors.Is(err, ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
}
