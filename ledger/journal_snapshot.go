package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// snapshot summarises all lines before it, so that a ledger can be opened without them. Its line is
// part of the chain. Previous allows a reader to check the line's hash after the earlier lines are
// trimmed.
type snapshot struct {
	Version  int         `json:"version"`
	Previous string      `json:"previous"` // hash of the line before
	First    Position    `json:"first"`    // of the journal's first line
	ID       string      `json:"id"`
	Terms    Terms       `json:"terms"`
	Ledger   savedLedger `json:"ledger"`
	Latest   time.Time   `json:"latest"`

	Windows  [][]windowUse `json:"windows,omitempty"`
	Releases []Release     `json:"releases,omitempty"`

	// Past holds the first digits of the hashes of the lines before. When these are trimmed, a ledger
	// that has seen one of them finds whether the journal was restored from an older copy and went on.
	Past string `json:"past,omitempty"`
}

const pastDigits, mostPast = 12, 12 << 12 // of 4,096 lines

// follows returns an error if a snapshot in the given line says that another line is in the place
// of the line at p. It says nothing of lines further back than Past.
func (s *snapshot) follows(line uint64, p Position) error {
	back := line - p.Line
	if p.Line < line && back <= uint64(len(s.Past)/pastDigits) &&
		!strings.HasPrefix(s.Past[len(s.Past)-int(back)*pastDigits:], digitsOf(p.Hash)) {
		return fmt.Errorf("%w: line %d was another one when it was trimmed", ErrRolledBack, p.Line)
	}
	return nil
}

func digitsOf(hash string) string { return fmt.Sprintf("%*.*s", pastDigits, pastDigits, hash) }

// snapshotEvery is the least number of lines between snapshots. A ledger also waits until the lines
// since the last snapshot take four times as many bytes as the snapshot. So snapshots are a small
// part of a journal.
const snapshotEvery = 1024

// snapshotIfDue writes a snapshot if one is due. Errors are ignored: nothing depends on snapshots,
// and the ledger tries again after the next line.
func (j *journaled) snapshotIfDue(root *Ledger) {
	if j.sinceSnapshot >= snapshotEvery && j.bytesSince >= 4*j.snapshotBytes {
		_ = j.writeSnapshot(root)
	}
}

// writeSnapshot appends a snapshot of all applied lines.
func (j *journaled) writeSnapshot(root *Ledger) error {
	root.shared.state.Lock()
	s, err := j.snapshot(root)
	root.shared.state.Unlock()
	if err != nil {
		return err
	}
	c := &change{Snapshot: s}
	lines, err := j.encode([]*change{c})
	if err != nil {
		return err
	}
	if err := j.lines.Append(j.ctx, j.head, lines); err != nil {
		return err
	}
	root.shared.state.Lock()
	defer root.shared.state.Unlock()
	j.advance(lines[0], c.Time)
	return nil
}

// snapshot returns a snapshot of the ledger's present state; the caller holds the state lock.
func (j *journaled) snapshot(root *Ledger) (*snapshot, error) {
	saved, err := root.save()
	if err != nil {
		return nil, err
	}
	saved.Version, saved.NotPrivate, saved.Unit = ledgerVersion, root.notPrivate, root.unit
	s := &snapshot{Version: journalVersion, Previous: j.head.Hash, First: j.first, ID: j.id,
		Terms: j.terms, Ledger: saved, Latest: j.latest, Releases: j.releases,
		Past: string(j.past)}
	for _, w := range j.windows {
		s.Windows = append(s.Windows, w.uses)
	}
	return s, nil
}

// followSnapshot compares a snapshot with the ledger's state if both cover the same lines, and
// adopts the snapshot if it covers more. The caller holds the state lock.
func (j *journaled) followSnapshot(root *Ledger, line JournalLine, s *snapshot) error {
	if line.Line < 2 || ChainHash(s.Previous, line.Text) != line.Hash {
		return errors.New("a snapshot that does not match its hash")
	}
	if j.head.Line == line.Line-1 && j.head.Line > 0 {
		return j.compare(root, s)
	}
	if j.head.Line > 0 && (s.First != j.first || s.ID != j.id) {
		return errors.New("a snapshot of another journal")
	}
	if err := s.follows(line.Line, j.head); err != nil {
		return err
	}
	return j.adopt(root, s)
}

// compare returns an error if a snapshot does not equal the state after the lines before it.
func (j *journaled) compare(root *Ledger, s *snapshot) error {
	mine, err := j.snapshot(root)
	if err != nil {
		return err
	}
	mine.Past = s.Past // a ledger that has not read all lines knows less
	a, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return errors.New("a snapshot that differs from the lines before it")
	}
	return nil
}

// adopt applies a snapshot of a state that the ledger has not seen.
func (j *journaled) adopt(root *Ledger, s *snapshot) error {
	saved := s.Ledger
	if saved.Version != ledgerVersion {
		return fmt.Errorf("a ledger of version %d, want %d", saved.Version, ledgerVersion)
	}
	fresh := New(saved.Budget)
	fresh.filter = saved.FilterOrder
	if err := errors.Join(fresh.fault, fresh.restore(saved, 0)); err != nil {
		return err
	}
	terms := s.Terms
	if saved.Budget != terms.Budget || saved.FilterOrder != terms.FilterOrder ||
		saved.Unit != unitOf(terms) {
		return errors.New("a snapshot with other terms")
	}
	if len(root.entries) == 0 && j.head.Line == 0 {
		if err := j.open(root, &opening{s.Version, s.ID, terms}); err != nil {
			return err
		}
	}
	if len(s.Windows) != len(j.windows) {
		return errors.New("a snapshot without the uses counted by its limits")
	}
	if err := root.graft(fresh, saved, 0); err != nil {
		return err
	}
	if root.notPrivate == "" {
		root.notPrivate = saved.NotPrivate
	}
	root.spending = root.spending || fresh.spending
	root.version++
	for i, w := range j.windows {
		w.uses = s.Windows[i]
	}
	for _, r := range s.Releases {
		if err := r.validate(); err != nil {
			return err
		}
	}
	j.releases, j.first, j.past = s.Releases, s.First, []byte(s.Past)
	j.latest = later(j.latest, s.Latest)
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func unitOf(t Terms) string {
	if t.Unit == recordUnit {
		return ""
	}
	return t.Unit
}

// graft updates the ledger to the state of fresh, which was read from a later saved form of the
// same ledger. Reservations point to entries, parts and transactions, so these stay in place. No
// count can decrease.
func (l *Ledger) graft(fresh *Ledger, saved savedLedger, depth int) error {
	shrunk := errors.New("a snapshot that holds less than the lines before it")
	if len(fresh.entries) < len(l.entries) || len(fresh.groups) < len(l.groups) ||
		len(fresh.transactions) < len(l.transactions) || depth > maxPartDepth {
		return shrunk
	}
	for i, f := range fresh.entries {
		if i >= len(l.entries) {
			f.owned, f.ownedSpent = 0, 0 // counted below
			f.number = i
			l.entries = append(l.entries, f)
			l.index[f.purpose+"\x00"+f.key] = f
			continue
		}
		en := l.entries[i]
		if f.purpose != en.purpose || f.key != en.key || f.reserved < en.reserved || f.spent < en.spent {
			return shrunk
		}
		en.reserved, en.spent, en.late, en.lines = f.reserved, f.spent, f.late, f.lines
		for _, c := range f.notes {
			en.note(c)
		}
	}
	for i, f := range fresh.groups {
		if i >= len(l.groups) {
			l.openGroup(f.Parts)
		}
		g := l.groups[i]
		if g.Parts != f.Parts || len(g.children) != len(f.children) {
			return shrunk
		}
		for k, c := range g.children {
			if err := c.graft(f.children[k], saved.Parts[i].Ledgers[k], depth+1); err != nil {
				return err
			}
		}
	}
	for i, t := range l.transactions {
		if err := t.follow(fresh.transactions[i]); err != nil {
			return err
		}
	}
	return l.restoreTransactions(saved.Transactions[len(l.transactions):])
}

// follow updates a transaction to a later state and counts the uses made in between.
func (t *placedTransaction) follow(fresh *placedTransaction) error {
	if t.id != fresh.id || len(t.lines) != len(fresh.lines) {
		return fmt.Errorf("a snapshot that does not hold the transaction %q", t.id)
	}
	for i, p := range t.lines {
		more := fresh.lines[i].spent - p.spent
		if more < 0 {
			return fmt.Errorf("a snapshot that counts fewer uses of the transaction %q", t.id)
		}
		p.spent += more
		p.entry.ownedSpent += more
	}
	return nil
}

// Compact writes a snapshot. If the journal is a Trimmer, Compact then removes the lines before the
// snapshot. Reservations are unchanged, but the history in the removed lines is lost. Removing many
// lines takes time, and no reservation can be made during that time. Without a journal, Compact
// does nothing.
//
// Errors: ErrReadOnly; the errors of the journal.
func (l *Ledger) Compact() error {
	l = l.original()
	s := l.shared
	s.reserve.Lock()
	defer s.reserve.Unlock()
	j := s.journal
	if j == nil {
		return nil
	}
	if err := errors.Join(j.writable(s.root), s.flush()); err != nil {
		return err
	}
	unlock, err := j.lock()
	if err != nil {
		return err
	}
	defer unlock()
	j.reading.Lock()
	defer j.reading.Unlock()
	if err := j.catchUp(l.shared.root); err != nil {
		return err
	}
	if err := j.writeSnapshot(l.shared.root); err != nil {
		return err
	}
	if t, ok := j.lines.(Trimmer); ok {
		return t.Trim(j.ctx, j.head.Line)
	}
	return nil
}
