package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/seed7ba64551/privgen/ledger"
)

// journal is a ledger stored as rows of the tables. It is an [ledger.Locker],
// [ledger.Snapshotter] and [ledger.Trimmer].
type journal struct {
	*dialect
	pool  *pool
	db    *database
	name  string
	mode  ledger.Mode
	close sync.Once
}

// Place implements [ledger.Journal].
func (j *journal) Place() string { return j.place }

// Close implements [ledger.Journal].
func (j *journal) Close() (err error) {
	j.close.Do(func() { err = j.pool.release() })
	return failed(err)
}

// Append implements [ledger.Journal]: one serialisable transaction.
func (j *journal) Append(ctx context.Context, after ledger.Position,
	lines []ledger.JournalLine) error {
	if j.mode == ledger.Read {
		return ledger.ErrReadOnly
	}
	if len(lines) == 0 {
		return nil
	}
	err := j.transact(ctx, j.db, j.begin, func(tx *sql.Tx) error {
		head, err := j.lockHead(ctx, tx)
		if err != nil {
			return err
		}
		if head != after {
			return ledger.ErrConflict
		}
		return j.insert(ctx, tx, head, lines)
	})
	if err == nil {
		err = j.db.check() // a line written to a removed file is not durable
	}
	return failed(err)
}

// lockHead returns the position of the last line, and prevents other lines until the transaction
// ends.
func (j *journal) lockHead(ctx context.Context, tx *sql.Tx) (ledger.Position, error) {
	var line int64
	var hash, durable string
	var version int
	err := tx.QueryRowContext(ctx, j.sql(j.head), j.name).Scan(&line, &hash, &version, &durable)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = fmt.Errorf("%w: the ledger was removed", ledger.ErrRolledBack)
	case err == nil && durable != "on":
		err = errors.New("the server's setting fsync is off, so its data are not durable; want on")
	case err == nil:
		err = j.fits(version)
	}
	return ledger.Position{Line: uint64(line), Hash: hash}, err
}

func (j *journal) insert(ctx context.Context, tx *sql.Tx, head ledger.Position,
	lines []ledger.JournalLine) error {
	for _, line := range lines {
		if line.Line != head.Line+1 || line.Line > math.MaxInt64 {
			return fmt.Errorf("line %d is to be added after line %d", line.Line, head.Line)
		}
		if _, err := tx.ExecContext(ctx, j.sql(`INSERT INTO privgen_lines
			(ledger, line, hash, snapshot, text) VALUES ($1, $2, $3, $4, $5)`),
			j.name, int64(line.Line), line.Hash, line.Snapshot, line.Text); err != nil {
			return err
		}
		head = line.Position
	}
	_, err := tx.ExecContext(ctx, j.sql(`UPDATE privgen_ledgers SET line = $2, hash = $3
		WHERE name = $1`), j.name, int64(head.Line), head.Hash)
	return err
}

// Both statements also return the ledger's last line, since one statement sees one state of the
// database. readAfter returns the lines from a number on. It omits the text of the first line,
// since the caller knows this text. readLatest returns the lines from the last snapshot on.
const (
	readAfter = `SELECT h.line, h.hash, l.line, l.hash, l.snapshot,
			CASE WHEN l.line > $2 THEN l.text END
		FROM privgen_ledgers h LEFT JOIN privgen_lines l ON l.ledger = h.name AND l.line >= $2
		WHERE h.name = $1 ORDER BY l.line`
	readLatest = `SELECT h.line, h.hash, l.line, l.hash, l.snapshot, l.text
		FROM privgen_ledgers h LEFT JOIN privgen_lines l ON l.ledger = h.name AND l.line >=
			(SELECT coalesce(max(line), 0) FROM privgen_lines WHERE ledger = $1 AND snapshot)
		WHERE h.name = $1 ORDER BY l.line`
)

// Read implements [ledger.Journal].
func (j *journal) Read(ctx context.Context,
	after ledger.Position) iter.Seq2[ledger.JournalLine, error] {
	return func(yield func(ledger.JournalLine, error) bool) {
		err := fmt.Errorf("%w: the ledger has no line %d", ledger.ErrRolledBack, after.Line)
		if after.Line <= math.MaxInt64 {
			err = j.read(ctx, after, yield, readAfter, j.name, int64(after.Line))
		}
		if err != nil {
			yield(ledger.JournalLine{}, failed(err))
		}
	}
}

// ReadLatest implements [ledger.Snapshotter].
func (j *journal) ReadLatest(ctx context.Context) iter.Seq2[ledger.JournalLine, error] {
	return func(yield func(ledger.JournalLine, error) bool) {
		if err := j.read(ctx, ledger.Position{}, yield, readLatest, j.name); err != nil {
			yield(ledger.JournalLine{}, failed(err))
		}
	}
}

func (j *journal) read(ctx context.Context, after ledger.Position,
	yield func(ledger.JournalLine, error) bool, query string, args ...any) error {
	if err := j.db.check(); err != nil {
		return err
	}
	rows, err := j.db.QueryContext(ctx, j.sql(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	r := reader{after: after}
	for rows.Next() {
		line, there, err := r.scan(rows)
		if err != nil {
			return err
		}
		if there && !yield(line, nil) {
			return nil
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return r.end()
}

// reader checks that the rows of readAfter and readLatest satisfy the contract of a journal.
type reader struct {
	after, last, head ledger.Position
	rows              int
}

// scan reads a row. there is false if the ledger has no lines, or if the row is the position before
// the first line.
func (r *reader) scan(rows *sql.Rows) (l ledger.JournalLine, there bool, err error) {
	var headLine int64
	var number sql.NullInt64
	var hash sql.NullString
	var snapshot sql.NullBool
	if err := rows.Scan(&headLine, &r.head.Hash, &number, &hash, &snapshot, &l.Text); err != nil {
		return l, false, err
	}
	r.head.Line = uint64(headLine)
	r.rows++
	if !number.Valid {
		return l, false, nil
	}
	l.Position = ledger.Position{Line: uint64(number.Int64), Hash: hash.String}
	l.Snapshot = snapshot.Bool
	r.last = l.Position
	if r.rows > 1 || r.after == (ledger.Position{}) {
		return l, true, nil
	}
	return l, l.Line != r.after.Line, r.first(l)
}

// first checks the first row after a position: it must be the line at the position or, if that was
// trimmed, a snapshot.
func (r *reader) first(l ledger.JournalLine) error {
	if l.Line == r.after.Line && l.Hash != r.after.Hash {
		return fmt.Errorf("%w: line %d differs from the one seen before", ledger.ErrRolledBack,
			l.Line)
	}
	if l.Line != r.after.Line && !l.Snapshot {
		return fmt.Errorf("%w: line %d is missing", ledger.ErrDamaged, r.after.Line)
	}
	return nil
}

// end checks that the last row is the ledger's last line.
func (r *reader) end() error {
	switch {
	case r.rows == 0:
		return fmt.Errorf("%w: the ledger was removed", ledger.ErrRolledBack)
	case r.head.Line < r.after.Line:
		return fmt.Errorf("%w: the last line is %d, want at least %d", ledger.ErrRolledBack,
			r.head.Line, r.after.Line)
	case r.last != r.head:
		return fmt.Errorf("%w: the lines end with %d, want %d", ledger.ErrDamaged, r.last.Line,
			r.head.Line)
	}
	return nil
}

// Trim implements [ledger.Trimmer].
func (j *journal) Trim(ctx context.Context, before uint64) error {
	if j.mode == ledger.Read {
		return ledger.ErrReadOnly
	}
	return failed(j.transact(ctx, j.db, j.begin, func(tx *sql.Tx) error {
		if _, err := j.lockHead(ctx, tx); err != nil {
			return err
		}
		var snapshot bool
		err := tx.QueryRowContext(ctx, j.sql(`SELECT snapshot FROM privgen_lines
			WHERE ledger = $1 AND line = $2`), j.name, int64(before)).Scan(&snapshot)
		if err != nil {
			return err
		}
		if !snapshot {
			return fmt.Errorf("line %d is not a snapshot", before)
		}
		_, err = tx.ExecContext(ctx, j.sql(`DELETE FROM privgen_lines WHERE ledger = $1 AND line < $2`),
			j.name, int64(before))
		return err
	}))
}
