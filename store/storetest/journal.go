package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/store"
)

// A Subject is a backend under test.
type Subject struct {
	// Place creates an empty place for ledgers. It returns the name of the place, such as a folder or
	// an address, with which another process can open it.
	Place func(t *testing.T) string
	// Open opens a place. Every call returns a separate handle, as if another process had opened it.
	Open func(place string) (store.Backend, error)
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
func (p *place) backend(t *testing.T) store.Backend {
	t.Helper()
	b, err := p.subject.Open(p.address)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// journal returns another handle of the one journal.
func (p *place) journal(t *testing.T, mode store.Mode) accountant.Journal {
	t.Helper()
	j, err := p.backend(t).Journal(t.Context(), "people", mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// next returns a line with some text that follows a position.
func next(after accountant.Position, text string, snapshot bool) accountant.JournalLine {
	n := after.Line + 1
	if snapshot {
		text = fmt.Sprintf(`{"line":%d,"snapshot":%q}`, n, text)
	} else {
		text = fmt.Sprintf(`{"line":%d,"text":%q}`, n, text)
	}
	hash := accountant.ChainHash(after.Hash, []byte(text))
	return accountant.JournalLine{Position: accountant.Position{Line: n, Hash: hash},
		Text: []byte(text), Snapshot: snapshot}
}

// add appends a line and returns its position.
func add(t *testing.T, j accountant.Journal, after accountant.Position,
	text string) accountant.Position {
	t.Helper()
	line := next(after, text, false)
	if err := j.Append(t.Context(), after, []accountant.JournalLine{line}); err != nil {
		t.Fatal(err)
	}
	return line.Position
}

// read returns everything after a position.
func read(ctx context.Context, j accountant.Journal,
	after accountant.Position) (lines []accountant.JournalLine, err error) {
	for line, err := range j.Read(ctx, after) {
		if err != nil {
			return lines, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// all reads the whole of a journal that was never trimmed, and checks the chain.
func all(t *testing.T, j accountant.Journal) []accountant.JournalLine {
	t.Helper()
	lines, err := read(t.Context(), j, accountant.Position{})
	if err != nil {
		t.Fatal(err)
	}
	at := accountant.Position{}
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
	for _, mode := range []store.Mode{store.Read, store.Write} {
		if _, err := b.Journal(t.Context(), "people", mode); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("opening a missing journal in mode %d: got %v, want ErrNotFound", mode, err)
		}
	}
	at := add(t, p.journal(t, store.Create), accountant.Position{}, "one")
	add(t, p.journal(t, store.Create), at, "two") // the same journal, not a new one
	if got := all(t, p.journal(t, store.Read)); len(got) != 2 {
		t.Errorf("got %d lines, want 2", len(got))
	}
	line := next(at, "x", false)
	err := p.journal(t, store.Read).Append(t.Context(), at, []accountant.JournalLine{line})
	if !errors.Is(err, accountant.ErrReadOnly) {
		t.Errorf("Append to a journal that was opened for reading: got %v, want ErrReadOnly", err)
	}
	other, err := p.backend(t).Journal(t.Context(), "a.b_c-9", store.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	add(t, other, accountant.Position{}, "other")
	names, err := b.Names(t.Context())
	if want := []string{"a.b_c-9", "people"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("names: got %q, %v", names, err)
	}
	if p.journal(t, store.Read).Place() == "" {
		t.Error("Place returns an empty text")
	}
}

// texts are texts that are difficult to keep.
var texts = []string{"", "plain", "ä→\u2028 \x00\x7f", `quote " and \ slash`, "many\nlines\r\n",
	strings.Repeat("long ", 1<<16)}

func testReadBack(t *testing.T, p *place) {
	j := p.journal(t, store.Create)
	if got := all(t, j); len(got) != 0 {
		t.Fatalf("a new journal has %d lines, want none", len(got))
	}
	var want []accountant.JournalLine
	at := accountant.Position{}
	for _, text := range texts {
		line := next(at, text, false)
		if err := j.Append(t.Context(), at, []accountant.JournalLine{line}); err != nil {
			t.Fatal(err)
		}
		want = append(want, line)
		at = line.Position
	}
	writer, reader := p.journal(t, store.Write), p.journal(t, store.Read)
	for _, handle := range []accountant.Journal{j, writer, reader} {
		for i := range want {
			var after accountant.Position
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
		for range handle.Read(t.Context(), accountant.Position{}) {
			break // a reader that stops early leaves the journal usable
		}
	}
	add(t, j, at, "goes on")
}

func sameLine(a, b accountant.JournalLine) bool {
	return a.Position == b.Position && a.Snapshot == b.Snapshot && string(a.Text) == string(b.Text)
}

func testCompare(t *testing.T, p *place) {
	j, k := p.journal(t, store.Create), p.journal(t, store.Write)
	one := add(t, j, accountant.Position{}, "one")
	two := add(t, j, one, "two")
	for _, after := range []accountant.Position{{}, one, {Line: two.Line, Hash: one.Hash},
		{Line: two.Line + 1, Hash: two.Hash}, {Line: two.Line}} {
		for _, handle := range []accountant.Journal{j, k} {
			line := next(after, "wrong", false)
			err := handle.Append(t.Context(), after, []accountant.JournalLine{line})
			if !errors.Is(err, accountant.ErrConflict) {
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
	j := p.journal(t, store.Create)
	one := add(t, j, accountant.Position{}, "one")
	two := add(t, j, one, "two")
	lost := next(two, "three", false).Position
	for _, mode := range []store.Mode{store.Write, store.Read} {
		k := p.journal(t, mode)
		for _, after := range []accountant.Position{lost, {Line: 2, Hash: one.Hash}} {
			if _, err := read(t.Context(), k, after); !errors.Is(err, accountant.ErrRolledBack) {
				t.Errorf("reading in mode %d after %+v: got %v, want ErrRolledBack", mode, after, err)
			}
		}
	}
}

func testBatches(t *testing.T, p *place) {
	j, k := p.journal(t, store.Create), p.journal(t, store.Write)
	one := next(accountant.Position{}, "one", false)
	two := next(one.Position, "two", false)
	batch := []accountant.JournalLine{one, two}
	if err := j.Append(t.Context(), accountant.Position{}, batch); err != nil {
		t.Fatal(err)
	}
	err := k.Append(t.Context(), accountant.Position{}, batch)
	if !errors.Is(err, accountant.ErrConflict) {
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
	p.journal(t, store.Create)
	var wg sync.WaitGroup
	for h := range handles {
		j := p.journal(t, store.Write)
		wg.Go(func() {
			at := accountant.Position{}
			for i := 0; i < each; {
				line := next(at, fmt.Sprintf("%d/%d", h, i), false)
				switch err := j.Append(t.Context(), at, []accountant.JournalLine{line}); {
				case err == nil:
					at = line.Position
					i++
				case errors.Is(err, accountant.ErrConflict):
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
	for _, line := range all(t, p.journal(t, store.Read)) {
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
	j, k := p.journal(t, store.Create), p.journal(t, store.Write)
	testLatest(t, p.journal(t, store.Create), 0)
	trimmer, ok := j.(accountant.Trimmer)
	if !ok {
		t.Skip("the backend keeps every line")
	}
	one := add(t, j, accountant.Position{}, "one")
	two := add(t, j, one, "two")
	snapshot := next(two, "both", true)
	if err := j.Append(t.Context(), two, []accountant.JournalLine{snapshot}); err != nil {
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
	for _, handle := range []accountant.Journal{j, k, p.journal(t, store.Read)} {
		testLatest(t, handle, 3)
		for _, after := range []accountant.Position{{}, one, two} {
			got, err := read(t.Context(), handle, after)
			if err != nil || len(got) != 2 || !sameLine(got[0], snapshot) {
				t.Errorf("reading after line %d: got %d lines, %v, want 2", after.Line, len(got), err)
			}
		}
		if got, err := read(t.Context(), handle, snapshot.Position); err != nil || len(got) != 1 {
			t.Errorf("reading after the snapshot: got %d lines, %v, want 1", len(got), err)
		}
		if _, err := read(t.Context(), handle, next(four, "lost", false).Position); !errors.Is(err,
			accountant.ErrRolledBack) {
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
func testLatest(t *testing.T, j accountant.Journal, want uint64) {
	t.Helper()
	s, ok := j.(accountant.Snapshotter)
	if !ok {
		return
	}
	first := uint64(0)
	for line, err := range s.ReadLatest(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = line.Line
		}
	}
	if first != want {
		t.Errorf("ReadLatest begins with line %d, want %d", first, want)
	}
}

func testCancelled(t *testing.T, p *place) {
	j := p.journal(t, store.Create)
	at := add(t, j, accountant.Position{}, "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	line := next(at, "two", false)
	if err := j.Append(ctx, at, []accountant.JournalLine{line}); err == nil {
		t.Error("a cancelled Append returned no error")
	}
	if _, err := read(ctx, j, accountant.Position{}); err == nil {
		t.Error("a cancelled Read returned no error")
	}
	add(t, j, at, "two")
}

func testLock(t *testing.T, p *place) {
	j, ok := p.journal(t, store.Create).(accountant.Locker)
	if !ok {
		t.Skip("the backend has no lock")
	}
	k := p.journal(t, store.Write).(accountant.Locker)
	unlock, err := j.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := add(t, j, accountant.Position{}, "under the lock")
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
