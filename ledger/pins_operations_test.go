package ledger

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
)

// A pinned ledger is open through several handles, on which random operations are performed.
type pinned struct {
	t       *testing.T
	rng     *rand.Rand
	store   *Store
	handles []*Ledger
	held    []*Reservation
	kept    []Kept
	now     time.Time
	said    []string
	most    int // of the different events
}

func (p *pinned) say(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " + ")
	p.said = append(p.said, masked(text))
}

func (p *pinned) options() []Option {
	return []Option{WithClock(func() time.Time { return p.now }),
		WithApproval(func(r Request) ([]string, error) {
			p.say("    asked about %s", r.Purpose)
			return []string{"bob", "ann", "bob", ""}[:p.rng.IntN(5)], nil
		}), WithPolicy(func(r Request) error {
			if r.Count > 8 {
				return fmt.Errorf("no more than 8 of %s", r.Purpose)
			}
			return nil
		})}
}

func (p *pinned) terms(seed int) Terms {
	r := accountant.Relation(seed % 2)
	terms := Terms{Name: "people", Budget: accountant.Budget{Epsilon: 1 + float64(seed%3),
		Delta: []float64{1e-6, 1e-9, 1e-6, 0}[seed/2%4], Relation: r}}
	if seed%5 == 3 && terms.Budget.Delta > 0 {
		terms.FilterOrder = 12
	}
	if seed%3 > 0 {
		terms.Limits = []Limit{{Epsilon: 0.8, Window: time.Hour}, {Purpose: "b", Epsilon: 0.5},
			{PerRelease: true, Epsilon: 0.6, Approvals: seed % 3},
			{Purpose: "a", Epsilon: 0.45, Window: 3 * time.Hour, Approvals: 1}}[seed%4:]
	}
	if seed%7 == 5 {
		terms.Unit = "user"
	}
	return terms
}

func (p *pinned) event() accountant.Event {
	pure := p.handles[0].Budget().Delta == 0
	switch k := float64(p.rng.IntN(p.most)); {
	case p.rng.IntN(24) == 0:
		return []accountant.Event{nil, accountant.Gaussian{}, accountant.ZCDP{Rho: 1e-4},
			accountant.Approximate{Epsilon: 0.01, Delta: 1e-5},
			accountant.RandomizedResponse{Noise: 0.99, Categories: 3}}[p.rng.IntN(5)]
	case pure || p.rng.IntN(4) == 0:
		return accountant.Laplace{Scale: 40 + 10*k}
	case p.rng.IntN(4) == 0 && p.handles[0].Relation() == accountant.AddOrRemoveOne:
		return accountant.SampledSum{Probability: 0.05, NoiseMultiplier: 4 + k}
	default:
		return accountant.Gaussian{NoiseMultiplier: 30 + 10*k}
	}
}

func (p *pinned) purpose() string { return []string{"a", "b", "c", "d → <&>"}[p.rng.IntN(4)] }

func (p *pinned) parts() Parts {
	g := Parts{Purpose: p.purpose(), N: p.rng.IntN(4), Fixed: p.rng.IntN(2) == 0}
	g.MovesCovered = p.rng.IntN(5) > 0
	return g
}

// transaction returns one of a few for an ID, or another one.
func (p *pinned) transaction() Transaction {
	id := p.rng.IntN(7)
	rng := p.rng
	if id > 0 && p.rng.IntN(8) > 0 {
		p.rng = rand.New(rand.NewPCG(uint64(id), 9)) // so that it has the same lines again
	}
	tx := Transaction{ID: []string{"", "one", "two", "three", "four", "five", "six"}[id]}
	for range p.rng.IntN(3) {
		tx.Groups = append(tx.Groups, Parts{Purpose: p.purpose(), N: 1 + p.rng.IntN(3),
			Fixed: p.rng.IntN(2) == 0, MovesCovered: true})
	}
	for range 1 + p.rng.IntN(3) {
		line := Line{Purpose: p.purpose(), Event: p.event(), Count: 1 + p.rng.IntN(3)}
		if g := p.rng.IntN(1 + len(tx.Groups)); g > 0 {
			line.Group, line.Part = g, p.rng.IntN(tx.Groups[g-1].N)
		}
		tx.Lines = append(tx.Lines, line)
	}
	if p.rng = rng; p.rng.IntN(3) == 0 {
		tx.Lines[0].Taken = p.rng.IntN(tx.Lines[0].Count + 2)
	}
	return tx
}

func (p *pinned) hold(list ...*Reservation) {
	for _, r := range list {
		if r != nil {
			p.held = append(p.held, r)
			p.say("    %d uses left", r.Remaining())
		}
	}
}

// at returns a handle, or one of its parts.
func (p *pinned) at() (l, root *Ledger) {
	root = p.handles[p.rng.IntN(len(p.handles))]
	for l = root; p.rng.IntN(3) == 0; {
		groups := l.Children()
		if len(groups) == 0 {
			break
		}
		parts := groups[p.rng.IntN(len(groups))].Parts
		l = parts[p.rng.IntN(len(parts))]
	}
	return l, root
}

func (p *pinned) operation(i int) {
	l, root := p.at()
	kind := p.rng.IntN(20)
	switch kind {
	case 0, 1, 2:
		what, e, n := p.purpose(), p.event(), p.rng.IntN(5)
		if p.rng.IntN(9) == 0 {
			n = 9 * n
		}
		r, err := l.Reserve(what, e, n)
		p.say("%d reserve %d × %v for %s: %v", i, n, e, what, err)
		p.hold(r)
	case 3, 4:
		what, e := p.purpose(), p.event()
		p.say("%d spend %v for %s: %v", i, e, what, l.Spend(what, e))
	case 5:
		if i > 40 && i%4 > 0 {
			return // a few groups are enough
		}
		g := p.parts()
		list, err := l.Disjoint(g)
		p.say("%d open %+v: %d, %v", i, g, len(list), err)
	case 6, 7, 8:
		tx := p.transaction()
		list, err := l.ReserveAll(tx)
		p.say("%d transaction %+v: %v", i, tx, err)
		p.hold(list...)
	case 9, 10:
		what, e := p.purpose(), p.event()
		r, err := l.Resume(what, e)
		p.say("%d resume %v for %s: %v", i, e, what, err)
		p.hold(r)
	case 11, 12:
		if len(p.held) == 0 {
			return
		}
		r := p.held[p.rng.IntN(len(p.held))]
		for range 1 + p.rng.IntN(3) {
			p.say("%d use of %v: %v", i, r.Event(), r.Spend())
		}
		r.Note([]NoiseClass{ExactNoise, RealNoise, "other"}[p.rng.IntN(3)])
		p.hold(r)
	case 13:
		list := []Transaction{p.transaction(), p.transaction()}[:1+p.rng.IntN(2)]
		p.say("%d affords %+v: %v", i, list, l.Affords(list...))
	case 14, 15:
		p.now = p.now.Add(time.Duration(p.rng.IntN(100)-10) * time.Minute)
		p.say("%d now %v", i, p.now)
	case 16:
		p.reopen(i)
	case 17:
		p.say("%d compact: %v", i, root.Compact())
	case 18:
		r := Release{Transaction: []string{"", "one", "two"}[p.rng.IntN(3)],
			Plan: strings.Repeat("ab", 32), Lines: []uint64{2, 3}[:p.rng.IntN(3)]}
		p.say("%d led to %+v: %v", i, r, root.LedTo(r))
	case 19:
		if p.rng.IntN(8) == 0 {
			root.MarkNotPrivate(fmt.Sprint("reason ", i))
		}
		text, err := root.DPAccountingScript()
		p.say("%d mark %s, script %s, %v", i, root.NotPrivate(), digestOf(text), err)
		if k := root.Kept(); k != nil && p.rng.IntN(2) == 0 {
			p.kept = append(p.kept, *k)
		}
		for _, k := range p.kept {
			p.say("    line %d is held: %v", k.Position.Line, root.Holds(k))
		}
	}
	b := root.Epsilon()
	p.say("  ε %.9g %.9g so far %.9g", b.Lower, b.Upper, root.EpsilonSoFar())
	if p.rng.IntN(6) == 0 {
		p.say("  child ε %.9g so far %.9g", l.Epsilon().Upper, l.EpsilonSoFar())
	}
}

// reopen closes a handle, or leaves it, and opens the ledger again.
func (p *pinned) reopen(i int) {
	at := p.rng.IntN(len(p.handles))
	if p.rng.IntN(2) == 0 {
		p.say("%d close: %v", i, p.handles[at].Close())
		p.held = slices.DeleteFunc(p.held, func(r *Reservation) bool { return p.rng.IntN(2) == 0 })
	}
	l, err := p.store.Open(p.t.Context(), "people", p.options()...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = l.Close() })
	p.handles[at] = l
}

// end says what everything is at the end, and checks it against a ledger that is read anew.
func (p *pinned) end() {
	audit := must[*Ledger](p.t)(p.store.Audit(p.t.Context(), "people"))
	defer audit.Close()
	for i, l := range append(p.handles, audit) {
		g := l.Guarantee()
		g.Kept.Store = "somewhere"
		text := must[[]byte](p.t)(l.MarshalJSON())
		form := must[[]byte](p.t)(json.Marshal(g))
		epsilon, delta := g.OneRow()
		p.say("handle %d: guarantee %s, as JSON %s, ledger %s, one row %.9g %.9g, releases %s, event %s",
			i, digestOf(g.String()), digestOf(string(form)), digestOf(string(text)), epsilon, delta,
			digestOf(fmt.Sprintf("%+v", l.Releases())), digestOf(fmt.Sprint(l.Event())))
		for _, e := range l.Entries() {
			p.say("    %s %v %d of %d %t %v", e.Purpose, e.Event, e.Spent, e.Reserved, e.Late, e.Notes)
		}
		var back Guarantee
		err := json.Unmarshal(form, &back)
		p.say("  read: %s %v", digestOf(fmt.Sprintf("%+v", back)), err)
		saved, err := Unmarshal(text)
		if err != nil {
			p.say("  saved: %v", err)
			continue
		}
		p.say("  saved: ε %.9g so far %.9g %s", saved.Epsilon().Upper, saved.EpsilonSoFar(),
			digestOf(saved.Guarantee().String()))
	}
	for line, err := range p.store.History(p.t.Context(), "people") {
		p.say("line %d %t %s %v", line.Line, line.Snapshot, digestOf(string(line.Text)), err)
	}
}

// TestPinsOfOperations: random operations, through several handles on one journal. Both stores
// give the same answers to every third list of them, and take turns with the others.
func TestPinsOfOperations(t *testing.T) {
	t.Parallel() // it waits for the disk
	var all []string
	for seed := range 14 {
		var first []string
		for name, store := range map[string]*Store{"memory": Memory(), "files": Dir(t.TempDir())} {
			if seed%3 > 0 && (seed%2 == 0) != (name == "files") {
				continue
			}
			p := &pinned{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 881)), store: store,
				now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), most: 2 + seed%4}
			l, err := store.Create(t.Context(), "people", p.terms(seed), p.options()...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			p.handles = []*Ledger{l}
			for range 2 {
				p.handles = append(p.handles, must[*Ledger](t)(store.Open(t.Context(), "people",
					p.options()...)))
			}
			p.say("terms %+v", p.terms(seed))
			for i := range 60 {
				p.operation(i)
			}
			p.end()
			if first == nil {
				first = p.said
			} else if !slices.Equal(first, p.said) {
				for i := range min(len(first), len(p.said)) {
					if first[i] != p.said[i] {
						t.Fatalf("seed %d: %s says %s\nand the other store %s", seed, name, p.said[i],
							first[i])
					}
				}
			}
		}
		all = append(all, first...)
	}
	comparePins(t, "pins_operations.txt", all)
}
