package ledger

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Kept states where a ledger is stored and which of its lines was seen last.
type Kept struct {
	Store    string   `json:"store"`    // the journal's Place
	Ledger   string   `json:"ledger"`   // name of the ledger
	ID       string   `json:"id"`       // ID of the journal, which no other journal has
	Position Position `json:"position"` // of the last line
}

// String returns the store, the ledger and the line.
func (k *Kept) String() string {
	return fmt.Sprintf("%q in %s, lines 1 to %d, hash %.16s", k.Ledger, k.Store, k.Position.Line,
		k.Position.Hash)
}

// LineSpan describes which lines of a journal reserved the uses of an entry.
type LineSpan struct {
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Number int    `json:"number"` // of lines, First and Last included
}

// String describes the lines.
func (s *LineSpan) String() string {
	if s.Number == 1 {
		return fmt.Sprintf("line %d", s.First)
	}
	return fmt.Sprintf("%d lines from %d to %d", s.Number, s.First, s.Last)
}

func (s *LineSpan) copied() *LineSpan {
	if s == nil {
		return nil
	}
	c := *s
	return &c
}

// name records on an entry that the next line reserves uses of it; the caller holds the state lock.
func (j *journaled) name(en *entry) {
	if j == nil {
		return
	}
	n := j.head.Line + uint64(j.waiting) + 1
	if en.lines == nil {
		en.lines = &LineSpan{First: n}
	}
	if en.lines.Last != n {
		en.lines.Last = n
		en.lines.Number++
	}
}

// kept returns where the ledger is kept, as of the last applied line.
func (j *journaled) kept() *Kept {
	if j == nil {
		return nil
	}
	return &Kept{j.lines.Place(), j.terms.Name, j.id, j.head}
}

// Kept returns where the ledger is kept and the last line seen; nil for a ledger in memory. A
// caller can store the result, for example in a checkpoint, and pass it to Holds later.
func (l *Ledger) Kept() *Kept {
	l = l.original()
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	return l.shared.journal.kept()
}

// ErrOtherLedger means that the ledger is not the expected one.
var ErrOtherLedger = errors.New("ledger: wrong ledger")

// Holds checks that k describes this ledger, and that the ledger still holds the line at
// k.Position. The ledger may have moved since. A ledger that was restored from an older copy does
// not hold the line.
//
// Errors: ErrOtherLedger; ErrRolledBack, ErrDamaged; the errors of the journal.
func (l *Ledger) Holds(k Kept) error {
	l = l.original()
	s := l.shared
	if s.journal == nil {
		return fmt.Errorf("%w: got a ledger in memory, want %s", ErrOtherLedger, &k)
	}
	j := s.journal
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.closed {
		return errClosed
	}
	if err := j.catchUp(s.root); err != nil {
		return err
	}
	if k.ID != j.id {
		return fmt.Errorf("%w: got %s, want %s", ErrOtherLedger, j.kept(), &k)
	}
	for line, err := range j.lines.Read(j.ctx, k.Position) {
		if err == nil && line.Snapshot && line.Line != k.Position.Line+1 {
			var c *change
			if c, err = decodeChange(line); err == nil {
				err = c.Snapshot.follows(line.Line, k.Position)
			}
		} else if err == nil {
			err = line.Follows(k.Position)
		}
		return err // one line is enough to check that the journal holds the position
	}
	return nil
}

// A Release records the artefact made from a reservation.
type Release struct {
	// Transaction is the ID of the transaction that reserved the uses; empty without an ID.
	Transaction string `json:"transaction,omitempty"`
	// Lines are the numbers of the lines that reserved the uses, if there is no transaction.
	Lines []uint64 `json:"lines,omitempty"`
	// Plan is the SHA-256 of the plan, in hexadecimal; empty if the plan cannot be written.
	Plan string `json:"plan,omitempty"`
	// Artefact is the SHA-256 of the artefact, in hexadecimal; empty if it cannot be written.
	Artefact string `json:"artefact,omitempty"`
}

func (r Release) validate() error {
	var k param.Checker
	k.Add(checkPurpose("ledger.Release.Transaction", r.Transaction))
	for _, h := range []struct{ path, hash string }{{"Plan", r.Plan}, {"Artefact", r.Artefact}} {
		b, err := hex.DecodeString(h.hash)
		k.OK(h.hash == "" || err == nil && len(b) == 32, "ledger.Release."+h.path,
			fmt.Sprintf("%.70q", h.hash), "a SHA-256 in hexadecimal")
	}
	return k.Err()
}

// LedTo records the artefact that was made from a reservation. It costs nothing. For a ledger in
// memory, which keeps no releases, LedTo does nothing.
//
// Errors: *param.Error; the errors of the journal.
func (l *Ledger) LedTo(r Release) error {
	l = l.original()
	if err := r.validate(); err != nil {
		return err
	}
	s := l.shared
	if s.journal == nil {
		return nil
	}
	s.reserve.Lock()
	defer s.reserve.Unlock()
	return s.commit(operation{
		decide: allowed,
		lines:  func() []*change { return []*change{{Release: &r}} },
		do:     func() { s.journal.releases = append(s.journal.releases, r) },
	})
}

// Releases returns the releases recorded by LedTo, in all processes, in order.
func (l *Ledger) Releases() []Release {
	l = l.original()
	_ = l.shared.refresh() // on failure, answer from the state in memory
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	if l.shared.journal == nil {
		return nil
	}
	return append([]Release(nil), l.shared.journal.releases...)
}
