package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
)

// A Journal is a durable list of lines. A ledger opened on a journal writes every change to it
// before the change takes effect; see [OpenOn]. Any number of ledgers, in any number of
// processes, may be open on one journal.
//
// Guarantee of an implementation, under crashes, races and failures: Append is atomic and
// compares the position; a line whose Append returned nil is returned by every later Read; Read
// returns no line that a power failure could still undo. The ledger needs nothing more: it makes
// the lines, checks them when it reads them, and prices them.
//
// A journal may also be a [Locker], a [Snapshotter] and a [Trimmer]. A journal is safe for
// concurrent use.
type Journal interface {
	// Append adds lines directly after the line at the given position, and returns when they are
	// durable. After a crash only the first few lines may be present; after an error, all or none.
	//
	// Errors: ErrConflict if the journal's last line is not at that position; nothing was written
	// then. After any other error the lines may be present, now or later. The ledger reads to find
	// out, and counts the lines that are present.
	Append(ctx context.Context, after Position, lines []JournalLine) error
	// Read yields the durable lines after a position, in order; the zero Position is before the first.
	// If the lines directly after the position have been trimmed, it begins with the first
	// remaining line, a snapshot. The caller owns the text of a line.
	//
	// Errors end the sequence: ErrRolledBack if the journal ends before the position or holds
	// another line there; ErrDamaged if the content is not a journal.
	Read(ctx context.Context, after Position) iter.Seq2[JournalLine, error]
	// Place describes in words where the journal is kept. Published guarantees contain this text, so
	// it must not contain a password, and should not contain the path of a folder or the name of a
	// host.
	Place() string
	// Close closes the handle. It does not change the lines.
	Close() error
}

// A Locker is a journal that can keep other ledgers from appending while one ledger decides. A
// ledger holds the lock from its last Read to its Append. Locking only reduces conflicts.
type Locker interface {
	Journal
	// Lock waits for the lock. If the process that holds the lock ends, the lock is released.
	Lock(ctx context.Context) (unlock func(), err error)
}

// A Snapshotter is a journal that finds its last snapshot itself. A ledger then opens without
// decoding earlier lines.
type Snapshotter interface {
	Journal
	// ReadLatest yields the last snapshot and the lines after it, or all lines if there is no
	// snapshot. Errors end the sequence, as in Read.
	ReadLatest(ctx context.Context) iter.Seq2[JournalLine, error]
}

// A Trimmer is a journal that can remove lines replaced by a snapshot.
type Trimmer interface {
	Journal
	// Trim removes the lines before the line with the given number, which is a snapshot. At every
	// moment, and after a crash, Read begins with that line or with an earlier one.
	Trim(ctx context.Context, before uint64) error
}

// whatToDo names the page that says what to do after an error.
const whatToDo = "(docs/durability.md says what to do)"

var (
	// ErrConflict means that another ledger has appended to the journal in the meantime.
	ErrConflict = errors.New("ledger: another line was appended to the journal")
	// ErrRolledBack means that a journal has lost a line, for example because a backup was
	// restored. Reservations may be missing, so nothing can be reserved.
	ErrRolledBack = errors.New("ledger: the journal does not hold a line that it held before " +
		whatToDo)
	// ErrDamaged means that the content of a journal was changed from outside. Nothing can be
	// reserved.
	ErrDamaged = errors.New("ledger: the journal is damaged " + whatToDo)
	// ErrReadOnly means that the ledger was opened for reading.
	ErrReadOnly = errors.New("ledger: the ledger was opened for reading only")
)

// A Position identifies a line of a journal. The zero Position is before the first line.
type Position struct {
	Line uint64 `json:"line"` // 1 for the first
	Hash string `json:"hash"` // of the line and, through the chain, of all lines before it
}

// A JournalLine is one line of a journal. Lines are numbered from 1 without gaps.
type JournalLine struct {
	Position
	// Text is a JSON object on one line that describes the change. Its first field is the
	// line's number.
	Text []byte
	// Snapshot means that the line summarises all lines before it.
	Snapshot bool
}

// ChainHash returns the hash of a line with this text after a line with the given hash, which is
// "" for the first line: SHA-256, in hexadecimal, of the previous hash, a line feed and the text.
// The hash has no key. It detects damage and lost lines, but not a whole new chain written by an
// attacker.
func ChainHash(previous string, text []byte) string {
	h := sha256.New()
	_, _ = h.Write([]byte(previous)) // never fails
	_, _ = h.Write([]byte{'\n'})
	_, _ = h.Write(text)
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0]))
}

// Follows returns nil if the line is the next one after a position.
//
// Errors: ErrDamaged.
func (l JournalLine) Follows(p Position) error {
	if l.Line != p.Line+1 {
		return fmt.Errorf("%w: line %d follows line %d", ErrDamaged, l.Line, p.Line)
	}
	if ChainHash(p.Hash, l.Text) != l.Hash {
		return fmt.Errorf("%w: line %d does not match its hash", ErrDamaged, l.Line)
	}
	return nil
}
