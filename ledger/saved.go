package ledger

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// ledgerVersion is written into every saved ledger; unknown versions are an error.
const ledgerVersion = 1

type savedLedger struct {
	Version     int               `json:"version,omitempty"` // of the outermost ledger only
	Budget      accountant.Budget `json:"budget"`
	FilterOrder float64           `json:"filter_order,omitempty"`
	NotPrivate  string            `json:"not_private,omitempty"`
	Unit        string            `json:"unit,omitempty"` // of the outermost ledger only
	Entries     []savedEntry      `json:"entries"`
	Parts       []savedParts      `json:"parts,omitempty"`

	Transactions []savedTransaction `json:"transactions,omitempty"`
}

type savedEntry struct {
	Purpose  string          `json:"purpose"`
	Event    json.RawMessage `json:"event"`
	Reserved int             `json:"reserved"`
	Spent    int             `json:"spent"`
	Late     bool            `json:"late,omitempty"`
	Notes    []NoiseClass    `json:"notes,omitempty"`
	Lines    *LineSpan       `json:"lines,omitempty"` // of the journal
}

type savedParts struct {
	Purpose      string        `json:"purpose"`
	Ledgers      []savedLedger `json:"ledgers"`
	Fixed        bool          `json:"fixed,omitempty"`
	MovesCovered bool          `json:"moves_covered,omitempty"`
}

// snapshot returns the saved form of a ledger and its children, after reading the lines of other
// processes.
func (l *Ledger) snapshot() (savedLedger, error) {
	if err := l.shared.refresh(); err != nil {
		return savedLedger{}, err
	}
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	if l.shared.root.fault != nil {
		return savedLedger{}, l.shared.root.fault
	}
	s, err := l.save()
	s.NotPrivate, s.Unit = l.shared.notPrivate(), l.shared.root.unit
	s.Version = ledgerVersion
	return s, err
}

func (l *Ledger) save() (savedLedger, error) {
	s := savedLedger{Budget: l.budget, FilterOrder: l.filter, Entries: []savedEntry{}}
	for _, en := range l.entries {
		s.Entries = append(s.Entries, savedEntry{en.purpose, json.RawMessage(en.key), en.reserved,
			en.spent, en.late, en.notes, en.lines.copied()})
	}
	for _, g := range l.groups {
		p := savedParts{g.Purpose, []savedLedger{}, g.Fixed, g.MovesCovered}
		for _, c := range g.children {
			sc, err := c.save()
			if err != nil {
				return s, err
			}
			p.Ledgers = append(p.Ledgers, sc)
		}
		s.Parts = append(s.Parts, p)
	}
	s.Transactions = l.saveTransactions()
	return s, nil
}

// MarshalJSON writes the ledger, its children and its version. Policies are not saved.
func (l *Ledger) MarshalJSON() ([]byte, error) {
	l = l.original()
	s, err := l.snapshot()
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// UnmarshalJSON refuses: what package json made of a Ledger would hold nothing.
func (*book) UnmarshalJSON([]byte) error {
	return param.New("ledger.Ledger", "json.Unmarshal", "ledger.Unmarshal, which makes a Ledger")
}

// Unmarshal reads a saved ledger. Its ε is recomputed from the entries. A ledger that exceeds
// its budget is read, and accepts no further reservations. The unit and the filter come from the
// file. A policy is not saved and must be given again.
//
// Errors: *param.Error or a JSON error; unknown versions, unknown fields and missing fields are
// errors, and so is an option WithFilter with another order than the saved filter.
func Unmarshal(data []byte, opts ...Option) (*Ledger, error) {
	var s savedLedger
	if err := errors.Join((param.Limits{Values: mostSavedValues}).Check(data),
		param.Decode(data, &s)); err != nil {
		return nil, fmt.Errorf("ledger.Unmarshal: %w", err)
	}
	if s.Version != ledgerVersion {
		return nil, param.New("ledger.Ledger.version", s.Version,
			fmt.Sprintf("version %d", ledgerVersion))
	}
	if s.FilterOrder != 0 {
		opts = append([]Option{WithFilter(s.FilterOrder)}, opts...)
	}
	l := New(s.Budget, opts...)
	if l.fault != nil {
		return nil, l.fault
	}
	if l.filter != s.FilterOrder {
		return nil, param.New("ledger.WithFilter.order", l.filter,
			fmt.Sprintf("%v, the order of the saved ledger", s.FilterOrder))
	}
	l.notPrivate = s.NotPrivate
	if err := errors.Join(l.setUnit("ledger.Ledger.unit", s.Unit), l.restore(s, 0)); err != nil {
		return nil, err
	}
	l.shared.events.forget()
	whole, err := json.Marshal(s) // only now: parts without fields have been refused
	if err := errors.Join(err, param.Complete("ledger.Ledger", data, whole)); err != nil {
		return nil, err
	}
	return l, nil
}

// mostSavedValues bounds the memory of reading, before anything is read. It is above what a ledger
// within the limits for guarantees writes.
const mostSavedValues = 450_000

// maxPartDepth bounds how deep parts may be nested in a file.
const maxPartDepth = 8

// restore adds saved entries, children and transactions. The caller holds the lock or is the only
// owner.
func (l *Ledger) restore(s savedLedger, depth int) error {
	if depth > maxPartDepth {
		return param.New("ledger.Ledger.parts", depth,
			fmt.Sprintf("parts nested at most %d deep", maxPartDepth))
	}
	for i, en := range s.Entries {
		if err := l.restoreEntry(en); err != nil {
			return fmt.Errorf("ledger: entries[%d]: %w", i, err)
		}
	}
	for _, p := range s.Parts {
		g := &partGroup{Parts: Parts{p.Purpose, len(p.Ledgers), p.Fixed, p.MovesCovered}}
		if err := g.check("ledger.Ledger.parts.", l.Relation()); err != nil {
			return err
		}
		for _, sc := range p.Ledgers {
			if sc.Version != 0 || sc.NotPrivate != "" || sc.Unit != "" || sc.Budget != s.Budget ||
				sc.FilterOrder != s.FilterOrder {
				return param.New("ledger.Ledger.parts", p.Purpose,
					"the budget and the filter of the ledger they belong to, and no version")
			}
			c := l.child(partOf{len(l.groups), len(g.children)})
			g.children = append(g.children, c)
			l.shared.parts++
			if err := c.restore(sc, depth+1); err != nil {
				return err
			}
		}
		l.groups = append(l.groups, g)
	}
	l.shared.root.version++
	return l.restoreTransactions(s.Transactions)
}

func (l *Ledger) restoreEntry(s savedEntry) error {
	d, err := l.shared.events.decode(s.Event)
	if err != nil {
		return err
	}
	e, key := d.event, d.key
	if err := checkPurpose("ledger.Entry.Purpose", s.Purpose); err != nil {
		return err
	}
	if s.Reserved < 1 || s.Reserved > maxCount || s.Spent < 0 || s.Spent > s.Reserved {
		return param.New("ledger.Entry.Spent", s.Spent, "between 0 and Reserved, which is positive")
	}
	id := s.Purpose + "\x00" + key
	en := l.index[id]
	if en == nil {
		en = &entry{purpose: s.Purpose, event: e, key: key, late: s.Late, number: len(l.entries),
			lines: s.Lines}
		l.index[id] = en
		l.entries = append(l.entries, en)
	}
	if en.reserved > maxCount-s.Reserved {
		return param.New("ledger.Entry.Reserved", s.Reserved, "at most math.MaxInt/4 uses in total")
	}
	en.reserved += s.Reserved
	en.spent += s.Spent
	en.late = en.late || s.Late
	for _, c := range s.Notes {
		if c != ExactNoise && c != RealNoise {
			return param.New("ledger.Entry.Notes", string(c), "exact or real")
		}
		en.note(c)
	}
	if en.spent > 0 {
		l.shared.root.spending = true
	}
	return nil
}
