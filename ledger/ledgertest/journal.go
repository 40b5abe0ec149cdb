package ledgertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/ledger"
)

// A Subject is a backend under test.
type Subject struct {
	// Place creates an empty place for ledgers. It returns the name of the place, such as a folder or
	// an address, with which another process can open it.
	Place func(t *testing.T) string
	// Open opens a place. Every call returns a separate handle, as if another process had opened it.
	Open func(place string) (ledger.Backend, error)
}

// Run tests the backend against the whole contract.
func Run(t *testing.T, s Subject) {
	t.Run("journals", func(t *testing.T) {
		for _, c := range []struct {
			name string
			test func(*testing.T, *place)
		}{
			{"names and modes", testModes},
			{"lines are read back", testReadBack},
			{"append compares the position", testCompare},
			{"a reader ahead of the journal is told", testRolledBack},
			{"lines are added all or none", testBatches},
			{"appends from many handles", testRace},
			{"trimming", testTrim},
			{"cancelled", testCancelled},
			{"the lock excludes", testLock},
		} {
			t.Run(c.name, func(t *testing.T) { c.test(t, s.at(t)) })
		}
	})
	t.Run("ledgers", func(t *testing.T) { ledgers(t, s) })
}

// place is one place under test.
type place struct {
	subject Subject
	address string
}

func (s Subject) at(t *testing.T) *place { return &place{s, s.Place(t)} }

// backend returns another handle of the place.
func (p *place) backend(t *testing.T) ledger.Backend {
	t.Helper()
	b, err := p.subject.Open(p.address)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// journal returns another handle of the one journal.
func (p *place) journal(t *testing.T, mode ledger.Mode) ledger.Journal {
	t.Helper()
	j, err := p.backend(t).Journal(t.Context(), "people", mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// next returns a line with some text that follows a position.
func next(after ledger.Position, text string, snapshot bool) ledger.JournalLine {
	n := after.Line + 1
	if snapshot {
		text = fmt.Sprintf(`{"line":%d,"snapshot":%q}`, n, text)
	} else {
		text = fmt.Sprintf(`{"line":%d,"text":%q}`, n, text)
	}
	hash := ledger.ChainHash(after.Hash, []byte(text))
	return ledger.JournalLine{Position: ledger.Position{Line: n, Hash: hash},
		Text: []byte(text), Snapshot: snapshot}
}

// add appends a line and returns its position.
func add(t *testing.T, j ledger.Journal, after ledger.Position,
	text string) ledger.Position {
	t.Helper()
	line := next(after, text, false)
	if err := j.Append(t.Context(), after, []ledger.JournalLine{line}); err != nil {
		t.Fatal(err)
	}
	return line.Position
}

// read returns everything after a position.
func read(ctx context.Context, j ledger.Journal,
	after ledger.Position) (lines []ledger.JournalLine, err error) {
	for line, err := range j.Read(ctx, after) {
		if err != nil {
			return lines, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// all reads the whole of a journal that was never trimmed, and checks the chain.
func all(t *testing.T, j ledger.Journal) []ledger.JournalLine {
	t.Helper()
	lines, err := read(t.Context(), j, ledger.Position{})
	if err != nil {
		t.Fatal(err)
	}
	at := ledger.Position{}
	for _, line := range lines {
		if err := line.Follows(at); err != nil {
			t.Fatal(err)
		}
		at = line.Position
	}
	return lines
}

func testModes(t *testing.T, p *place) {
	b := p.backend(t)
	for _, mode := range []ledger.Mode{ledger.Read, ledger.Write} {
		if _, err := b.Journal(t.Context(), "people", mode); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("opening a missing journal in mode %d: got %v, want ErrNotFound", mode, err)
		}
	}
	at := add(t, p.journal(t, ledger.Create), ledger.Position{}, "one")
	add(t, p.journal(t, ledger.Create), at, "two") // the same journal, not a new one
	if got := all(t, p.journal(t, ledger.Read)); len(got) != 2 {
		t.Errorf("got %d lines, want 2", len(got))
	}
	line := next(at, "x", false)
	err := p.journal(t, ledger.Read).Append(t.Context(), at, []ledger.JournalLine{line})
	if !errors.Is(err, ledger.ErrReadOnly) {
		t.Errorf("Append to a journal that was opened for reading: got %v, want ErrReadOnly", err)
	}
	other, err := p.backend(t).Journal(t.Context(), "a.b_c-9", ledger.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	add(t, other, ledger.Position{}, "other")
	names, err := b.Names(t.Context())
	if want := []string{"a.b_c-9", "people"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("names: got %q, %v", names, err)
	}
	if p.journal(t, ledger.Read).Place() == "" {
		t.Error("Place returns an empty text")
	}
}

// texts are texts that are difficult to keep.
var texts = []string{"", "plain", "ä→\u2028 \x00\x7f", `quote " and \ slash`, "many\nlines\r\n",
	strings.Repeat("long ", 1<<16)}

func testReadBack(t *testing.T, p *place) {
	j := p.journal(t, ledger.Create)
	if got := all(t, j); len(got) != 0 {
		t.Fatalf("a new journal has %d lines, want none", len(got))
	}
	var want []ledger.JournalLine
	at := ledger.Position{}
	for _, text := range texts {
		line := next(at, text, false)
		if err := j.Append(t.Context(), at, []ledger.JournalLine{line}); err != nil {
			t.Fatal(err)
		}
		want = append(want, line)
		at = line.Position
	}
	writer, reader := p.journal(t, ledger.Write), p.journal(t, ledger.Read)
	for _, handle := range []ledger.Journal{j, writer, reader} {
		for i := range want {
			var after ledger.Position
			if i > 0 {
				after = want[i-1].Position
			}
			got, err := read(t.Context(), handle, after)
			if err != nil || !slices.EqualFunc(got, want[i:], sameLine) {
				t.Fatalf("reading after line %d: got %d lines, %v", after.Line, len(got), err)
			}
		}
		if got, err := read(t.Context(), handle, at); err != nil || len(got) != 0 {
			t.Errorf("reading after the last line: got %d lines, %v, want none", len(got), err)
		}
		for range handle.Read(t.Context(), ledger.Position{}) {
			break // a reader that stops early leaves the journal usable
		}
	}
	add(t, j, at, "goes on")
}

func sameLine(a, b ledger.JournalLine) bool {
	return a.Position == b.Position && a.Snapshot == b.Snapshot && string(a.Text) == string(b.Text)
}

func testCompare(t *testing.T, p *place) {
	j, k := p.journal(t, ledger.Create), p.journal(t, ledger.Write)
	one := add(t, j, ledger.Position{}, "one")
	two := add(t, j, one, "two")
	for _, after := range []ledger.Position{{}, one, {Line: two.Line, Hash: one.Hash},
		{Line: two.Line + 1, Hash: two.Hash}, {Line: two.Line}} {
		for _, handle := range []ledger.Journal{j, k} {
			line := next(after, "wrong", false)
			err := handle.Append(t.Context(), after, []ledger.JournalLine{line})
			if !errors.Is(err, ledger.ErrConflict) {
				t.Errorf("Append after %+v: got %v, want ErrConflict", after, err)
			}
		}
	}
	three := add(t, k, two, "three")
	add(t, j, three, "four")
	if got := all(t, k); len(got) != 4 {
		t.Errorf("got %d lines, want 4", len(got))
	}
}

func testRolledBack(t *testing.T, p *place) {
	j := p.journal(t, ledger.Create)
	one := add(t, j, ledger.Position{}, "one")
	two := add(t, j, one, "two")
	lost := next(two, "three", false).Position
	for _, mode := range []ledger.Mode{ledger.Write, ledger.Read} {
		k := p.journal(t, mode)
		for _, after := range []ledger.Position{lost, {Line: 2, Hash: one.Hash}} {
			if _, err := read(t.Context(), k, after); !errors.Is(err, ledger.ErrRolledBack) {
				t.Errorf("reading in mode %d after %+v: got %v, want ErrRolledBack", mode, after, err)
			}
		}
	}
}

func testBatches(t *testing.T, p *place) {
	j, k := p.journal(t, ledger.Create), p.journal(t, ledger.Write)
	one := next(ledger.Position{}, "one", false)
	two := next(one.Position, "two", false)
	batch := []ledger.JournalLine{one, two}
	if err := j.Append(t.Context(), ledger.Position{}, batch); err != nil {
		t.Fatal(err)
	}
	err := k.Append(t.Context(), ledger.Position{}, batch)
	if !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("the same lines again: got %v, want ErrConflict", err)
	}
	if got := all(t, k); len(got) != 2 {
		t.Errorf("got %d lines, want 2", len(got))
	}
}

// testRace appends from several handles at once. Every line whose Append returned without an error
// must be in the journal once, and no other line.
func testRace(t *testing.T, p *place) {
	const handles, each = 6, 25
	p.journal(t, ledger.Create)
	var wg sync.WaitGroup
	for h := range handles {
		j := p.journal(t, ledger.Write)
		wg.Go(func() {
			at := ledger.Position{}
			for i := 0; i < each; {
				line := next(at, fmt.Sprintf("%d/%d", h, i), false)
				switch err := j.Append(t.Context(), at, []ledger.JournalLine{line}); {
				case err == nil:
					at = line.Position
					i++
				case errors.Is(err, ledger.ErrConflict):
					more, err := read(t.Context(), j, at)
					if err != nil {
						t.Error(err)
						return
					}
					if len(more) > 0 {
						at = more[len(more)-1].Position
					}
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, line := range all(t, p.journal(t, ledger.Read)) {
		_, text, _ := strings.Cut(string(line.Text), `"text":`)
		if seen[text] {
			t.Errorf("the line %s is in the journal twice", text)
		}
		seen[text] = true
	}
	if len(seen) != handles*each {
		t.Errorf("got %d lines, want %d", len(seen), handles*each)
	}
}

func testTrim(t *testing.T, p *place) {
	j, k := p.journal(t, ledger.Create), p.journal(t, ledger.Write)
	testLatest(t, p.journal(t, ledger.Create), 0)
	trimmer, ok := j.(ledger.Trimmer)
	if !ok {
		t.Skip("the backend keeps every line")
	}
	one := add(t, j, ledger.Position{}, "one")
	two := add(t, j, one, "two")
	snapshot := next(two, "both", true)
	if err := j.Append(t.Context(), two, []ledger.JournalLine{snapshot}); err != nil {
		t.Fatal(err)
	}
	four := add(t, j, snapshot.Position, "four")
	for _, bad := range []uint64{2, 4, 5} {
		if err := trimmer.Trim(t.Context(), bad); err == nil {
			t.Errorf("trimming before line %d, which is not a snapshot, was accepted", bad)
		}
	}
	testLatest(t, k, 3)
	if got, err := read(t.Context(), k, one); err != nil || len(got) != 3 {
		t.Fatalf("before trimming: got %d lines, %v, want 3", len(got), err)
	}
	if err := trimmer.Trim(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	for _, handle := range []ledger.Journal{j, k, p.journal(t, ledger.Read)} {
		testLatest(t, handle, 3)
		for _, after := range []ledger.Position{{}, one, two} {
			got, err := read(t.Context(), handle, after)
			if err != nil || len(got) != 2 || !sameLine(got[0], snapshot) {
				t.Errorf("reading after line %d: got %d lines, %v, want 2", after.Line, len(got), err)
			}
		}
		if got, err := read(t.Context(), handle, snapshot.Position); err != nil || len(got) != 1 {
			t.Errorf("reading after the snapshot: got %d lines, %v, want 1", len(got), err)
		}
		if _, err := read(t.Context(), handle, next(four, "lost", false).Position); !errors.Is(err,
			ledger.ErrRolledBack) {
			t.Errorf("reading after a missing line: got %v, want ErrRolledBack", err)
		}
	}
	add(t, k, four, "goes on")
	if got, err := read(t.Context(), j, four); err != nil || len(got) != 1 {
		t.Errorf("after trimming: got %d lines, %v, want 1", len(got), err)
	}
}

// testLatest checks that a ledger begins to read at the line with the number want. It does so only
// for journals that can find the last snapshot by themselves. 0 means that there must be no line.
func testLatest(t *testing.T, j ledger.Journal, want uint64) {
	t.Helper()
	s, ok := j.(ledger.Snapshotter)
	if !ok {
		return
	}
	first := uint64(0)
	for line, err := range s.ReadLatest(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		first = cmp.Or(first, line.Line)
	}
	if first != want {
		t.Errorf("ReadLatest begins with line %d, want %d", first, want)
	}
}

func testCancelled(t *testing.T, p *place) {
	j := p.journal(t, ledger.Create)
	at := add(t, j, ledger.Position{}, "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	line := next(at, "two", false)
	if err := j.Append(ctx, at, []ledger.JournalLine{line}); err == nil {
		t.Error("a cancelled Append returned no error")
	}
	if _, err := read(ctx, j, ledger.Position{}); err == nil {
		t.Error("a cancelled Read returned no error")
	}
	add(t, j, at, "two")
}

func testLock(t *testing.T, p *place) {
	j, ok := p.journal(t, ledger.Create).(ledger.Locker)
	if !ok {
		t.Skip("the backend has no lock")
	}
	k := p.journal(t, ledger.Write).(ledger.Locker)
	unlock, err := j.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := add(t, j, ledger.Position{}, "under the lock")
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := k.Lock(short); err == nil {
		t.Fatal("two handles have the lock at once")
	}
	unlock()
	unlock, err = k.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read(t.Context(), k, at); err != nil || len(got) != 0 {
		t.Errorf("reading under the lock: got %d lines, %v, want none", len(got), err)
	}
	add(t, k, at, "goes on")
	unlock()
}
