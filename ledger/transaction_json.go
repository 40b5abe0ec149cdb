package ledger

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

type savedTransaction struct {
	ID     string      `json:"id"`
	Groups []int       `json:"groups,omitempty"` // indices among the ledger's parts
	Lines  []savedLine `json:"lines"`
}

type savedLine struct {
	Purpose  string          `json:"purpose"`
	Event    json.RawMessage `json:"event"`
	Reserved int             `json:"reserved"`
	Spent    int             `json:"spent"`
	Group    int             `json:"group,omitempty"`
	Part     int             `json:"part,omitempty"`
}

func (l *Ledger) saveTransactions() []savedTransaction {
	var out []savedTransaction
	for _, t := range l.transactions {
		s := savedTransaction{ID: t.id, Groups: t.groups}
		for _, p := range t.lines {
			s.Lines = append(s.Lines, savedLine{p.line.Purpose, json.RawMessage(p.key), p.line.Count,
				p.spent, p.line.Group, p.line.Part})
		}
		out = append(out, s)
	}
	return out
}

// restoreTransactions reads the transactions of a ledger whose entries and parts have been read.
// Transactions only assign uses to runs; they cannot add uses.
func (l *Ledger) restoreTransactions(saved []savedTransaction) error {
	for i, s := range saved {
		t, err := l.restoreTransaction(s)
		if err != nil {
			return fmt.Errorf("ledger: transactions[%d]: %w", i, err)
		}
		if l.transaction(t.id) != nil {
			return param.New("ledger.Ledger.transactions", i, "a unique transaction ID")
		}
		l.hold(t)
	}
	return nil
}

func (l *Ledger) restoreTransaction(s savedTransaction) (*placedTransaction, error) {
	const path = "ledger.Transaction"
	if s.ID == "" || len(s.Lines) == 0 {
		return nil, param.New(path+".ID", s.ID, "an ID and at least one line")
	}
	t := &placedTransaction{ledger: l, id: s.ID, groups: s.Groups}
	for _, g := range s.Groups {
		if g < 0 || g >= len(l.groups) {
			return nil, param.New(path+".Groups", g, "the number of a group of parts")
		}
	}
	for _, line := range s.Lines {
		p, err := l.restoreLine(s, line)
		if err != nil {
			return nil, err
		}
		p.of, p.number = t, len(t.lines)
		t.lines = append(t.lines, p)
		if !p.entry.own(p.line.Count, p.spent) {
			return nil, param.New(path+".Lines", line.Purpose, "no more uses than the entry holds")
		}
	}
	return t, nil
}

// own assigns count uses of the entry to a transaction with an ID; spent of them are taken. It
// reports false if the entry does not hold them in addition to the uses of other transactions. No
// sum overflows, even for the content of a hostile file.
func (en *entry) own(count, spent int) bool {
	if count > en.reserved-en.owned || spent > en.spent-en.ownedSpent {
		return false
	}
	en.owned += count
	en.ownedSpent += spent
	return en.spent-en.ownedSpent <= en.reserved-en.owned
}

func (l *Ledger) restoreLine(s savedTransaction, line savedLine) (*placedLine, error) {
	const path = "ledger.Transaction.Lines"
	at := l
	if line.Group != 0 {
		if line.Group < 0 || line.Group > len(s.Groups) {
			return nil, param.New(path, line.Group, "the number of a group")
		}
		parts := l.groups[s.Groups[line.Group-1]].children
		if line.Part < 0 || line.Part >= len(parts) {
			return nil, param.New(path, line.Part, "a part of the group")
		}
		at = parts[line.Part]
	}
	d, err := l.shared.events.decode(line.Event)
	if err != nil {
		return nil, err
	}
	en := at.index[line.Purpose+"\x00"+d.key]
	if en == nil || line.Reserved < 1 || line.Spent < 0 || line.Spent > line.Reserved {
		return nil, param.New(path, line.Purpose, "a line that the ledger's entries hold")
	}
	return &placedLine{key: d.key, entry: en, ledger: at, spent: line.Spent, identified: true,
		line: Line{
			Purpose: en.purpose, Event: en.event, Count: line.Reserved, Group: line.Group,
			Part: line.Part}}, nil
}
