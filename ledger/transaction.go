package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// A Transaction is everything that one run reserves. A ledger reserves all of it or nothing.
//
// A ledger reserves a transaction with an ID only once. An interrupted run requests its transaction
// again and gets the remaining uses. Callers choose IDs at random.
type Transaction struct {
	ID     string
	Groups []Parts
	Lines  []Line
}

// Parts are N disjoint parts of the records, as in [Ledger.Disjoint]: each gets a child ledger.
type Parts struct {
	Purpose string `json:"purpose"`
	N       int    `json:"n"`
	// Fixed says that the part of a record is a function of the record and of public values alone,
	// such as its class. It is false if anything released about the records decides the parts, such
	// as noisy centres. See the event [Disjoint].
	Fixed bool `json:"fixed,omitempty"`
	// MovesCovered says that the multipliers of every event of a part also cover a record that joins
	// or leaves the part: this moves the release by no more than replacing a record does. It is true
	// of clipped sums and of counts, but not of sums of values in [10, 11]. ReplaceOne requires it. An
	// event whose multipliers differ is reserved as Disjoint{Parts: {e}, Moving: {m}}, where m is the
	// event with multipliers for joining and leaving.
	MovesCovered bool `json:"moves_covered,omitempty"`
}

func (p Parts) check(path string, r accountant.Relation) error {
	var k param.Checker
	k.Add(checkPurpose(path+"Purpose", p.Purpose))
	k.OK(p.N > 0 && p.N <= maxCount, path+"N", p.N, "a positive number of parts")
	k.OK(r != accountant.ReplaceOne || p.MovesCovered, path+"MovesCovered", p.MovesCovered,
		"true under replace-one, if no release moves further when a record joins or leaves its part "+
			"than when one is replaced")
	return k.Err()
}

// text describes the parts for an auditor.
func (p Parts) text() string {
	text := fmt.Sprintf("%s: %d disjoint parts", p.Purpose, p.N)
	if p.Fixed {
		text += ", declared fixed: nothing released decides the part of a record"
	} else {
		text += "; what was released before may decide the part of a record"
	}
	if p.MovesCovered {
		text += "; declared: no release moves further when a record joins or leaves its part than " +
			"when one is replaced"
	}
	return text
}

// A Line is Count uses of an event.
type Line struct {
	Purpose string
	Event   accountant.Event
	Count   int
	// Taken is the number of uses known to be taken, for example from a checkpoint. The ledger
	// counts at least this many uses as taken.
	Taken int
	// Group is 0 for a line of the ledger itself. Otherwise it is 1 plus the index of a group of
	// the transaction, and Part is the number of a part of this group.
	Group, Part int
}

// placedTransaction is a transaction that a ledger holds.
type placedTransaction struct {
	ledger *Ledger
	id     string
	groups []int // indices of the ledger's groups, one for each group of the transaction
	lines  []*placedLine
}

// placedLine is a line with the entry that counts it. Several lines can share an entry.
type placedLine struct {
	line   Line // with the ledger's own copy of the event
	key    string
	entry  *entry
	ledger *Ledger
	of     *placedTransaction
	number int // index among the lines of its transaction
	spent  int
	ahead  int // how many of spent, in a journal, are not handed out yet

	identified bool // the transaction has an ID
}

// ReserveAll reserves all lines of a transaction permanently and returns one reservation per line.
// If the lines do not fit in the budget together with everything already reserved, it reserves
// nothing. If the ledger already holds a transaction with this ID, ReserveAll returns the remaining
// uses.
//
// Errors: ErrBudgetExceeded (nothing was set aside), ErrUnsupported, the policy's error;
// *param.Error for invalid lines, for lines that differ from the lines reserved under the same ID,
// and for a ledger that would hold more entries, parts or different events than a guarantee that is
// read may have.
func (l *Ledger) ReserveAll(t Transaction) ([]*Reservation, error) {
	return l.ReserveAllContext(context.Background(), t)
}

// ReserveAllContext is ReserveAll with a context. If the context ends before the transaction is
// reserved, ReserveAllContext returns the context's error and has reserved nothing. Other callers
// can use the ledger while the transaction is priced. They wait while its events are brought into
// the form that is priced, and while limits are priced.
func (l *Ledger) ReserveAllContext(ctx context.Context, t Transaction) ([]*Reservation, error) {
	l = l.original()
	lines, err := t.placed(l.Relation())
	if err != nil {
		return nil, param.Refuse(err)
	}
	a, q := asking{ctx: ctx, ledger: l}, quote{ctx: ctx, left: maxQuotes}
	for {
		out, err := l.reserveAll(t, lines, &a, &q)
		if !errors.Is(err, errUnpriced) {
			return out, err
		}
		q.price()
	}
}

func (l *Ledger) reserveAll(t Transaction, lines []*placedLine, a *asking,
	q *quote) (out []*Reservation, err error) {
	if err := l.shared.reserve.wait(a.ctx); err != nil {
		return nil, param.Refuse(err)
	}
	defer l.shared.reserve.Unlock()
	var held *placedTransaction
	requests := make([]Request, len(lines))
	for i, p := range lines {
		requests[i] = Request{p.line.Purpose, p.line.Event, p.line.Count, l.Relation()}
	}
	all := t.uses(lines)
	err = l.shared.commit(operation{
		decide: func() error {
			if held = l.find(t.ID); held != nil {
				return l.resumable(held, t, lines)
			}
			if err := l.allowAll(t, lines, q); err != nil {
				return err
			}
			if err := a.ask(all, lines[0].line.Purpose, requests...); err != nil {
				return err
			}
			return a.ctx.Err()
		},
		lines: func() []*change {
			if held != nil {
				return held.missing(lines)
			}
			c := t.change(lines, l.Relation())
			return []*change{{At: l.path(), ApprovedBy: a.names, Transaction: c}}
		},
		do: func() {
			if held != nil {
				out = held.resume(lines)
				return
			}
			out = l.setAllAside(t, lines)
		},
		uses: func(purpose string) accountant.Event {
			if held != nil {
				return nil // the uses of held were counted when they were set aside
			}
			return all(purpose)
		},
	})
	return out, err
}

// find is like transaction, for callers that do not hold the state lock.
func (l *Ledger) find(id string) *placedTransaction {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	return l.transaction(id)
}

// placed checks the lines and takes copies of their events.
func (t Transaction) placed(r accountant.Relation) ([]*placedLine, error) {
	var k param.Checker
	k.Add(t.check(r))
	var lines []*placedLine
	for _, line := range t.Lines {
		if line.Event == nil {
			continue // see check
		}
		own, key, err := accountant.Own(line.Event)
		if err != nil {
			k.Add(err)
			continue
		}
		line.Event = own
		lines = append(lines, &placedLine{line: line, key: key})
	}
	return lines, k.Err()
}

// check returns an error for invalid lines.
func (t Transaction) check(r accountant.Relation) error {
	var k param.Checker
	const path = "ledger.Transaction"
	k.OK(len(t.Lines) > 0, path+".Lines", len(t.Lines), "at least one line")
	for i, g := range t.Groups {
		k.Add(g.check(fmt.Sprintf("%s.Groups[%d].", path, i), r))
	}
	for i := range t.Lines {
		k.Add(t.checkLine(i))
	}
	return k.Err()
}

func (t Transaction) checkLine(i int) error {
	var k param.Checker
	line := t.Lines[i]
	wrong := func(ok bool, field string, value any, want string) {
		if !ok {
			k.OK(false, fmt.Sprintf("ledger.Transaction.Lines[%d].%s", i, field), value, want)
		}
	}
	wrong(line.Count > 0 && line.Count <= maxCount, "Count", line.Count,
		"a positive integer of at most math.MaxInt/4")
	wrong(line.Taken >= 0 && line.Taken <= line.Count, "Taken", line.Taken,
		"a number of uses from 0 to Count")
	wrong(line.Group >= 0 && line.Group <= len(t.Groups), "Group", line.Group,
		"0, or the number of a group")
	if line.Group > 0 && line.Group <= len(t.Groups) {
		n := t.Groups[line.Group-1].N
		wrong(line.Part >= 0 && line.Part < n, "Part", line.Part, "a part of the group")
	}
	wrong(line.Event != nil, "Event", nil, "an event")
	k.Add(checkPurpose("ledger.Transaction.Lines.Purpose", line.Purpose))
	return k.Err()
}

// transaction returns the transaction that the ledger holds under an ID, and nil for the ID "". The
// caller holds the state lock.
func (l *Ledger) transaction(id string) *placedTransaction {
	if id == "" {
		return nil
	}
	return l.named[id]
}

// hold stores a transaction with an ID; the caller holds the state lock.
func (l *Ledger) hold(t *placedTransaction) {
	if l.named == nil {
		l.named = map[string]*placedTransaction{}
	}
	l.transactions = append(l.transactions, t)
	l.named[t.id] = t
}

// resumable returns an error unless the transaction equals the one reserved under its ID.
func (l *Ledger) resumable(held *placedTransaction, t Transaction, lines []*placedLine) error {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	if !held.same(t, lines, l) {
		return param.New("ledger.Transaction.ID", t.ID, "the lines that were reserved under this ID")
	}
	return nil
}

// missing returns the journal lines for uses that are known to be taken but not yet counted. The
// caller holds the state lock.
func (held *placedTransaction) missing(lines []*placedLine) (out []*change) {
	for i, p := range held.lines {
		if n := lines[i].line.Taken - p.spent; n > 0 {
			out = append(out, p.claimed(n))
		}
	}
	return out
}

// resume returns the remaining uses; the caller holds the state lock.
func (held *placedTransaction) resume(lines []*placedLine) (out []*Reservation) {
	for i, p := range held.lines {
		taken := lines[i].line.Taken
		p.take(taken - p.spent)
		p.ahead = min(p.ahead, p.spent-taken) // uses counted as taken elsewhere are not handed out
		out = append(out, p.reservation())
	}
	return out
}

// take counts n uses as taken; the caller holds the state lock.
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
	return &Reservation{ledger: p.ledger, entry: p.entry, remaining: p.line.Count - p.spent + p.ahead,
		line: p}
}

// same reports whether a transaction equals the one held under its ID.
func (held *placedTransaction) same(t Transaction, lines []*placedLine, l *Ledger) bool {
	if len(held.lines) != len(lines) || len(held.groups) != len(t.Groups) {
		return false
	}
	for i, g := range t.Groups {
		if l.groups[held.groups[i]].Parts != g {
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

// countable returns an error for lines that would overflow an entry. It adds up the uses already
// held and all lines that share the entry.
func (l *Ledger) countable(lines []*placedLine) error {
	type place struct {
		group, part  int
		purpose, key string
	}
	total := map[place]int{}
	for _, p := range lines {
		at := place{p.line.Group, p.line.Part, p.line.Purpose, p.key}
		if _, ok := total[at]; !ok {
			total[at] = l.reservedOf(p)
		}
		if p.line.Count > maxCount-total[at] {
			return param.New("ledger.Line.Count", p.line.Count, "at most math.MaxInt/4 uses in total")
		}
		total[at] += p.line.Count
	}
	return nil
}

// reservedOf returns the number of uses of a line's event that the ledger itself holds for the same
// purpose.
func (l *Ledger) reservedOf(p *placedLine) int {
	if en := l.index[p.line.Purpose+"\x00"+p.key]; en != nil && p.line.Group == 0 {
		return en.reserved
	}
	return 0
}

// event returns the whole transaction as one event, in the form that Ledger.event returns after the
// transaction is set aside.
func (t Transaction) event(lines []*placedLine) accountant.Event {
	all := accountant.Composed{}
	parts := make([][]accountant.Composed, len(t.Groups))
	for i, g := range t.Groups {
		parts[i] = make([]accountant.Composed, g.N)
	}
	for _, p := range lines {
		e := accountant.Repeated{Event: p.line.Event, Count: p.line.Count}
		if p.line.Group == 0 {
			all.Events = append(all.Events, e)
			continue
		}
		part := &parts[p.line.Group-1][p.line.Part]
		part.Events = append(part.Events, e)
	}
	for i, group := range parts {
		d := accountant.Disjoint{Fixed: t.Groups[i].Fixed}
		for _, part := range group {
			d.Parts = append(d.Parts, part)
		}
		all.Events = append(all.Events, d)
	}
	return all
}

// setAllAside opens the groups' child ledgers and adds every line; the caller holds both locks.
func (l *Ledger) setAllAside(t Transaction, lines []*placedLine) []*Reservation {
	held := &placedTransaction{ledger: l, id: t.ID}
	for _, g := range t.Groups {
		held.groups = append(held.groups, len(l.groups))
		l.openGroup(g)
	}
	var out []*Reservation
	for i, p := range lines {
		p.ledger, p.of, p.number = l, held, i
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
	for _, p := range held.lines { // after all are reserved, so that no line makes another one late
		p.take(p.line.Taken)
		out = append(out, p.reservation())
	}
	if t.ID != "" {
		l.hold(held)
	}
	return out
}

// change returns the transaction as a line of a journal.
func (t Transaction) change(lines []*placedLine, r accountant.Relation) *changeTransaction {
	c := &changeTransaction{Relation: r, ID: t.ID}
	for _, g := range t.Groups {
		c.Groups = append(c.Groups, changeDisjoint(g))
	}
	for _, p := range lines {
		c.Lines = append(c.Lines, transactionLine{p.line.Purpose, json.RawMessage(p.key), p.line.Count,
			p.line.Taken, p.line.Group, p.line.Part})
	}
	return c
}
