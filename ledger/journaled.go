package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// ErrEmpty means that the journal holds no ledger yet.
var ErrEmpty = errors.New("ledger: the journal holds no ledger")

// journaled is the state of a family of ledgers in a journal. Fields that a line can change are
// written under both reading and the state lock, and read under either.
type journaled struct {
	// reading is held while lines are read and applied, so that the state in memory always agrees
	// with the lines up to head.
	reading sync.Mutex

	// The methods commitLines, readLines and checkLimits. A ledger calls them through these fields,
	// which newJournaled sets, so that the linker leaves the code for lines out of a program whose
	// ledgers are all in memory.
	commit  func(root *Ledger, c operation) error
	catchUp func(root *Ledger) error
	limits  func(ctx context.Context, l *Ledger, purpose string, u uses) (approvals int, err error)

	lines  Journal
	ctx    context.Context
	now    func() time.Time
	reads  bool // the ledger was opened for reading
	closed bool
	broken error // why the journal is damaged; permanent

	id       string
	terms    Terms
	first    Position // of the first line, which identifies the journal
	head     Position // of the last line that was applied
	latest   time.Time
	releases []Release
	windows  []*window // one for each limit with a window

	sinceSnapshot, bytesSince, snapshotBytes int

	past []byte // digits of the last lines; see snapshot

	pending []*change // notes and marks not yet written to a line; under the state lock
	marked  string    // why the run is not private; set before its line is written
	waiting int       // number of pending lines before the line that is being applied
}

// WithClock sets the clock for the lines of a ledger in a journal. The default is the system's
// clock. Prices do not depend on time; only limits with a window do, see [Limit].
func WithClock(now func() time.Time) Option {
	return journalOption("WithClock", func(j *journaled) { j.now = now })
}

// ReadOnly opens a ledger in a journal for reading; every change fails with ErrReadOnly.
func ReadOnly() Option {
	return journalOption("ReadOnly", func(j *journaled) { j.reads = true })
}

func journalOption(name string, set func(*journaled)) Option {
	return func(l *Ledger) {
		if l.shared.journal == nil {
			l.fault = param.New(name, "an option", "no such option for a ledger in memory")
			return
		}
		set(l.shared.journal)
	}
}

// CreateOn writes the first line of an empty journal and opens the ledger. See OpenOn.
//
// Errors: ErrConflict if the journal is not empty; *param.Error; the errors of the journal.
func CreateOn(ctx context.Context, j Journal, terms Terms, opts ...Option) (*Ledger, error) {
	if err := terms.Validate(); err != nil {
		return nil, err
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	l, err := newJournaled(ctx, j, opts)
	if err != nil {
		return nil, err
	}
	kept := l.shared.journal
	if kept.reads {
		return nil, ErrReadOnly
	}
	open := &opening{journalVersion, hex.EncodeToString(id[:]), terms}
	lines, err := kept.encode([]*change{{Open: open}})
	if err != nil {
		return nil, err
	}
	if err := j.Append(ctx, Position{}, lines); err != nil {
		return nil, err
	}
	return l, l.opened()
}

// OpenOn opens the ledger that a journal holds. It is used like any other [Ledger], and counts
// the reservations of all processes on the journal.
//
// Guarantee: a reservation is a durable line before it is confirmed, and a use is a durable line
// before it is handed out. The reservations of all ledgers on the journal never cost more than the
// budget. A failed call may leave a reservation in the journal. Such a reservation counts, and its
// uses are handed out only through Resume or the transaction's ID.
//
// The journal counts a few uses as taken before they are handed out: at most one for every 32 uses
// taken before. These uses are lost if the process dies. A policy and an approval hook belong to
// the process and must be given at each opening; everything else is in the ledger's [Terms].
//
// The context applies to all reading and writing of the journal while the ledger is used. After the
// context ends, nothing more can be reserved. Close closes the journal.
//
// Errors: ErrEmpty, ErrDamaged, ErrRolledBack; *param.Error for options that contradict the terms;
// the errors of the journal.
func OpenOn(ctx context.Context, j Journal, opts ...Option) (*Ledger, error) {
	l, err := newJournaled(ctx, j, opts)
	if err != nil {
		return nil, err
	}
	return l, l.opened()
}

func newJournaled(ctx context.Context, j Journal, opts []Option) (*Ledger, error) {
	if j == nil {
		return nil, param.New("ledger.Journal", nil, "a journal, such as one of package ledger")
	}
	l := &Ledger{&book{shared: &ledgerShared{reserve: newTurn()}, index: map[string]*entry{}}}
	l.self, l.shared.root = l, l
	kept := &journaled{lines: j, ctx: ctx, now: time.Now}
	kept.commit, kept.catchUp, kept.limits = kept.commitLines, kept.readLines, kept.checkLimits
	l.shared.journal = kept
	for _, o := range opts {
		if o != nil {
			o(l)
		}
	}
	if kept.now == nil {
		kept.now = time.Now
	}
	return l, l.fault
}

// opened reads the journal from its beginning.
func (l *Ledger) opened() error {
	kept := l.shared.journal
	if l.filter != 0 || l.unit != "" {
		return param.New("ledger.OpenOn.opts", "WithUnit or WithFilter",
			"neither: the ledger's terms hold the unit and the filter")
	}
	head, err := kept.current(l)
	if err != nil {
		return err
	}
	if head.Line == 0 {
		return ErrEmpty
	}
	return nil
}

// operation is one change of a ledger. decide checks the change against all reservations and may
// return an error. lines returns the lines of the change, or none if nothing changes. do applies
// the change in memory. If another process appended a line first, decide and lines are called
// again.
type operation struct {
	decide func() error
	lines  func() []*change
	do     func()
	uses   uses // what is set aside; nil for nothing
}

// uses returns the event that an operation reserves for one purpose, or for all purposes if purpose
// is empty. It returns nil if nothing is reserved.
type uses func(purpose string) accountant.Event

// commit performs an operation. The caller holds the reserve lock.
//
// In a journal, the lines are durable before the operation takes effect. After an error of Append
// the lines may still be in the journal. The next read then counts them, so that the cost is never
// understated.
//
// An error of decide is marked as a refusal, since nothing has been written then.
func (s *ledgerShared) commit(c operation) error {
	decide := c.decide
	c.decide = func() error { return param.Refuse(decide()) }
	if s.journal != nil {
		return s.journal.commit(s.root, c)
	}
	if err := c.decide(); err != nil {
		return err
	}
	s.state.Lock()
	defer s.state.Unlock()
	c.do()
	return nil
}

// commitLines performs an operation of a ledger in a journal.
func (j *journaled) commitLines(root *Ledger, c operation) error {
	if err := j.writable(root); err != nil {
		return err
	}
	if root.policy != nil || root.approve != nil { // these may be slow, so call them without the lock
		if _, err := j.current(root); err != nil {
			return err
		}
		if err := c.decide(); err != nil {
			return err
		}
	}
	unlock, err := j.lock()
	if err != nil {
		return err
	}
	defer unlock()
	var last Position
	for stuck := 0; ; {
		head, err := j.current(root)
		if err != nil {
			return err
		}
		if stuck++; head != last {
			last, stuck = head, 0
		}
		if err := c.decide(); err != nil {
			return err
		}
		err = j.append(root, c, head)
		if stuck > maxStuck {
			return err
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
}

// maxStuck bounds how often a journal may report a conflict without returning the conflicting line.
const maxStuck = 100

func (j *journaled) writable(root *Ledger) error {
	root.shared.state.Lock()
	defer root.shared.state.Unlock()
	switch {
	case j.broken != nil:
		return j.broken
	case j.reads:
		return param.Refuse(ErrReadOnly)
	case j.closed:
		return errClosed
	}
	return j.ctx.Err()
}

var errClosed = errors.New("ledger: the ledger is closed")

// lock takes the journal's lock, if it has one.
func (j *journaled) lock() (unlock func(), err error) {
	if locker, ok := j.lines.(Locker); ok {
		return locker.Lock(j.ctx)
	}
	return func() {}, nil
}

// append writes the lines of an operation that was decided when head was the last line, together
// with pending lines, and applies them.
func (j *journaled) append(root *Ledger, c operation, head Position) error {
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.head != head { // a query has read further lines in the meantime
		return ErrConflict
	}
	state := &root.shared.state
	state.Lock()
	pending := slices.Clone(j.pending)
	changes := append(slices.Clone(pending), c.lines()...)
	state.Unlock()
	var lines []JournalLine
	if len(changes) > 0 {
		var err error
		if lines, err = j.encode(changes); err != nil {
			return err
		}
		if err := j.lines.Append(j.ctx, j.head, lines); err != nil {
			return err
		}
	}
	state.Lock()
	j.made(root, c, pending, lines, changes)
	state.Unlock()
	if len(lines) > 0 {
		j.snapshotIfDue(root)
	}
	return nil
}

// made applies durable lines; the caller holds both locks.
func (j *journaled) made(root *Ledger, c operation, pending []*change, lines []JournalLine,
	changes []*change) {
	for _, p := range pending {
		if err := root.apply(p); err != nil {
			j.broken, root.fault = err, err // cannot happen: the ledger wrote it
		}
	}
	j.pending, j.waiting = j.pending[len(pending):], len(pending)
	c.do()
	j.waiting = 0
	for i, line := range lines {
		j.advance(line, changes[i].Time)
	}
	if c.uses != nil && len(lines) > 0 {
		j.remember(j.latest, c.uses)
	}
}

// encode numbers the changes, gives them a time and chains them to the last line.
func (j *journaled) encode(changes []*change) ([]JournalLine, error) {
	lines := make([]JournalLine, len(changes))
	at, now := j.head, j.time()
	for i, c := range changes {
		c.Line, c.Time = at.Line+1, now
		text, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		if len(text) > maxLine {
			return nil, param.New("ledger.Journal", len(text), "a line of at most 64 MiB")
		}
		at = Position{c.Line, ChainHash(at.Hash, text)}
		lines[i] = JournalLine{at, text, c.Snapshot != nil}
	}
	return lines, nil
}

// maxLine bounds the bytes of a line's text, so that every reader can hold a line.
const maxLine = 64 << 20

// time returns the time of the ledger's clock, but never a time before the latest line. So a clock
// that was set back, or the clock of another machine, cannot shorten a window.
func (j *journaled) time() time.Time {
	now := j.now().UTC().Round(0)
	if now.Before(j.latest) || now.Year() > 9999 { // a line cannot hold such a year
		return j.latest
	}
	return now
}

// advance records that a line has been applied; the caller holds the state lock.
func (j *journaled) advance(line JournalLine, at time.Time) {
	if j.head = line.Position; j.first.Line == 0 {
		j.first = line.Position
	}
	if at.After(j.latest) {
		j.latest = at
	}
	past := append(j.past, digitsOf(line.Hash)...)
	j.past = past[max(len(past)-mostPast, 0):]
	j.sinceSnapshot++
	j.bytesSince += len(line.Text)
	if line.Snapshot {
		j.sinceSnapshot, j.bytesSince, j.snapshotBytes = 0, 0, len(line.Text)
	}
}

// current applies what other processes have appended and returns the position of the last line.
func (j *journaled) current(root *Ledger) (Position, error) {
	j.reading.Lock()
	defer j.reading.Unlock()
	err := j.catchUp(root)
	return j.head, err
}

// readLines is like current, for callers that hold reading.
func (j *journaled) readLines(root *Ledger) error {
	if j.broken != nil {
		return j.broken
	}
	for line, err := range j.unread() {
		if err == nil {
			err = j.follow(root, line)
		}
		if errors.Is(err, ErrDamaged) || errors.Is(err, ErrRolledBack) {
			root.shared.state.Lock()
			j.broken, root.fault = err, err // permanent: the total is unknown and counts as infinite
			root.shared.state.Unlock()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unread yields the lines that have not been applied.
func (j *journaled) unread() iter.Seq2[JournalLine, error] {
	if s, ok := j.lines.(Snapshotter); ok && j.head.Line == 0 {
		return s.ReadLatest(j.ctx)
	}
	return j.lines.Read(j.ctx, j.head)
}

// follow applies the next line.
func (j *journaled) follow(root *Ledger, line JournalLine) error {
	root.shared.state.Lock()
	defer root.shared.state.Unlock()
	skips := line.Snapshot && line.Line != j.head.Line+1
	if !skips {
		if err := line.Follows(j.head); err != nil {
			return err
		}
	}
	c, err := decodeChange(line)
	if err != nil {
		return damaged(line, err)
	}
	switch {
	case c.Snapshot != nil:
		err = j.followSnapshot(root, line, c.Snapshot)
	case c.Open != nil && line.Line == 1:
		err = j.open(root, c.Open)
	case line.Line == 1:
		err = errors.New("the first line does not open a ledger")
	default:
		err = root.apply(c)
	}
	if err != nil {
		return damaged(line, err)
	}
	j.advance(line, c.Time)
	return nil
}

func damaged(line JournalLine, err error) error {
	return fmt.Errorf("%w: line %d: %w", ErrDamaged, line.Line, err)
}

// open adopts the terms of the first line.
func (j *journaled) open(root *Ledger, o *opening) error {
	if o.Version != journalVersion {
		return fmt.Errorf("lines of version %d, want %d", o.Version, journalVersion)
	}
	if err := o.Terms.Validate(); err != nil {
		return err
	}
	j.id, j.terms = o.ID, o.Terms
	root.budget, root.filter = o.Terms.Budget, o.Terms.FilterOrder
	if err := root.setUnit("ledger.Terms.Unit", o.Terms.Unit); err != nil {
		return err
	}
	for _, m := range o.Terms.Limits {
		if m.Window > 0 {
			j.windows = append(j.windows, &window{limit: m})
		}
	}
	return nil
}

// refresh applies the lines of other processes before a query is answered.
func (s *ledgerShared) refresh() error {
	j := s.journal
	if j == nil {
		return nil
	}
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.closed {
		return nil
	}
	return j.catchUp(s.root)
}

// note writes a line for a note or a mark. If writing fails, the change stays pending and is
// written together with the next line. No further use can be taken before that.
func (s *ledgerShared) note(c *change) {
	s.state.Lock()
	s.journal.pending = append(s.journal.pending, c)
	s.state.Unlock()
	if s.reserve.TryLock() { // otherwise the holder of the lock writes it
		defer s.reserve.Unlock()
		_ = s.flush()
	}
}

// flush writes pending notes and marks; the caller holds the reserve lock.
func (s *ledgerShared) flush() error {
	s.state.Lock()
	waits := s.journal != nil && len(s.journal.pending) > 0
	s.state.Unlock()
	if !waits {
		return nil
	}
	return s.commit(operation{decide: allowed, lines: func() []*change { return nil }, do: func() {}})
}

func allowed() error { return nil }

// Name returns the name of a ledger in a journal; "" for any other.
func (l *Ledger) Name() string {
	l = l.original()
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	if j := l.shared.journal; j != nil {
		return j.terms.Name
	}
	return ""
}

// Close writes pending lines and closes the ledger's journal. Afterwards nothing more can be
// reserved or taken, and queries answer from the state at closing. Close does nothing for a ledger
// without a journal.
//
// Errors: the errors of the journal.
func (l *Ledger) Close() error {
	l = l.original()
	s := l.shared
	s.reserve.Lock()
	defer s.reserve.Unlock()
	j := s.journal
	if j == nil || j.closed {
		return nil
	}
	var err error
	if j.writable(s.root) == nil {
		err = s.flush()
	}
	j.reading.Lock()
	defer j.reading.Unlock()
	s.state.Lock()
	defer s.state.Unlock()
	j.closed = true
	return errors.Join(err, j.lines.Close())
}
