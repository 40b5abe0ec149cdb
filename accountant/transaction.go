package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/param"
)

// A Transaction is everything that one run sets aside: all of it or nothing.
//
// A transaction with an ID is set aside once on a ledger, however often it is asked for: a run that
// was interrupted asks again and is handed what is left. IDs are chosen at random by whoever runs.
type Transaction struct {
	ID     string
	Groups []Parts
	Lines  []Line
}

// Parts are N disjoint parts of the records, as in [Ledger.Disjoint]: each gets a child ledger.
type Parts struct {
	Purpose string
	N       int
}

// A Line is Count uses of an event.
type Line struct {
	Purpose string
	Event   Event
	Count   int
	// Taken is how many of the uses are known to be gone, for example from a checkpoint. The ledger
	// never counts fewer.
	Taken int
	// Group is 0 for the ledger itself; otherwise 1 plus the index of one of the transaction's
	// groups, and Part is the number of the part.
	Group, Part int
}

// placedTransaction is a transaction that a ledger holds.
type placedTransaction struct {
	id     string
	groups []int // of the ledger, one for each of the transaction's
	lines  []*placedLine
}

// placedLine is a line with the entry that counts it. Several lines can share an entry.
type placedLine struct {
	line   Line // with the ledger's own copy of the event
	key    string
	entry  *entry
	ledger *Ledger
	spent  int

	identified bool // the transaction has an ID
}

// ReserveAll sets all lines of a transaction aside for good, if together they fit beside everything
// already set aside, and hands out one reservation a line. Nothing is set aside otherwise. Of a
// transaction that the ledger already holds, by its ID, it hands out what is left.
//
// Errors: ErrBudgetExceeded (nothing was set aside), ErrUnsupported, the policy's error;
// *param.Error for lines that make no sense, or that differ from those set aside under the same ID.
func (l *Ledger) ReserveAll(t Transaction) ([]*Reservation, error) {
	lines, err := t.placed()
	if err != nil {
		return nil, err
	}
	l.shared.reserve.Lock()
	defer l.shared.reserve.Unlock()
	if held := l.transaction(t.ID); held != nil {
		return l.resumeAll(held, t, lines)
	}
	if err := l.allowAll(t, lines); err != nil {
		return nil, err
	}
	for _, p := range lines {
		if err := l.ask(p.line.Purpose, p.key, p.line.Count); err != nil {
			return nil, err
		}
	}
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	return l.setAllAside(t, lines), nil
}

// placed checks the lines and takes copies of their events.
func (t Transaction) placed() ([]*placedLine, error) {
	var k param.Checker
	const path = "accountant.Transaction"
	k.OK(len(t.Lines) > 0, path+".Lines", len(t.Lines), "at least one line")
	for i, g := range t.Groups {
		k.OK(g.N > 0 && g.N <= maxCount, fmt.Sprintf("%s.Groups[%d].N", path, i), g.N,
			"a positive number of parts")
	}
	var lines []*placedLine
	for i, line := range t.Lines {
		at := fmt.Sprintf("%s.Lines[%d]", path, i)
		k.OK(line.Count > 0 && line.Count <= maxCount, at+".Count", line.Count, "a positive integer")
		k.OK(line.Taken >= 0 && line.Taken <= line.Count, at+".Taken", line.Taken,
			"a number of uses from 0 to Count")
		k.OK(line.Group >= 0 && line.Group <= len(t.Groups), at+".Group", line.Group,
			"0, or the number of a group")
		if line.Group > 0 && line.Group <= len(t.Groups) {
			n := t.Groups[line.Group-1].N
			k.OK(line.Part >= 0 && line.Part < n, at+".Part", line.Part, "a part of the group")
		}
		if line.Event == nil {
			k.OK(false, at+".Event", nil, "an event")
			continue
		}
		key, err := eventKey(line.Event)
		if err != nil {
			k.Add(err)
			continue
		}
		own, err := UnmarshalEvent([]byte(key))
		if err != nil {
			k.Add(err)
			continue
		}
		line.Event = own
		lines = append(lines, &placedLine{line: line, key: key})
	}
	return lines, k.Err()
}

// transaction finds what the ledger holds under an ID; "" finds nothing.
func (l *Ledger) transaction(id string) *placedTransaction {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	if id == "" {
		return nil
	}
	for _, t := range l.transactions {
		if t.id == id {
			return t
		}
	}
	return nil
}

// resumeAll hands out what is left of a transaction that was set aside before.
func (l *Ledger) resumeAll(held *placedTransaction, t Transaction,
	lines []*placedLine) ([]*Reservation, error) {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	if !held.same(t, lines, l) {
		return nil, param.New("accountant.Transaction.ID", t.ID,
			"the lines that were set aside under this ID")
	}
	var out []*Reservation
	for i, p := range held.lines {
		p.take(lines[i].line.Taken - p.spent)
		out = append(out, p.reservation())
	}
	return out, nil
}

// take counts n uses as gone; the caller holds the state lock.
func (p *placedLine) take(n int) {
	if n = min(n, p.line.Count-p.spent); n <= 0 {
		return
	}
	p.spent += n
	p.entry.spent += n
	if p.identified {
		p.entry.ownedSpent += n
	}
	p.ledger.shared.root.spending = true
}

func (p *placedLine) reservation() *Reservation {
	return &Reservation{ledger: p.ledger, entry: p.entry, remaining: p.line.Count - p.spent, line: p}
}

// same reports whether a transaction asks for what is held under its ID.
func (held *placedTransaction) same(t Transaction, lines []*placedLine, l *Ledger) bool {
	if len(held.lines) != len(lines) || len(held.groups) != len(t.Groups) {
		return false
	}
	for i, g := range t.Groups {
		there := l.groups[held.groups[i]]
		if there.purpose != g.Purpose || len(there.children) != g.N {
			return false
		}
	}
	for i, p := range held.lines {
		a, b := p.line, lines[i].line
		if p.key != lines[i].key || a.Purpose != b.Purpose || a.Count != b.Count ||
			a.Group != b.Group || a.Part != b.Part {
			return false
		}
	}
	return true
}

// allowAll asks whether all lines fit together.
func (l *Ledger) allowAll(t Transaction, lines []*placedLine) error {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	root := l.shared.root
	if root.fault != nil {
		return root.fault
	}
	if err := l.countable(lines); err != nil {
		return err
	}
	cost, err := root.bound(root.event(l, t.event(lines), 1), false)
	if err != nil {
		return err
	}
	if cost.Upper > root.budget.Epsilon {
		return fmt.Errorf("accountant: ε = %.4g of %.4g: %w", cost.Upper, root.budget.Epsilon,
			ErrBudgetExceeded)
	}
	return nil
}

// countable refuses lines that an entry could not count: what is held and all lines that share the
// entry are added up.
func (l *Ledger) countable(lines []*placedLine) error {
	type place struct {
		group, part  int
		purpose, key string
	}
	total := map[place]int{}
	for _, p := range lines {
		at := place{p.line.Group, p.line.Part, p.line.Purpose, p.key}
		if _, ok := total[at]; !ok {
			total[at] = l.held(p)
		}
		if p.line.Count > maxCount-total[at] {
			return param.New("accountant.Line.Count", p.line.Count, "fewer events in total")
		}
		total[at] += p.line.Count
	}
	return nil
}

// held is how many uses the ledger itself holds of a line's event for the same purpose.
func (l *Ledger) held(p *placedLine) int {
	if en := l.index[p.line.Purpose+"\x00"+p.key]; en != nil && p.line.Group == 0 {
		return en.reserved
	}
	return 0
}

// event is the whole transaction: what Ledger.event will price once it is set aside.
func (t Transaction) event(lines []*placedLine) Event {
	all := Composed{}
	parts := make([][]Composed, len(t.Groups))
	for i, g := range t.Groups {
		parts[i] = make([]Composed, g.N)
	}
	for _, p := range lines {
		e := Repeated{Event: p.line.Event, Count: p.line.Count}
		if p.line.Group == 0 {
			all.Events = append(all.Events, e)
			continue
		}
		part := &parts[p.line.Group-1][p.line.Part]
		part.Events = append(part.Events, e)
	}
	for _, group := range parts {
		d := Disjoint{}
		for _, part := range group {
			d.Parts = append(d.Parts, part)
		}
		all.Events = append(all.Events, d)
	}
	return all
}

// setAllAside opens the groups' child ledgers and adds every line; the caller holds both locks.
func (l *Ledger) setAllAside(t Transaction, lines []*placedLine) []*Reservation {
	held := &placedTransaction{id: t.ID}
	for _, g := range t.Groups {
		group := &partGroup{purpose: g.Purpose}
		for range g.N {
			group.children = append(group.children, l.child())
		}
		held.groups = append(held.groups, len(l.groups))
		l.groups = append(l.groups, group)
	}
	var out []*Reservation
	for _, p := range lines {
		p.ledger = l
		if g := p.line.Group; g > 0 {
			p.ledger = l.groups[held.groups[g-1]].children[p.line.Part]
		}
		id := p.line.Purpose + "\x00" + p.key
		p.entry = p.ledger.setAside(p.line.Purpose, id, p.line.Event, p.key, p.line.Count).entry
		if p.identified = t.ID != ""; p.identified {
			p.entry.owned += p.line.Count
		}
		held.lines = append(held.lines, p)
	}
	for _, p := range held.lines { // after all are set aside: none of them is late for another's sake
		p.take(p.line.Taken)
		out = append(out, p.reservation())
	}
	if t.ID != "" {
		l.transactions = append(l.transactions, held)
	}
	return out
}
