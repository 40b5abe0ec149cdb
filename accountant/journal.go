package accountant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
)

// A Journal is a durable list of lines. A ledger that was opened on one writes every change to it
// before the change is true: see [OpenLedger]. Any number of ledgers, in any number of processes,
// may be open on one journal.
//
// Guarantee that an implementation gives, whatever crashes, races or fails: Append is atomic and
// compares the position; a line whose Append returned nil is held for good, and by every later
// Read; Read returns no line that a power failure could still undo. The ledger asks nothing more:
// it makes the lines, checks them when they are read, and decides what they cost.
//
// A journal may also be a [Locker], a [Snapshotter] and a [Trimmer]. It is safe for concurrent use.
type Journal interface {
	// Append adds lines, directly after the one at the given position, and returns when they are
	// durable. A crash can leave the first few of them, and an error all or none.
	//
	// Errors: ErrConflict where the journal's last line is another one, and then nothing was written.
	// After any other error the lines may or may not be there, now or later; the ledger reads to find
	// out, and counts them if they are.
	Append(ctx context.Context, after Position, lines []JournalLine) error
	// Read yields the durable lines after a position, in order; the zero Position is before the first.
	// Where the lines directly after the position have been trimmed, it begins with the first line
	// that is left, a snapshot. The text of a line is the caller's.
	//
	// Errors end the sequence: ErrRolledBack where the journal ends before the position or holds
	// another line there; ErrDamaged for what is not a journal's content.
	Read(ctx context.Context, after Position) iter.Seq2[JournalLine, error]
	// Place says where the journal is kept, for guarantees and auditors. It holds no password.
	Place() string
	// Close frees what the handle holds. The lines stay.
	Close() error
}

// A Locker is a journal that can keep other ledgers from appending while one decides. A ledger
// holds the lock from its last Read to its Append; nothing but the number of conflicts depends on
// it.
type Locker interface {
	Journal
	// Lock waits for the lock, which dies with the process that holds it.
	Lock(ctx context.Context) (unlock func(), err error)
}

// A Snapshotter is a journal that finds its last snapshot by itself, so that a ledger is opened
// without decoding what came before.
type Snapshotter interface {
	Journal
	// ReadLatest yields the last snapshot and the lines after it, and all lines where there is no
	// snapshot. Errors end the sequence, as in Read.
	ReadLatest(ctx context.Context) iter.Seq2[JournalLine, error]
}

// A Trimmer is a journal that can forget lines for which a snapshot stands.
type Trimmer interface {
	Journal
	// Trim removes the lines before the one with the given number, which is a snapshot. At every
	// moment of it, and after a crash, Read begins with that line or with an earlier one.
	Trim(ctx context.Context, before uint64) error
}

var (
	// ErrConflict: another ledger has appended to the journal in the meantime.
	ErrConflict = errors.New("accountant: another line was appended to the journal")
	// ErrRolledBack: a journal no longer holds a line that it held before, as after a backup was
	// restored. What was drawn since is missing from it, so that nothing can be reserved.
	ErrRolledBack = errors.New("accountant: the journal does not hold a line that it held before")
	// ErrDamaged: the content of a journal was changed outside of it. Nothing can be reserved.
	ErrDamaged = errors.New("accountant: the journal is damaged")
	// ErrReadOnly: the ledger was opened for reading.
	ErrReadOnly = errors.New("accountant: the ledger was opened for reading only")
)

// A Position is that of a line in a journal. The zero Position is before the first line.
type Position struct {
	Line uint64 `json:"line"` // 1 for the first
	Hash string `json:"hash"` // of the line and, through the lines before it, of all of them
}

// A JournalLine is one line of a journal. Lines are numbered from 1 without gaps.
type JournalLine struct {
	Position
	// Text is a JSON object on one line: what happened. Its first field is the line's number.
	Text []byte
	// Snapshot says that the line stands for all lines before it, too.
	Snapshot bool
}

// ChainHash returns the hash of a line with this text after a line with the given hash, which is
// "" for the first line: SHA-256 in hexadecimal of the one, a line feed and the other. It has no
// key: it detects damage and lost lines, not a forger who writes a whole new chain.
func ChainHash(previous string, text []byte) string {
	h := sha256.New()
	_, _ = h.Write([]byte(previous)) // never fails
	_, _ = h.Write([]byte{'\n'})
	_, _ = h.Write(text)
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0]))
}

// Follows reports whether the line is the next one after a position.
//
// Errors: ErrDamaged.
func (l JournalLine) Follows(p Position) error {
	if l.Line != p.Line+1 {
		return fmt.Errorf("%w: line %d follows line %d", ErrDamaged, l.Line, p.Line)
	}
	if ChainHash(p.Hash, l.Text) != l.Hash {
		return fmt.Errorf("%w: line %d is not the one that was written", ErrDamaged, l.Line)
	}
	return nil
}
