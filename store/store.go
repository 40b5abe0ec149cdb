package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/seed7ba64551/privgen/accountant"
)

var (
	// ErrNotFound is returned if the store holds no ledger with that name.
	ErrNotFound = errors.New("store: no such ledger")
	// ErrExists is returned if the store already holds a ledger with that name.
	ErrExists = errors.New("store: the ledger already exists")
)

// A Backend keeps journals by name. It does not interpret their content. It is safe for
// concurrent use.
type Backend interface {
	// Journal opens the journal with that name. [accountant.ValidateName] allows the name. If mode is
	// Create, a journal that does not exist is created empty. It does no harm if several processes
	// create it at once, or if it stays empty.
	//
	// Errors: ErrNotFound if there is no such journal and mode is not Create; the errors of the
	// backend.
	Journal(ctx context.Context, name string, mode Mode) (accountant.Journal, error)
	// Names lists the names of the journals in order. Empty journals may be among them.
	Names(ctx context.Context) ([]string, error)
}

// Mode is the purpose for which a journal is opened.
type Mode int

const (
	// Read is for auditors. Append fails with accountant.ErrReadOnly, and nothing is written, locked
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

// New returns a store that keeps its ledgers in a backend.
func New(b Backend) *Store { return &Store{b} }

// Create adds a ledger to the store. Terms.Name is either empty or the same name.
//
// The context applies to every access of the ledger to the store while the ledger is used; see
// [accountant.OpenLedger].
//
// Errors: ErrExists; *param.Error; the errors of the backend.
func (s *Store) Create(ctx context.Context, name string, terms accountant.Terms,
	opts ...accountant.LedgerOption) (*accountant.Ledger, error) {
	if terms.Name == "" {
		terms.Name = name
	}
	if err := accountant.ValidateName(name); err != nil {
		return nil, err
	}
	if err := terms.Validate(); err != nil {
		return nil, err
	}
	if terms.Name != name {
		return nil, fmt.Errorf("store: the terms have the name %q, want %q, the name of the ledger",
			terms.Name, name)
	}
	j, err := s.Journal(ctx, name, Create)
	if err != nil {
		return nil, named(name, err)
	}
	l, err := accountant.CreateLedger(ctx, j, terms, opts...)
	if errors.Is(err, accountant.ErrConflict) {
		err = fmt.Errorf("%w: %q", ErrExists, name)
	}
	return l, closeUnless(err, j)
}

// Open opens an existing ledger. Close it after use, or keep it open until the process ends.
//
// The context applies to every access of the ledger to the store while the ledger is used; see
// [accountant.OpenLedger].
//
// Errors: ErrNotFound; accountant.ErrDamaged and accountant.ErrRolledBack; the errors of the
// backend.
func (s *Store) Open(ctx context.Context, name string,
	opts ...accountant.LedgerOption) (*accountant.Ledger, error) {
	return s.open(ctx, name, Write, opts...)
}

// Audit opens a ledger for reading. The ledger also shows the additions of other processes. Every
// attempt to change it fails with accountant.ErrReadOnly.
//
// Errors: the errors of Open.
func (s *Store) Audit(ctx context.Context, name string) (*accountant.Ledger, error) {
	return s.open(ctx, name, Read, accountant.ReadOnly())
}

func (s *Store) open(ctx context.Context, name string, mode Mode,
	opts ...accountant.LedgerOption) (*accountant.Ledger, error) {
	if err := accountant.ValidateName(name); err != nil {
		return nil, err
	}
	j, err := s.Journal(ctx, name, mode)
	if err != nil {
		if errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("%w: %q", err, name)
		}
		return nil, named(name, err)
	}
	l, err := accountant.OpenLedger(ctx, j, opts...)
	switch {
	case errors.Is(err, accountant.ErrEmpty):
		err = fmt.Errorf("%w: %q", ErrNotFound, name)
	case err == nil && l.Name() != name:
		err = named(name, fmt.Errorf("%w: the journal belongs to %q", accountant.ErrDamaged, l.Name()))
	case err != nil:
		err = named(name, err)
	}
	if err != nil {
		return nil, closeUnless(err, j)
	}
	return l, nil
}

// named adds the name of a ledger to an error that does not contain it.
func named(name string, err error) error { return fmt.Errorf("store: ledger %q: %w", name, err) }

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
func (s *Store) History(ctx context.Context, name string) iter.Seq2[accountant.JournalLine, error] {
	return func(yield func(accountant.JournalLine, error) bool) {
		if err := s.history(ctx, name, yield); err != nil {
			yield(accountant.JournalLine{}, err)
		}
	}
}

func (s *Store) history(ctx context.Context, name string,
	yield func(accountant.JournalLine, error) bool) (err error) {
	if err := accountant.ValidateName(name); err != nil {
		return err
	}
	j, err := s.Journal(ctx, name, Read)
	if err != nil {
		return named(name, err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	at := accountant.Position{}
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
