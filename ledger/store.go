package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

var (
	// ErrReservationExhausted means that all uses of a reservation have been taken.
	ErrReservationExhausted = errors.New("ledger: reservation exhausted")
	// ErrNotFound is returned if the store holds no ledger with that name.
	ErrNotFound = errors.New("ledger: no such ledger")
	// ErrExists is returned if the store already holds a ledger with that name.
	ErrExists = errors.New("ledger: the ledger already exists")
)

// A Backend keeps journals by name. It does not interpret their content. It is safe for
// concurrent use.
type Backend interface {
	// Journal opens the journal with that name. [ValidateName] allows the name. If mode is
	// Create, a journal that does not exist is created empty. It does no harm if several processes
	// create it at once, or if it stays empty.
	//
	// Errors: ErrNotFound if there is no such journal and mode is not Create; the errors of the
	// backend.
	Journal(ctx context.Context, name string, mode Mode) (Journal, error)
	// Names lists the names of the journals in order. Empty journals may be among them.
	Names(ctx context.Context) ([]string, error)
}

// Mode is the purpose for which a journal is opened.
type Mode int

const (
	// Read is for auditors. Append fails with ErrReadOnly, and nothing is written, locked
	// or repaired. Read needs no write permission.
	Read Mode = iota
	// Write is for a ledger that exists.
	Write
	// Create is like Write, but the journal need not exist.
	Create
)

// Store is a set of named ledgers. It is safe for concurrent use.
//
// A store is also a [Backend], with the journals of its ledgers.
type Store struct{ Backend }

// NewStore returns a store that keeps its ledgers in a backend.
func NewStore(b Backend) *Store { return &Store{b} }

// Create adds a ledger to the store. Terms.Name is either empty or the same name.
//
// The context applies to every access of the ledger to the store while the ledger is used; see
// [OpenOn].
//
// Errors: ErrExists; *param.Error; the errors of the backend.
func (s *Store) Create(ctx context.Context, name string, terms Terms,
	opts ...Option) (*Ledger, error) {
	terms.Name = cmp.Or(terms.Name, name)
	if err := terms.Validate(); err != nil {
		return nil, err
	}
	if terms.Name != name {
		return nil, fmt.Errorf("ledger: the terms have the name %q, want %q, the name of the ledger",
			terms.Name, name)
	}
	j, err := s.Journal(ctx, name, Create)
	if err != nil {
		return nil, named(name, err)
	}
	l, err := CreateOn(ctx, j, terms, opts...)
	if errors.Is(err, ErrConflict) {
		err = fmt.Errorf("%w: %q", ErrExists, name)
	}
	return l, closeUnless(err, j)
}

// Open opens an existing ledger. Close it after use, or keep it open until the process ends.
//
// The context applies to every access of the ledger to the store while the ledger is used; see
// [OpenOn].
//
// Errors: ErrNotFound; ErrDamaged and ErrRolledBack; the errors of the
// backend.
func (s *Store) Open(ctx context.Context, name string, opts ...Option) (*Ledger, error) {
	return s.open(ctx, name, Write, opts...)
}

// OpenOrCreate opens a ledger, or creates it with these terms if the store has none of this name.
// It is for several processes that start at once. A ledger that exists must have the same terms,
// since it keeps its own.
//
// Errors: the errors of Open and Create; ErrExists for a ledger with other terms.
func (s *Store) OpenOrCreate(ctx context.Context, name string, terms Terms,
	opts ...Option) (*Ledger, error) {
	l, err := s.Open(ctx, name, opts...)
	if errors.Is(err, ErrNotFound) {
		if l, err = s.Create(ctx, name, terms, opts...); errors.Is(err, ErrExists) {
			l, err = s.Open(ctx, name, opts...) // another process was faster
		}
	}
	if err == nil && (l.budget != terms.Budget || l.filter != terms.FilterOrder ||
		l.unit != unitOf(terms) || !slices.Equal(l.shared.journal.terms.Limits, terms.Limits)) {
		err = fmt.Errorf("%w with other terms; its budget is %v", ErrExists, l.budget)
		return nil, errors.Join(err, l.Close())
	}
	return l, err
}

// Audit opens a ledger for reading. The ledger also shows the additions of other processes. Every
// attempt to change it fails with ErrReadOnly.
//
// Errors: the errors of Open.
func (s *Store) Audit(ctx context.Context, name string) (*Ledger, error) {
	return s.open(ctx, name, Read, ReadOnly())
}

func (s *Store) open(ctx context.Context, name string, mode Mode, opts ...Option) (*Ledger, error) {
	if err := ValidateName(name); err != nil {
		return nil, err
	}
	j, err := s.Journal(ctx, name, mode)
	if err != nil {
		if errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("%w: %q", err, name)
		}
		return nil, named(name, err)
	}
	l, err := OpenOn(ctx, j, opts...)
	switch {
	case errors.Is(err, ErrEmpty):
		err = fmt.Errorf("%w: %q", ErrNotFound, name)
	case err == nil && l.Name() != name:
		err = named(name, fmt.Errorf("%w: the journal belongs to %q", ErrDamaged, l.Name()))
	case err != nil:
		err = named(name, err)
	}
	if err != nil {
		return nil, closeUnless(err, j)
	}
	return l, nil
}

// named adds the name of a ledger to an error that does not contain it.
func named(name string, err error) error { return fmt.Errorf("ledger: %q: %w", name, err) }

func closeUnless(err error, c io.Closer) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, c.Close())
}

// History yields the lines of a ledger in order, except trimmed lines. Each line is checked against
// the line before it. History is for auditors who want to know the time and purpose of each
// reservation.
//
// Errors: the errors of Open. An error ends the sequence.
func (s *Store) History(ctx context.Context, name string) iter.Seq2[JournalLine, error] {
	return func(yield func(JournalLine, error) bool) {
		if err := s.history(ctx, name, yield); err != nil {
			yield(JournalLine{}, err)
		}
	}
}

func (s *Store) history(ctx context.Context, name string,
	yield func(JournalLine, error) bool) (err error) {
	if err := ValidateName(name); err != nil {
		return err
	}
	j, err := s.Journal(ctx, name, Read)
	if err != nil {
		return named(name, err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	at := Position{}
	for line, err := range j.Read(ctx, at) {
		if err == nil && !(line.Snapshot && at.Line == 0) { // a trimmed journal begins with a snapshot
			err = line.Follows(at)
		}
		if err != nil {
			return named(name, err)
		}
		if !yield(line, nil) {
			return nil
		}
		at = line.Position
	}
	return nil
}
