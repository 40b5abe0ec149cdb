package accountant

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/param"
)

// Kept states where a ledger is stored, and the last of its lines that has been seen.
type Kept struct {
	Store    string   `json:"store"`    // what the journal calls its place, without a path
	Ledger   string   `json:"ledger"`   // its name
	ID       string   `json:"id"`       // ID of the journal, which no other journal has
	Position Position `json:"position"` // of the last line
}

// String returns the store, the ledger and the line.
func (k *Kept) String() string {
	return fmt.Sprintf("%q in %s, lines 1 to %d, hash %.16s", k.Ledger, k.Store, k.Position.Line,
		k.Position.Hash)
}

// LineSpan lists the lines of a journal that made a reservation.
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

// name records on an entry that the next line reserves more of it; the caller holds the state lock.
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
// caller that stores it, as checkpoints do, can call Holds later.
func (l *Ledger) Kept() *Kept {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	return l.shared.journal.kept()
}

// ErrOtherLedger means that the ledger is not the expected one.
var ErrOtherLedger = errors.New("accountant: wrong ledger")

// Holds checks that the ledger is the one that was stored, even if it has moved since, and still
// holds the line: a ledger that was restored from an older copy does not.
//
// Errors: ErrOtherLedger; ErrRolledBack, ErrDamaged; those of the journal.
func (l *Ledger) Holds(k Kept) error {
	s := l.shared
	if s.journal == nil {
		return fmt.Errorf("%w: got one in memory, want %s", ErrOtherLedger, &k)
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
		if err == nil && !line.Snapshot {
			err = line.Follows(k.Position)
		}
		return err // the first line identifies the journal
	}
	return nil
}

// A Release records the artefact made from a reservation.
type Release struct {
	// Transaction is the ID under which its uses were reserved; empty without an ID.
	Transaction string `json:"transaction,omitempty"`
	// Lines are those that reserved its uses, if there is no transaction.
	Lines []uint64 `json:"lines,omitempty"`
	// Plan is the SHA-256 of the plan, in hexadecimal; empty if the plan cannot be written.
	Plan string `json:"plan,omitempty"`
	// Artefact is the SHA-256 of the artefact, in hexadecimal; empty if it cannot be written.
	Artefact string `json:"artefact,omitempty"`
}

func (r Release) validate() error {
	var k param.Checker
	k.Add(checkPurpose("accountant.Release.Transaction", r.Transaction))
	for _, h := range []struct{ path, hash string }{{"Plan", r.Plan}, {"Artefact", r.Artefact}} {
		b, err := hex.DecodeString(h.hash)
		k.OK(h.hash == "" || err == nil && len(b) == 32, "accountant.Release."+h.path,
			fmt.Sprintf("%.70q", h.hash), "a SHA-256 in hexadecimal")
	}
	return k.Err()
}

// LedTo records which artefact a reservation led to. It costs nothing. A ledger in memory
// keeps no releases, and LedTo does nothing.
//
// Errors: *param.Error; those of the journal.
func (l *Ledger) LedTo(r Release) error {
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
	_ = l.shared.refresh() // on failure, answer from what is known
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	if l.shared.journal == nil {
		return nil
	}
	return append([]Release(nil), l.shared.journal.releases...)
}
