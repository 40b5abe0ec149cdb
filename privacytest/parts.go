package privacytest

import (
	"slices"

	"github.com/seed7ba64551/privgen/ledger"
)

// partUses finds disjoint parts whose inputs differ. The price of parts covers an added record that
// is in one of them, or a replaced record that moves from one to another. It does not cover a
// record that moves others, as it does if the rank of a record decides its part.
type partUses struct {
	taken  map[*ledger.Ledger]int              // uses of each part
	latest []partOf                            // of the latest use, by level of groups
	open   int                                 // uses without a release so far
	step   uint64                              // of the latest release
	lost   bool                                // uses of several parts were open at once
	differ map[*ledger.Ledger][]*ledger.Ledger // by group
}

// A partOf is a part of a group of disjoint parts, which is known by its first part.
type partOf struct{ group, part *ledger.Ledger }

// spend is called after every reservation, and after every use, of the ledger.
func (p *partUses) spend(l *ledger.Ledger, reserved bool) {
	if p.taken == nil {
		p.taken = map[*ledger.Ledger]int{}
		p.differ = map[*ledger.Ledger][]*ledger.Ledger{}
	}
	before := p.latest
	p.latest = nil
	p.count(l)
	if reserved {
		p.latest = before
		return
	}
	p.lost = p.lost || p.open > 0 && !slices.Equal(before, p.latest)
	p.open, p.step = p.open+1, 0
}

// count returns the number of uses of a ledger and its parts, and notes the parts that have more
// than before.
func (p *partUses) count(l *ledger.Ledger) (n int) {
	for _, e := range l.Entries() {
		n += e.Spent
	}
	for _, g := range l.Children() {
		for _, part := range g.Parts {
			uses := p.count(part)
			if uses > p.taken[part] {
				p.taken[part] = uses
				p.latest = append(p.latest, partOf{g.Parts[0], part})
			}
			n += uses
		}
	}
	return n
}

// several is called for every release. It reports whether the inputs of more parts have differed
// than one changed record explains.
func (p *partUses) several(step uint64, differs, addition bool) bool {
	if step != p.step { // one use can have several releases
		p.open, p.step = p.open-1, step
	}
	if p.lost || !differs {
		return false
	}
	most := 2
	if addition {
		most = 1
	}
	for _, at := range p.latest {
		if !slices.Contains(p.differ[at.group], at.part) {
			p.differ[at.group] = append(p.differ[at.group], at.part)
		}
		if len(p.differ[at.group]) > most {
			return true
		}
	}
	return false
}
