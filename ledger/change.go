package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// change is the content of one line of a journal. Either exactly one of its pointers is set, or
// NotPrivate.
type change struct {
	Line       uint64    `json:"line"`
	Snapshot   *snapshot `json:"snapshot,omitempty"`
	Time       time.Time `json:"time"` // by the caller's clock; never decreases
	ApprovedBy []string  `json:"approved_by,omitempty"`
	At         []partOf  `json:"at,omitempty"` // path to the child ledger; empty for the outermost

	Open        *opening           `json:"open,omitempty"`
	Reserve     *changeReserve     `json:"reserve,omitempty"`
	Transaction *changeTransaction `json:"transaction,omitempty"`
	Spend       *changeSpend       `json:"spend,omitempty"`
	Disjoint    *changeDisjoint    `json:"disjoint,omitempty"`
	Note        *changeNote        `json:"note,omitempty"`
	NotPrivate  string             `json:"not_private,omitempty"`
	Release     *Release           `json:"release,omitempty"`
}

// partOf is one step from a ledger to a child.
type partOf struct {
	Group int `json:"group"` // index among the ledger's groups
	Part  int `json:"part"`
}

// opening is the content of the first line.
type opening struct {
	Version int    `json:"version"` // of the lines
	ID      string `json:"id"`      // random: no two journals start with the same line
	Terms   Terms  `json:"terms"`
}

const journalVersion = 1

type changeReserve struct {
	Relation accountant.Relation `json:"relation"`
	Purpose  string              `json:"purpose"`
	Event    json.RawMessage     `json:"event"`
	Count    int                 `json:"count"`
	Taken    int                 `json:"taken,omitempty"`
}

type changeTransaction struct {
	Relation accountant.Relation `json:"relation"`
	ID       string              `json:"id,omitempty"`
	Groups   []changeDisjoint    `json:"groups,omitempty"`
	Lines    []transactionLine   `json:"lines"`
}

type transactionLine struct {
	Purpose string          `json:"purpose"`
	Event   json.RawMessage `json:"event"`
	Count   int             `json:"count"`
	Taken   int             `json:"taken,omitempty"`
	Group   int             `json:"group,omitempty"`
	Part    int             `json:"part,omitempty"`
}

type changeDisjoint struct {
	Purpose      string `json:"purpose"`
	N            int    `json:"n"`
	Fixed        bool   `json:"fixed,omitempty"`
	MovesCovered bool   `json:"moves_covered,omitempty"`
}

// changeSpend counts uses as taken. If ID is set, the uses belong to a line of that transaction.
// Otherwise they are uses of an entry that belong to no transaction with an ID.
type changeSpend struct {
	ID    string `json:"id,omitempty"`
	Index int    `json:"index"` // of the transaction's line, or of the entry
	Count int    `json:"count"`
}

type changeNote struct {
	Entry int        `json:"entry"`
	Class NoiseClass `json:"class"`
}

// These bound the number of children that the lines of a journal open together. Without a bound, a
// short line could allocate much memory.
const (
	maxParts     = 1 << 15
	partsPerLine = 8 // added by each line
)

// decodeChange reads a line whose place in the chain has been checked.
func decodeChange(line JournalLine) (*change, error) {
	var c change
	if err := param.Decode(line.Text, &c); err != nil {
		return nil, err
	}
	kinds := 0
	for _, set := range []bool{c.Snapshot != nil, c.Open != nil, c.Reserve != nil,
		c.Transaction != nil, c.Spend != nil, c.Disjoint != nil, c.Note != nil, c.NotPrivate != "",
		c.Release != nil} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return nil, fmt.Errorf("%d changes in one line, want 1", kinds)
	case c.Line != line.Line:
		return nil, fmt.Errorf("its text has the line number %d", c.Line)
	case line.Snapshot != (c.Snapshot != nil):
		return nil, fmt.Errorf("only one of its text and its kind says that it is a snapshot")
	}
	return &c, nil
}

// apply applies a line to the ledger. A ledger applies lines to follow other processes and to
// restore its state. The caller holds the state lock or is the only owner.
func (l *Ledger) apply(c *change) error {
	at, err := l.descendant(c.At)
	if err != nil {
		return err
	}
	switch {
	case c.Reserve != nil:
		return at.applyReserve(c)
	case c.Transaction != nil:
		return at.applyTransaction(c)
	case c.Spend != nil:
		return at.applySpend(c.Spend)
	case c.Disjoint != nil:
		return at.applyDisjoint(*c.Disjoint)
	case c.Note != nil:
		if n := c.Note.Entry; n < 0 || n >= len(at.entries) {
			return param.New("ledger.Journal.note.entry", n, "an entry of the ledger")
		}
		if c.Note.Class != ExactNoise && c.Note.Class != RealNoise {
			return param.New("ledger.Journal.note.class", string(c.Note.Class), "exact or real")
		}
		at.entries[c.Note.Entry].note(c.Note.Class)
	case c.NotPrivate != "":
		l.markNotPrivate(c.NotPrivate)
	case c.Release != nil:
		if err := c.Release.validate(); err != nil {
			return err
		}
		l.shared.journal.releases = append(l.shared.journal.releases, *c.Release)
	default:
		return fmt.Errorf("an opening line after the first")
	}
	return nil
}

// descendant returns the child ledger at the end of a path.
func (l *Ledger) descendant(path []partOf) (*Ledger, error) {
	for _, p := range path {
		if p.Group < 0 || p.Group >= len(l.groups) || p.Part < 0 ||
			p.Part >= len(l.groups[p.Group].children) {
			return nil, param.New("ledger.Journal.at", fmt.Sprint(p), "a part that is open")
		}
		l = l.groups[p.Group].children[p.Part]
	}
	return l, nil
}

// path returns the path from the outermost ledger to this one.
func (l *Ledger) path() []partOf {
	if l.parent == nil {
		return nil
	}
	return append(l.parent.path(), l.place)
}

func (l *Ledger) applyReserve(c *change) error {
	r := c.Reserve
	if err := checkRelation(r.Relation, l.Relation()); err != nil {
		return err
	}
	if r.Count < 1 || r.Count > maxCount || r.Taken < 0 || r.Taken > r.Count {
		return param.New("ledger.Journal.reserve.count", r.Count, "a positive number of uses")
	}
	if err := checkPurpose("ledger.Journal.reserve.purpose", r.Purpose); err != nil {
		return err
	}
	d, err := l.shared.events.decode(r.Event)
	if err != nil {
		return err
	}
	id := r.Purpose + "\x00" + d.key
	if en := l.index[id]; en != nil && r.Count > maxCount-en.reserved {
		return param.New("ledger.Journal.reserve.count", r.Count, "at most math.MaxInt/4 uses in total")
	}
	l.setAside(r.Purpose, id, d.event, d.key, r.Count).entry.take(l, r.Taken)
	l.shared.journal.remember(c.Time, usesOf(r.Purpose, d.event, r.Count))
	return nil
}

func (l *Ledger) applyTransaction(c *change) error {
	if err := checkRelation(c.Transaction.Relation, l.Relation()); err != nil {
		return err
	}
	t := Transaction{ID: c.Transaction.ID}
	for _, g := range c.Transaction.Groups {
		t.Groups = append(t.Groups, Parts(g))
	}
	var lines []*placedLine
	for _, line := range c.Transaction.Lines {
		d, err := l.shared.events.decode(line.Event)
		if err != nil {
			return err
		}
		t.Lines = append(t.Lines,
			Line{line.Purpose, d.event, line.Count, line.Taken, line.Group, line.Part})
		lines = append(lines, &placedLine{line: t.Lines[len(t.Lines)-1], key: d.key})
	}
	if err := errors.Join(t.check(l.Relation()), l.checkNames(t)); err != nil {
		return err
	}
	if l.transaction(t.ID) != nil {
		return param.New("ledger.Journal.transaction.id", t.ID, "a new transaction ID")
	}
	if err := l.countable(lines); err != nil {
		return err
	}
	l.setAllAside(t, lines)
	l.shared.journal.remember(c.Time, t.uses(lines))
	return nil
}

func (l *Ledger) applyDisjoint(c changeDisjoint) error {
	if err := l.checkGroups(Parts(c)); err != nil {
		return err
	}
	l.openGroup(Parts(c))
	return nil
}

func (l *Ledger) applySpend(c *changeSpend) error {
	const path = "ledger.Journal.spend"
	if c.Count < 1 {
		return param.New(path+".count", c.Count, "a positive number of uses")
	}
	if c.ID != "" {
		t := l.transaction(c.ID)
		if t == nil || c.Index < 0 || c.Index >= len(t.lines) {
			return param.New(path+".index", c.Index, "a line of a reserved transaction")
		}
		if p := t.lines[c.Index]; c.Count > p.line.Count-p.spent {
			return param.New(path+".count", c.Count, "no more uses than are left")
		}
		t.lines[c.Index].take(c.Count)
		return nil
	}
	if c.Index < 0 || c.Index >= len(l.entries) {
		return param.New(path+".index", c.Index, "a reserved entry")
	}
	en := l.entries[c.Index]
	if c.Count > en.left() {
		return param.New(path+".count", c.Count, "no more uses than are left")
	}
	en.take(l, c.Count)
	return nil
}

// left returns how many untaken uses belong to no transaction with an ID.
func (en *entry) left() int {
	return en.reserved - en.spent - (en.owned - en.ownedSpent)
}

// take counts n uses of an entry of the ledger as taken; the caller holds the state lock.
func (en *entry) take(l *Ledger, n int) {
	if n > 0 {
		en.spent += n
		l.shared.root.spending = true
	}
}

func checkRelation(got, want accountant.Relation) error {
	if got != want {
		return param.New("ledger.Journal.relation", got, "the ledger's relation, "+want.String())
	}
	return nil
}

// maxPurpose bounds the bytes of a purpose, because every line for a purpose contains it.
const maxPurpose = 1 << 12

// checkPurpose returns an error for text that JSON cannot hold unchanged, and for a text that reads
// like the name of an entry in disjoint parts.
func checkPurpose(path, purpose string) error {
	_, part := partNameOf(purpose)
	if part || !utf8.ValidString(purpose) || len(purpose) > maxPurpose {
		return param.New(path, fmt.Sprintf("%.40q", purpose),
			`at most 4096 bytes of UTF-8, without ", part 1 of 2: "`)
	}
	return nil
}

// lineText returns s as a text that a line can hold unchanged: valid UTF-8 of at most maxPurpose
// bytes.
func lineText(s string) string {
	s = strings.ToValidUTF8(s, "?")
	for len(s) > maxPurpose {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// checkNames returns an error for an ID that is not valid text, and for too many or too deeply
// nested parts: a line or a file cannot hold them.
func (l *Ledger) checkNames(t Transaction) error {
	var k param.Checker
	k.Add(checkPurpose("ledger.Transaction.ID", t.ID))
	k.Add(l.checkGroups(t.Groups...))
	return k.Err()
}

// checkGroups returns an error for groups that a line cannot open.
func (l *Ledger) checkGroups(groups ...Parts) error {
	var k param.Checker
	room := maxParts - l.shared.parts
	if j := l.shared.journal; j != nil {
		room += partsPerLine * int(min(j.head.Line, 1<<20))
	}
	for _, p := range groups {
		if p.N < 1 || p.N > room {
			k.Add(param.New("ledger.Parts.N", p.N,
				"1 to 32768 parts, together with those of the ledger in its journal"))
			break
		}
		room -= p.N
		k.OK(len(l.path()) < maxPartDepth, "ledger.Parts", len(l.path()),
			fmt.Sprintf("parts nested at most %d deep", maxPartDepth))
		k.Add(p.check("ledger.Parts.", l.Relation()))
	}
	return k.Err()
}
