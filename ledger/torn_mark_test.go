package ledger

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// TestTornFirstMark tears the first mark of a journal at every byte. A journal that holds its first
// line only, before which nothing was ever confirmed, goes on. Any other journal is refused, since
// lines that were confirmed may be missing in it.
func TestTornFirstMark(t *testing.T) {
	disk := newSimulated()
	s := simulatedStore(t, disk)
	l, err := s.Create(t.Context(), "people", testTerms)
	if err != nil {
		t.Fatal(err)
	}
	first, whole := contents(disk)
	if err := l.Spend("count", cheap); err != nil {
		t.Fatal(err)
	}
	second, _ := contents(disk)
	length := len(bytes.TrimRight(whole, "\x00"))
	open := func(journal, mark []byte) error {
		for name, f := range disk.names {
			if f.content = bytes.Clone(mark); bytes.HasSuffix([]byte(name), []byte("journal")) {
				f.content = bytes.Clone(journal)
			}
		}
		l, err := s.Open(t.Context(), "people")
		if err != nil {
			return err
		}
		if n := len(l.Entries()); n != 0 {
			t.Errorf("a ledger that was just made has %d entries", n)
		}
		return errors.Join(l.Spend("afterwards", cheap), l.Close())
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < length; n++ {
		torn := make([]byte, 2*slotSize)
		if copy(torn, whole[:n]); n%2 == 0 { // the end was written and the beginning was not
			clear(torn)
			copy(torn[n:], whole[n:length])
		}
		if err := open(first, torn); err != nil {
			t.Fatalf("torn at byte %d: %v", n, err)
		}
		if journal, mark := contents(disk); len(journal) <= len(first) || bytes.Equal(mark, torn) {
			t.Fatalf("torn at byte %d: the ledger did not go on", n)
		}
		other := bytes.Clone(torn)
		other[slotSize+rng.IntN(slotSize)] = 'x'
		swapped := append(make([]byte, slotSize), torn[:slotSize]...)
		changed := bytes.Clone(first)
		changed[rng.IntN(len(changed))] ^= 1
		for name, files := range map[string][2][]byte{
			"no line":             {nil, torn},
			"two lines":           {second, torn},
			"a piece of a second": {second[:len(first)+1+rng.IntN(len(second)-len(first)-1)], torn},
			"a changed line":      {changed, torn},
			"a cut line":          {first[:rng.IntN(len(first))], torn},
			"two torn slots":      {first, other},
			"a torn second slot":  {first, swapped},
			"a mark too long":     {first, append(bytes.Clone(torn), 'x')},
		} {
			if err := open(files[0], files[1]); !errors.Is(err, ErrDamaged) {
				t.Fatalf("torn at byte %d, %s: got %v, want ErrDamaged", n, name, err)
			}
		}
	}
}

// TestTornLaterMark tears the mark of a journal's last line. The journal holds that line, and goes
// on. A journal without it was restored from an older copy, although the other slot names the line
// before: uses that the missing line set aside may have been drawn.
func TestTornLaterMark(t *testing.T) {
	disk := newSimulated()
	s := simulatedStore(t, disk)
	l, err := s.Create(t.Context(), "people", testTerms)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := contents(disk)
	if err := l.Spend("count", cheap); err != nil {
		t.Fatal(err)
	}
	whole, mark := contents(disk)
	mark[slotSize+3] ^= 1
	open := func(journal []byte) error {
		for name, f := range disk.names {
			if f.content = bytes.Clone(mark); bytes.HasSuffix([]byte(name), []byte("journal")) {
				f.content = bytes.Clone(journal)
			}
		}
		l, err := s.Open(t.Context(), "people")
		if err != nil {
			return err
		}
		return errors.Join(l.Spend("afterwards", cheap), l.Close())
	}
	if err := open(before); !errors.Is(err, ErrRolledBack) {
		t.Errorf("a journal without its last line: got %v, want ErrRolledBack", err)
	}
	if err := open(whole); err != nil {
		t.Errorf("a journal with all its lines: %v", err)
	}
}

// contents returns the journal and the mark.
func contents(d *simulated) (journal, mark []byte) {
	for name, f := range d.names {
		if bytes.HasSuffix([]byte(name), []byte("journal")) {
			journal = bytes.Clone(f.content)
		} else {
			mark = bytes.Clone(f.content)
		}
	}
	return journal, mark
}

// TestTornFirstMarkOfAnAudit checks that a process that only reads is refused until a process that
// may write has mended the mark.
func TestTornFirstMarkOfAnAudit(t *testing.T) {
	disk := newSimulated()
	s := simulatedStore(t, disk)
	if _, err := s.Create(t.Context(), "people", testTerms); err != nil {
		t.Fatal(err)
	}
	for name, f := range disk.names {
		if !bytes.HasSuffix([]byte(name), []byte("journal")) {
			clear(f.content[10:])
		}
	}
	if _, err := s.Audit(t.Context(), "people"); !errors.Is(err, ErrDamaged) {
		t.Errorf("a line that was never confirmed is read: %v", err)
	}
	if _, err := s.Open(t.Context(), "people"); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Audit(t.Context(), "people"); err != nil || l.Epsilon().Upper != 0 {
		t.Errorf("the mended journal is refused: %v", err)
	}
}
