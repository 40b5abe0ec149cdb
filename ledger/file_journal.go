package ledger

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"

	"github.com/seed7ba64551/privgen/internal/durable"
)

// fileJournal is a handle of a journal in a file.
type fileJournal struct {
	disk     disk
	path     string
	markPath string
	mode     Mode
	mutex    *durable.Mutex // nil for Read

	mu     sync.Mutex
	held   bool // this handle has the lock
	closed bool
	failed error // set if a failed write could not be undone: the file's content is then unknown
	file   diskFile
	mark   mark

	// The part of the file that has been read and checked:
	chain    chain
	size     int64  // the size of the checked lines
	whole    int64  // the file's size at that time; larger than size if the last line is torn
	tail     int64  // where the last checked line begins
	first    uint64 // the number of the first line
	latest   int64  // where the last snapshot begins, or the first line if there is no snapshot
	verified bool   // whether the lines reach the mark
}

// create makes the files. It makes the mark first, because a journal without a mark counts as
// damaged and not as new.
func (j *fileJournal) create(ctx context.Context, folder string) (err error) {
	if err := j.disk.MakeFolder(folder); err != nil {
		return err
	}
	if err := j.disk.MakeFolder(filepath.Dir(j.markPath)); err != nil {
		return err
	}
	unlock, err := j.mutex.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	lines, err := j.sizeOf(j.path)
	if err != nil {
		return err
	}
	marked, err := j.sizeOf(j.markPath)
	if err != nil {
		return err
	}
	if lines > 0 && marked < 0 {
		return fmt.Errorf("%w: its mark is gone", ErrDamaged)
	}
	for _, path := range []string{j.markPath, j.path} {
		f, err := j.disk.Open(path, true, true)
		if err != nil {
			return err
		}
		if path == j.markPath && marked < 2*slotSize { // so that a full disk still has room for the mark
			_, err = f.WriteAt(make([]byte, 2*slotSize-max(0, marked)), max(0, marked))
			err = errors.Join(err, f.Sync())
		}
		if err := errors.Join(err, f.Close(), j.disk.SyncFolder(filepath.Dir(path))); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf returns the size of a file, or -1 if the file does not exist.
func (j *fileJournal) sizeOf(path string) (int64, error) {
	f, err := j.disk.Open(path, false, false)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := f.Size()
	return n, errors.Join(err, f.Close())
}

// open opens the files, which must exist.
func (j *fileJournal) open() error {
	lines, err := j.sizeOf(j.path)
	if err != nil {
		return err
	}
	marked, err := j.sizeOf(j.markPath)
	if err != nil {
		return err
	}
	switch {
	case marked < 0 && lines > 0:
		return fmt.Errorf("%w: its mark is gone", ErrDamaged)
	case marked < 0:
		return ErrNotFound
	}
	if j.mark.file, err = j.disk.Open(j.markPath, j.mode != Read, false); err != nil {
		return err
	}
	if lines < 0 {
		switch n, err := j.mark.read(); {
		case err != nil:
			return err
		case n == 0:
			return ErrNotFound
		}
	}
	// If there were no lines before, another process may have made them since, before the mark.
	if j.file, err = j.disk.Open(j.path, j.mode != Read, false); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: its lines are gone", ErrRolledBack)
	} else if err != nil {
		return err
	}
	return j.syncName()
}

// syncName makes the file's name durable before anything is added to the file. A process that
// trimmed the journal may have died before it made the name durable. A power failure would then
// bring the old file back.
func (j *fileJournal) syncName() error {
	if j.mode == Read {
		return nil
	}
	return j.disk.SyncFolder(filepath.Dir(j.path))
}

// Append implements Journal.
func (j *fileJournal) Append(ctx context.Context, after Position, lines []JournalLine) error {
	if j.mode == Read {
		return ErrReadOnly
	}
	return j.locked(ctx, func() error {
		if err := j.catchUp(); err != nil {
			return err
		}
		if j.chain.last() != after {
			return ErrConflict
		}
		return j.write(lines)
	})
}

// write adds lines to the file and sets the mark to the last of them. The caller holds the lock and
// has called catchUp.
func (j *fileJournal) write(lines []JournalLine) (err error) {
	var b []byte
	last := int64(0)
	next := chainAt(j.chain.last())
	snapshot := int64(-1)
	for _, line := range lines {
		if last = int64(len(b)); line.Snapshot {
			snapshot = last
		}
		if b, err = appendFrame(b, line); err != nil {
			return err
		}
		if !next.follows(frame{[]byte(line.Hash), line.Line, line.Snapshot, line.Text}) {
			return fmt.Errorf("ledger: line %d does not follow the last line", line.Line)
		}
	}
	if err := j.put(b); err != nil {
		return err
	}
	if err := j.mark.write(next.last()); err != nil {
		return err // the lines are in the file and count all the same
	}
	if j.first == 0 {
		j.first, j.latest = lines[0].Line, 0
	}
	if snapshot >= 0 {
		j.latest = j.size + snapshot
	}
	j.tail = j.size + last
	j.size += int64(len(b))
	j.whole = j.size
	j.chain = next
	return nil
}

// put writes bytes durably after the checked lines, in place of the remains of a torn write. If put
// fails, it removes its bytes again. No other process has used them: a process that writes needs
// the lock, and a process that only reads stops at the mark.
func (j *fileJournal) put(b []byte) error {
	if j.whole > j.size {
		if err := j.file.Truncate(j.size); err != nil {
			return err
		}
		j.whole = j.size
	}
	_, err := j.file.WriteAt(b, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err == nil {
		return nil
	}
	j.whole = j.size + int64(len(b))
	if undo := errors.Join(j.file.Truncate(j.size), j.file.Sync()); undo != nil {
		j.failed = fmt.Errorf("ledger: a failed write could not be undone: %w", undo)
		return errors.Join(err, undo)
	}
	j.whole = j.size
	return err
}

// Read implements Journal.
func (j *fileJournal) Read(ctx context.Context, after Position) iter.Seq2[JournalLine, error] {
	return func(yield func(JournalLine, error) bool) {
		lines, err := j.after(ctx, after)
		yieldAll(lines, err, yield)
	}
}

// ReadLatest implements Snapshotter.
func (j *fileJournal) ReadLatest(ctx context.Context) iter.Seq2[JournalLine, error] {
	return func(yield func(JournalLine, error) bool) {
		var lines []JournalLine
		err := j.locked(ctx, func() (err error) {
			if err = j.catchUp(); err == nil {
				lines, err = j.between(j.latest, j.size)
			}
			return err
		})
		yieldAll(lines, err, yield)
	}
}

func yieldAll(lines []JournalLine, err error, yield func(JournalLine, error) bool) {
	if err != nil {
		yield(JournalLine{}, err)
		return
	}
	for _, line := range lines {
		if !yield(line, nil) {
			return
		}
	}
}

// after returns the lines after a position.
func (j *fileJournal) after(ctx context.Context, after Position) (lines []JournalLine, err error) {
	if j.unchanged(ctx, after) {
		return nil, nil
	}
	err = j.locked(ctx, func() error {
		from := j.size // usually the end of what the caller has seen
		seen := j.chain.last() == after && after.Line > 0
		file := j.file
		if err := j.catchUp(); err != nil {
			return err
		}
		if seen && file == j.file {
			lines, err = j.between(from, j.size)
			return err
		}
		if lines, err = j.between(0, j.size); err != nil {
			return err
		}
		lines, err = cut(lines, after)
		return err
	})
	return lines, err
}

// cut removes the lines up to and including the line at a position.
func cut(lines []JournalLine, after Position) ([]JournalLine, error) {
	if after == (Position{}) {
		return lines, nil
	}
	if len(lines) == 0 {
		return nil, ErrRolledBack
	}
	first := lines[0].Line
	if after.Line < first { // that line was trimmed; the rest begins with a snapshot
		return lines, nil
	}
	if i := after.Line - first; i < uint64(len(lines)) && lines[i].Position == after {
		return lines[i+1:], nil
	}
	return nil, ErrRolledBack
}

// unchanged reports, without the lock, whether there is nothing after a position. This is true if
// the file is still the same file that was read to its end, and if it has not grown.
func (j *fileJournal) unchanged(ctx context.Context, after Position) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if ctx.Err() != nil || j.closed || j.failed != nil || !j.verified || j.chain.last() != after ||
		j.whole != j.size {
		return false
	}
	size, err := j.file.Size()
	if err != nil || size != j.size {
		return false
	}
	same, err := j.file.Current(j.path)
	return err == nil && same
}

// locked runs f under the lock of the journal and the lock of this handle.
func (j *fileJournal) locked(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	if j.mutex != nil && !j.held {
		j.mu.Unlock()
		unlock, err := j.mutex.Lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		j.mu.Lock()
	}
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return errClosed
	case j.failed != nil:
		return j.failed
	}
	return f()
}

// Lock implements Locker.
func (j *fileJournal) Lock(ctx context.Context) (unlock func(), err error) {
	if j.mode == Read {
		return nil, ErrReadOnly
	}
	give, err := j.mutex.Lock(ctx)
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	j.held = true
	j.mu.Unlock()
	return func() {
		j.mu.Lock()
		j.held = false
		j.mu.Unlock()
		give()
	}, nil
}

// catchUp reads and checks the lines that were appended. It makes them durable if the process that
// wrote them did not. The caller holds both locks.
func (j *fileJournal) catchUp() error {
	if err := j.readMark(); err != nil { // before the lines, because readers hold no lock
		return err
	}
	same, err := j.file.Current(j.path)
	if err != nil {
		return err
	}
	if !same { // the journal was trimmed, or restored from a backup
		if err := j.reopen(); err != nil {
			return err
		}
	}
	size, err := j.file.Size()
	if err != nil {
		return err
	}
	if size < j.size { // the same file was cut off
		return fmt.Errorf("%w: its file has become shorter", ErrRolledBack)
	}
	if err := j.lastLineIsThere(); err != nil {
		return err
	}
	if err := j.scan(size); err != nil {
		return err
	}
	return j.reachMark()
}

// reopen opens the file that has replaced the old one.
func (j *fileJournal) reopen() error {
	f, err := j.disk.Open(j.path, j.mode != Read, false)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: its file is gone", ErrRolledBack)
	}
	if err != nil {
		return err
	}
	if err := j.syncName(); err != nil {
		return errors.Join(err, f.Close())
	}
	old := j.file
	j.file, j.chain, j.verified = f, chain{}, false
	j.size, j.whole, j.tail, j.latest, j.first = 0, 0, 0, 0, 0
	return old.Close()
}

// lastLineIsThere checks that the last line is still in the file, since another file may have been
// copied over this one.
func (j *fileJournal) lastLineIsThere() error {
	if j.size == 0 {
		return nil
	}
	b := make([]byte, hashLength)
	if _, err := j.file.ReadAt(b, j.tail); err != nil {
		return err
	}
	if string(b) != string(j.chain.hash[:]) {
		return fmt.Errorf("%w: its file was changed", ErrRolledBack)
	}
	return nil
}

// scan checks the lines after the last checked line, to the end of the file. It stops at anything
// that is not the next line. The mark shows whether the rest is damage or an unconfirmed line.
func (j *fileJournal) scan(size int64) error {
	j.whole = size
	r := bufio.NewReaderSize(io.NewSectionReader(j.file, j.size, size-j.size),
		int(min(size-j.size+1, 1<<18)))
	var long []byte // what was read so far of a line longer than the reader's buffer
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, part...); len(long) > maxFrame {
				return nil
			}
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		frame := part
		if len(long) > 0 {
			frame = append(long, part...)
			long = long[:0]
		}
		line, ok := splitFrame(frame[:len(frame)-1])
		if !ok || j.mode == Read && line.number > j.mark.Line { // not confirmed; perhaps not durable
			return nil
		}
		if !j.chain.follows(line) {
			return nil
		}
		j.first = cmp.Or(j.first, line.number)
		if line.number == j.mark.Line && string(line.hash) != j.mark.Hash {
			return fmt.Errorf("%w: line %d differs from the confirmed line", ErrRolledBack, line.number)
		}
		if line.snapshot {
			j.latest = j.size
		}
		j.tail = j.size
		j.size += int64(len(frame))
	}
}

// readMark reads the mark, which other processes change.
func (j *fileJournal) readMark() error {
	same, err := j.mark.file.Current(j.markPath)
	if err != nil {
		return err
	}
	if !same {
		f, err := j.disk.Open(j.markPath, j.mode != Read, false)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: its mark is gone", ErrDamaged)
		}
		if err != nil {
			return err
		}
		old := j.mark.file
		j.mark.file = f
		if err := old.Close(); err != nil {
			return err
		}
	}
	j.mark.atLeast, err = j.mark.read()
	return err
}

// reachMark returns an error if the journal lacks the line that the mark names. Later lines may not
// be durable yet, because the process that wrote them may have died. reachMark makes them durable
// before they are used.
func (j *fileJournal) reachMark() error {
	last := j.chain.last()
	if j.mark.opening && (last.Line != 1 || j.first != 1 || j.whole != j.size) {
		return fmt.Errorf("%w: the mark cannot be read, and the journal does not hold one line",
			ErrDamaged)
	}
	if last.Line < j.mark.atLeast {
		if j.whole > j.size {
			return fmt.Errorf("%w: line %d cannot be read", ErrDamaged, last.Line+1)
		}
		return fmt.Errorf("%w: it ends with line %d, but line %d was confirmed",
			ErrRolledBack, last.Line, j.mark.atLeast)
	}
	if last.Line == j.mark.Line && last != j.mark.Position && last.Line > 0 {
		return fmt.Errorf("%w: line %d differs from the confirmed line", ErrRolledBack, last.Line)
	}
	j.verified = true
	if j.mode == Read || last.Line == j.mark.Line {
		return nil
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	return j.mark.write(last)
}

// between returns the checked lines between two offsets of the file.
func (j *fileJournal) between(from, to int64) (lines []JournalLine, err error) {
	b := make([]byte, to-from)
	if _, err := j.file.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return nil, fmt.Errorf("%w: its file changed while it was read", ErrDamaged)
		}
		line, ok := parseFrame(b[:i])
		if !ok {
			return nil, fmt.Errorf("%w: its file changed while it was read", ErrDamaged)
		}
		lines = append(lines, line)
		b = b[i+1:]
	}
	return lines, nil
}

// Trim implements Trimmer. It writes the journal to a new file and renames this file
// over the old file. After a power failure one of the two files is there.
func (j *fileJournal) Trim(ctx context.Context, before uint64) error {
	if j.mode == Read {
		return ErrReadOnly
	}
	return j.locked(ctx, func() error {
		if err := j.catchUp(); err != nil {
			return err
		}
		lines, err := j.between(0, j.size)
		if err != nil {
			return err
		}
		i := before - j.first
		if before < j.first || i >= uint64(len(lines)) || !lines[i].Snapshot {
			return fmt.Errorf("ledger: cannot trim before line %d, which is not a snapshot", before)
		}
		err = j.disk.Replace(j.path, func(w io.Writer) error {
			var b []byte
			for _, line := range lines[i:] {
				if b, err = appendFrame(b[:0], line); err != nil {
					return err
				}
				if _, err := w.Write(b); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return j.catchUp()
	})
}

// Place implements Journal. It returns the name of the store's folder and not its path,
// because guarantees are published, and a path reveals something about the machine. The ledger is
// identified by its ID.
func (j *fileJournal) Place() string {
	return fmt.Sprintf("the folder %q", filepath.Base(filepath.Dir(filepath.Dir(j.path))))
}

// Close implements Journal.
func (j *fileJournal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	var errs []error
	if j.file != nil {
		errs = append(errs, j.file.Close())
	}
	if j.mark.file != nil {
		errs = append(errs, j.mark.file.Close())
	}
	if j.mutex != nil {
		errs = append(errs, j.mutex.Close())
	}
	return errors.Join(errs...)
}
