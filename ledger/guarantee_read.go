package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// These bounds keep the price of a guarantee that is read cheap. A transaction is refused if the
// guarantee of the ledger could not be read after it; see checkReadable.
const (
	mostReadEntries = 1 << 14  // and so different events
	mostReadValues  = 290_000  // of its entries, in its JSON
	mostReadAll     = 300_000  // in its JSON, of which the header of a file allows as many
	mostReadBytes   = 48 << 20 // of it, at most, where the header of a file has 64 MiB
	mostReadDepth   = 48       // of its events, where param.Limits allows 64 in a file

	// The running sum takes up to half a millisecond for a sample. So a text of more samples than
	// fewSamples is priced without it, unless it is as long as entries of one sample each are.
	fewSamples     = 1 << 10
	leastReadEntry = 200
)

// UnmarshalJSON reads what MarshalJSON wrote and prices the entries again. All that follows from
// the entries is computed, whatever the text says: descriptions, samplers, noise classes, the
// accountant, the exceptions and ε. If the text states a larger ε, as earlier versions may have
// published, then that ε is kept.
//
// Errors: *param.Error for a guarantee whose ε is below the cost of its entries, whose entries
// cannot be priced or are too many, or with an unknown unit or class of noise.
func (g *Guarantee) UnmarshalJSON(data []byte) error {
	if err := (param.Limits{Values: mostReadAll}).Check(data); err != nil {
		return fmt.Errorf("Guarantee: %w", err)
	}
	type plain Guarantee
	var read Guarantee
	v := struct {
		*plain
		Epsilon *jsonFloat `json:"epsilon"`
		Lower   jsonFloat  `json:"lower"`
	}{plain: (*plain)(&read)}
	var fields map[string]json.RawMessage
	if err := errors.Join(param.Decode(data, &v), param.Decode(data, &fields)); err != nil {
		return err
	}
	for _, k := range []string{"epsilon", "delta", "relation"} { // must not be read as 0
		if x, ok := fields[k]; !ok || string(x) == "null" {
			return param.New("ledger.Guarantee."+k, nil, "a value")
		}
	}
	read.Epsilon, read.Lower = float64(*v.Epsilon), float64(v.Lower)
	if err := read.checkWords(); err != nil {
		return err
	}
	if err := read.reprice(len(data)); err != nil {
		return err
	}
	*g = read
	return nil
}

// checkWords checks what does not follow from the entries.
func (g *Guarantee) checkWords() error {
	var k param.Checker
	const path = "ledger.Guarantee."
	k.OK(g.Epsilon >= 0, path+"epsilon", g.Epsilon, "a number, zero or more")
	k.OK(g.Delta >= 0 && g.Delta < 1, path+"delta", g.Delta, "a number in [0, 1)")
	k.OK(len(g.Entries) > 0 || g.Epsilon == 0 || math.IsInf(g.Epsilon, 1), path+"entries", 0,
		"the entries that cost ε")
	k.OK(len(g.Entries) <= mostReadEntries, path+"entries", len(g.Entries), "at most 16384")
	known := g.Unit != "" || len(g.Entries) == 0 // the zero value has none
	k.OK(known && checkUnit("", g.Unit) == nil, path+"unit", fmt.Sprintf("%.40q", g.Unit),
		recordUnit+" or "+userUnit)
	k.OK(g.RowsPerUnit == 0 || g.Unit == userUnit && g.RowsPerUnit > 0, path+"rows_per_unit",
		g.RowsPerUnit, "0, or a positive number of rows of a user")
	for _, c := range g.NoiseClass {
		k.OK(c == ExactNoise || c == RealNoise, path+"noise_class", fmt.Sprintf("%.40q", string(c)),
			"exact or real")
	}
	return k.Err()
}

// reprice computes what follows from the entries, which were read from a text of the given size.
func (g *Guarantee) reprice(size int) error {
	filtered := g.Accountant == engineFilter && g.Epsilon == g.Budget
	if len(g.Entries) == 0 {
		b := accountant.Budget{Delta: g.Delta}
		nothing, _ := accountant.Reduced{}.Price(context.Background(), b, 0, false)
		g.Lower, g.Accountant = 0, nothing.Engine
		g.Samplers, g.NoiseClass, g.NotCovered = nil, nil, g.exceptions(filtered)
		return nil
	}
	l := New(accountant.Budget{Epsilon: g.Budget, Delta: g.Delta, Relation: g.Relation},
		WithUnit(g.Unit))
	if err := errors.Join(l.fault, l.readEntries(g.Entries, g.Parts)); err != nil {
		return err
	}
	l.notPrivate = g.NotPrivate
	full, err := l.cached(&l.bracket, true)
	if err == nil && (full.Upper <= g.Epsilon || g.Epsilon < full.Lower) {
		l.published = l.bracket // a quicker price would change nothing
	} else if err == nil && l.addsQuickly(size) {
		l.sum = l.runningWith(l, Transaction{}, nil)
		l.improve(&l.bracket.result)
	}
	priced := l.Guarantee()
	if _, err := l.priceFull(); err != nil && !math.IsInf(g.Epsilon, 1) {
		return fmt.Errorf("ledger.Guarantee: pricing the entries: %w", err)
	}
	const ulps = 1 - 1e-9
	if math.IsInf(priced.Epsilon, 1) && !math.IsInf(g.Epsilon, 1) {
		return param.New("ledger.Guarantee.epsilon", g.Epsilon,
			"infinite, since no finite ε is known for the entries")
	}
	if g.Epsilon < priced.Lower*ulps {
		return param.New("ledger.Guarantee.epsilon", g.Epsilon,
			"at least "+accountant.FormatUpper(priced.Lower, 6)+", which the entries cost")
	}
	priced.Epsilon = max(priced.Epsilon, g.Epsilon)
	priced.RowsPerUnit, priced.Kept = g.RowsPerUnit, g.Kept
	if filtered { // the order of the filter is not written
		priced.Accountant, priced.Lower = engineFilter, 0
	}
	priced.NotCovered = priced.exceptions(filtered)
	*g = priced
	return nil
}

// addsQuickly reports whether the running sum is quick enough for a text of the given size.
func (l *Ledger) addsQuickly(size int) bool {
	n := 0
	for _, e := range l.entries {
		n += strings.Count(e.key, `"probability":`)
	}
	return n <= fewSamples || n*leastReadEntry <= size
}

// readEntries reserves the entries of a guarantee, those of parts in children as their purposes
// say.
func (l *Ledger) readEntries(entries []GuaranteeEntry, parts []Parts) error {
	r := reading{declared: map[string]Parts{}, groups: map[*Ledger]map[string]*partGroup{}}
	total := 0
	for _, p := range parts {
		if p.N < 0 || p.N > maxParts-total {
			return param.New("ledger.Guarantee.parts", p.N, "at most 32768 parts together")
		}
		total += p.N
		if _, twice := r.declared[p.Purpose]; twice {
			return param.New("ledger.Guarantee.parts", fmt.Sprintf("%.40q", p.Purpose), "different names")
		}
		r.declared[p.Purpose] = p
	}
	for i, e := range entries {
		if err := r.entry(l, e); err != nil {
			return fmt.Errorf("ledger: guarantee: entries[%d]: %w", i, err)
		}
	}
	reduced, err := accountant.Reduce(l.event(nil, nil, 0), l.Relation())
	if err != nil {
		none := cachedBound{l.version, true, accountant.Price{Bound: infinite}, err}
		l.published, l.bracket = none, none // the caller decides what has no price
		return nil
	}
	l.reduced = &reduced
	return reduced.CheckWork("ledger.Guarantee.entries")
}

type reading struct {
	declared map[string]Parts // by their whole names
	groups   map[*Ledger]map[string]*partGroup
}

func (r *reading) entry(l *Ledger, e GuaranteeEntry) error {
	at, purpose := l, e.Purpose
	for {
		p, part, rest, ok := r.cutPart(e.Purpose, len(e.Purpose)-len(purpose))
		if !ok {
			break
		}
		child, err := r.child(at, p, part)
		if err != nil {
			return err
		}
		at, purpose = child, rest
	}
	return at.restoreEntry(savedEntry{purpose, e.Event, e.Reserved, e.Spent, e.Late, e.NoiseClass,
		e.Lines})
}

// child returns the ledger of a part of a group.
func (r *reading) child(l *Ledger, p Parts, part int) (*Ledger, error) {
	if r.groups[l] == nil {
		r.groups[l] = map[string]*partGroup{}
	}
	if r.groups[l][p.Purpose] == nil {
		if err := p.check("ledger.Guarantee.parts.", l.Relation()); err != nil {
			return nil, err
		}
		r.groups[l][p.Purpose] = l.openGroup(p)
	}
	return r.groups[l][p.Purpose].children[part], nil
}

// cutPart splits a purpose that collect wrote for an entry of a part, from byte from on:
// "training, part 3 of 10: steps" is part 2 of "training", and "steps". A name that declares no
// parts is part of a purpose, which costs no less.
func (r *reading) cutPart(purpose string, from int) (p Parts, part int, rest string, ok bool) {
	for at := from; ; {
		i := strings.Index(purpose[at:], partMark)
		if i < 0 {
			return Parts{}, 0, "", false
		}
		p, named := r.declared[purpose[:at+i]]
		at += i + len(partMark)
		head, rest, ended := strings.Cut(purpose[at:], ": ")
		first, of, _ := strings.Cut(head, " of ")
		part, _ := strconv.Atoi(first)
		if !named || !ended || first != strconv.Itoa(part) || of != strconv.Itoa(p.N) || part < 1 ||
			part > p.N {
			continue
		}
		p.Purpose = purpose[from : at-len(partMark)]
		return p, part - 1, rest, true
	}
}

// checkReadable returns an error for a transaction after which the guarantee of the ledger could
// not be read: what it pays for, such as a generator, would be lost.
func (l *Ledger) checkReadable(t Transaction, lines []*placedLine) error {
	root := l.shared.root
	c := root.holdings()
	for _, p := range lines {
		c.add(len(p.line.Purpose), p.key)
	}
	root.eachPart(0, c.add)
	parts := l.shared.parts
	for _, g := range t.Groups {
		c.add(len(g.Purpose), "")
		parts += min(g.N, maxParts+1)
	}
	var k param.Checker
	const path = "ledger.Transaction"
	k.OK(c.entries <= mostReadEntries, path+".Lines", c.entries, "at most 16384 entries and groups")
	k.OK(parts <= maxParts, path+".Groups", parts, "at most 32768 parts on a ledger")
	k.OK(c.text <= mostReadValues, path+".Lines", c.text,
		"at most 290000 values in a ledger's entries")
	k.OK(c.size <= mostReadBytes, path+".Lines", c.size, "shorter purposes and events")
	k.OK(c.deepest <= mostReadDepth, path+".Lines", c.deepest, "events nested less deep")
	sum := root.runningWith(l, t, lines)
	if len(lines) > 0 && (sum == nil || sum.CheckWork(path) != nil) {
		// pricing finds the error
		all, _ := accountant.Reduce(root.event(l, t.event(lines), 1), l.Relation())
		k.Add(all.CheckWork(path + ".Lines"))
	}
	return k.Err()
}

// valuesOfEntry is the largest number of values that the guarantee's JSON has for an entry besides
// its event. A group of parts has fewer.
const valuesOfEntry = 16

// eachPart calls f for every entry of the ledger's parts, and for every group of parts with an
// empty key, with the length of its purpose after a prefix of the given length.
func (l *Ledger) eachPart(prefix int, f func(purpose int, key string)) {
	for _, g := range l.groups {
		f(prefix+len(g.Purpose), "")
		for _, c := range g.children {
			for _, e := range c.entries {
				f(prefix+len(g.Purpose)+32+len(e.purpose), e.key)
			}
			c.eachPart(prefix+len(g.Purpose)+32, f)
		}
	}
}
