package sqlledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestRowsOfAJournal: what the rows of a query show about lines that were lost, changed or left
// out.
func TestRowsOfAJournal(t *testing.T) {
	at := func(line uint64, hash string) ledger.Position {
		return ledger.Position{Line: line,
			Hash: hash}
	}
	for what, c := range map[string]struct {
		after ledger.Position
		line  ledger.JournalLine
		want  error
	}{
		"the line seen": {at(3, "c"), ledger.JournalLine{Position: at(3, "c")}, nil},
		"another line": {at(3, "c"), ledger.JournalLine{Position: at(3, "x")},
			ledger.ErrRolledBack},
		"a snapshot of it": {at(3, "c"), ledger.JournalLine{Position: at(3, "c"), Snapshot: true},
			nil},
		"a trimmed journal": {at(3, "c"), ledger.JournalLine{Position: at(5, "e"), Snapshot: true},
			nil},
		"a line left out": {at(3, "c"), ledger.JournalLine{Position: at(4, "d")}, ledger.ErrDamaged},
	} {
		r := reader{after: c.after}
		if err := r.first(c.line); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	for what, c := range map[string]struct {
		after, last, head ledger.Position
		rows              int
		want              error
	}{
		"all lines":      {at(1, "a"), at(3, "c"), at(3, "c"), 3, nil},
		"nothing more":   {at(3, "c"), at(3, "c"), at(3, "c"), 1, nil},
		"an empty one":   {rows: 1},
		"a removed one":  {at(1, "a"), at(0, ""), at(0, ""), 0, ledger.ErrRolledBack},
		"fewer lines":    {at(4, "d"), at(0, ""), at(3, "c"), 1, ledger.ErrRolledBack},
		"one line less":  {at(4, "d"), at(3, "c"), at(3, "c"), 1, ledger.ErrRolledBack},
		"the last line":  {at(1, "a"), at(2, "b"), at(3, "c"), 2, ledger.ErrDamaged},
		"its hash":       {at(1, "a"), at(3, "x"), at(3, "c"), 3, ledger.ErrDamaged},
		"a line too far": {at(1, "a"), at(4, "d"), at(3, "c"), 4, ledger.ErrDamaged},
	} {
		r := reader{after: c.after, last: c.last, head: c.head, rows: c.rows}
		if err := r.end(); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
}

// TestLinesThatAreNotAdded: a journal in a file adds lines only in their order, after the line that
// the caller has seen, and through a handle that may write.
func TestLinesThatAreNotAdded(t *testing.T) {
	ctx := t.Context()
	store := ledger.NewStore(SQLite(filepath.Join(t.TempDir(), "ledgers.db")))
	l, err := store.Create(ctx, "people", ledger.Terms{Budget: accountant.Budget{Epsilon: 1,
		Delta: 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	open := func(mode ledger.Mode) *journal {
		j, err := store.Journal(ctx, "people", mode)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.Close() })
		return j.(*journal)
	}
	w, r := open(ledger.Write), open(ledger.Read)
	lines := func() (all []ledger.JournalLine) {
		for line, err := range w.Read(ctx, ledger.Position{}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, line)
		}
		return all
	}
	next := func(after ledger.Position, line uint64) ledger.JournalLine {
		text := []byte(`{"line":2}`)
		return ledger.JournalLine{Position: ledger.Position{Line: line,
			Hash: ledger.ChainHash(after.Hash, text)}, Text: text}
	}
	before := lines()
	head := before[len(before)-1].Position
	good := next(head, head.Line+1)
	if err := w.Append(ctx, head, nil); err != nil {
		t.Errorf("no lines: %v", err)
	}
	for what, c := range map[string]struct {
		j     *journal
		after ledger.Position
		lines []ledger.JournalLine
		want  error
	}{
		"a reader":        {r, head, []ledger.JournalLine{good}, ledger.ErrReadOnly},
		"another head":    {w, ledger.Position{}, []ledger.JournalLine{good}, ledger.ErrConflict},
		"another hash":    {w, good.Position, []ledger.JournalLine{good}, ledger.ErrConflict},
		"a gap":           {w, head, []ledger.JournalLine{next(head, head.Line+2)}, nil},
		"the same number": {w, head, []ledger.JournalLine{next(head, head.Line)}, nil},
		"a gap within":    {w, head, []ledger.JournalLine{good, next(good.Position, good.Line+2)}, nil},
	} {
		if err := c.j.Append(ctx, c.after, c.lines); err == nil || c.want != nil && !errors.Is(err,
			c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	if _, err := w.db.ExecContext(ctx, `CREATE TRIGGER full BEFORE INSERT ON privgen_lines
		BEGIN SELECT RAISE(FAIL, 'the disk is full'); END`); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(ctx, head, []ledger.JournalLine{good}); err == nil {
		t.Error("a line that the database does not take is reported as added")
	}
	if _, err := w.db.ExecContext(ctx, `DROP TRIGGER full`); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lock(ctx); !errors.Is(err, ledger.ErrReadOnly) {
		t.Errorf("a reader locks: %v", err)
	}
	if err := r.Trim(ctx, 1); !errors.Is(err, ledger.ErrReadOnly) {
		t.Errorf("a reader trims: %v", err)
	}
	if err := w.Trim(ctx, 1); err == nil {
		t.Error("lines before one that is no snapshot are removed")
	}
	for _, err := range w.Read(ctx, ledger.Position{Line: math.MaxUint64, Hash: "x"}) {
		if !errors.Is(err, ledger.ErrRolledBack) {
			t.Errorf("after line 2⁶⁴-1: %v", err)
		}
	}
	if after := lines(); len(after) != len(before) {
		t.Errorf("%d lines were added or removed", len(after)-len(before))
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.Lock(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("a lock in a context that ended: %v", err)
	}
	if names, err := store.Names(cancelled); !errors.Is(err, context.Canceled) || names != nil {
		t.Errorf("names in a context that ended: %q, %v", names, err)
	}
	if names, err := store.Names(ctx); err != nil || len(names) != 1 || names[0] != "people" {
		t.Errorf("the names are %q: %v", names, err)
	}
	if _, err := w.db.ExecContext(ctx, `DELETE FROM privgen_ledgers`); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(ctx, head, []ledger.JournalLine{good}); !errors.Is(err, ledger.ErrRolledBack) {
		t.Errorf("a ledger that was removed: %v", err)
	}
}

// TestSnapshotsAreOfTheirLedger: the snapshot from which a ledger is read is its own, also where
// another ledger of the database has a later one.
func TestSnapshotsAreOfTheirLedger(t *testing.T) {
	eachDatabase(t, func(t *testing.T, place string) {
		b := mustOpen(t, place)
		for name, snapshot := range map[string]uint64{"early": 2, "late": 4, "none": 0} {
			j, err := b.Journal(t.Context(), name, ledger.Create)
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			var at ledger.Position
			for range 5 {
				next := ledger.JournalLine{Text: fmt.Appendf(nil, `{"line":%d}`, at.Line+1),
					Snapshot: at.Line+1 == snapshot}
				next.Position = ledger.Position{Line: at.Line + 1, Hash: ledger.ChainHash(at.Hash, next.Text)}
				if err := j.Append(t.Context(), at, []ledger.JournalLine{next}); err != nil {
					t.Fatal(err)
				}
				at = next.Position
			}
		}
		for name, first := range map[string]uint64{"early": 2, "late": 4, "none": 1} {
			j, err := b.Journal(t.Context(), name, ledger.Read)
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			for l, err := range j.(ledger.Snapshotter).ReadLatest(t.Context()) {
				if err != nil || l.Line != first || l.Snapshot != (name != "none") {
					t.Errorf("%s: begins with line %d (%v), want %d", name, l.Line, err, first)
				}
				break
			}
		}
	})
}
