package ledger

import "slices"

// partGroup is a set of child ledgers, one for each disjoint part of the records.
type partGroup struct {
	Parts
	children []*Ledger
}

// Disjoint opens one child ledger for each of p.N disjoint parts of the records (clusters, classes,
// shards). The part of a record must be a function of the record and of values that are
// released or public when the children are opened. If parts change later, open new children, or
// reserve Repeated{Disjoint{…}} in the parent. Children share the parent's budget. A record pays
// for its own part only. Every reservation of a child is checked against the whole budget.
//
// Released values may decide the parts, so the parent counts the pointwise maximum of the
// children's curves, composed with its own releases. Parts.Fixed says that they do
// not. The parent then counts the most expensive child, which is less.
//
// Under ReplaceOne a record may move from one part to another, which joins and leaves a part.
// Parts.MovesCovered is then required.
//
// Errors: *param.Error for N below 1, and under ReplaceOne without MovesCovered; ErrReadOnly and
// the errors of the journal.
func (l *Ledger) Disjoint(p Parts) ([]*Ledger, error) {
	l = l.original()
	if err := p.check("ledger.Ledger.Disjoint.", l.Relation()); err != nil {
		return nil, err
	}
	l.shared.reserve.Lock()
	defer l.shared.reserve.Unlock()
	var g *partGroup
	err := l.shared.commit(operation{
		decide: func() error {
			l.shared.state.Lock()
			defer l.shared.state.Unlock()
			if err := l.shared.root.fault; err != nil {
				return err
			}
			if err := l.checkGroups(p); err != nil {
				return err
			}
			return l.checkReadable(Transaction{Groups: []Parts{p}}, nil)
		},
		lines: func() []*change {
			return []*change{{At: l.path(), Disjoint: (*changeDisjoint)(&p)}}
		},
		do: func() { g = l.openGroup(p) },
	})
	if err != nil {
		return nil, err
	}
	return slices.Clone(g.children), nil
}

// openGroup adds child ledgers; the caller holds the state lock.
func (l *Ledger) openGroup(p Parts) *partGroup {
	g := &partGroup{Parts: p}
	l.shared.parts += p.N
	for i := range p.N {
		g.children = append(g.children, l.child(partOf{len(l.groups), i}))
	}
	l.groups = append(l.groups, g)
	return g
}

func (l *Ledger) child(at partOf) *Ledger {
	c := &Ledger{&book{shared: l.shared, budget: l.budget, filter: l.filter, policy: l.policy,
		parent: l, place: at, index: map[string]*entry{}}}
	c.self = c
	return c
}

// PartGroup holds the child ledgers opened by one call of Disjoint.
type PartGroup struct {
	Purpose             string
	Parts               []*Ledger
	Fixed, MovesCovered bool // see the fields of type Parts
}

// Children lists the child ledgers, in order of opening.
func (l *Ledger) Children() []PartGroup {
	l = l.original()
	_ = l.shared.refresh() // on failure, answer from the state in memory
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	var out []PartGroup
	for _, g := range l.groups {
		out = append(out, PartGroup{g.Purpose, append([]*Ledger(nil), g.children...), g.Fixed,
			g.MovesCovered})
	}
	return out
}
