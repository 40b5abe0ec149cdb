package ledgertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// ledgers tests the guarantees of a ledger on the backend while other handles of it are in use.
func ledgers(t *testing.T, s Subject) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *place)
	}{
		{"create, open, audit", testCreate},
		{"what one sets aside, all count", testShared},
		{"one budget for many", testBudget},
		{"uses are handed out once", testUses},
		{"transactions are set aside once", testTransactions},
		{"any operations, any handle", testOperations},
		{"compaction under way", testCompact},
		{"limits", testLimits},
		{"windows", testWindows},
		{"approvals", testApprovals},
		{"guarantees name their lines", testGuarantee},
		{"history", testHistory},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s.at(t)) })
	}
}

const ledgerName = "patients-2026"

var (
	budget = accountant.Budget{Epsilon: 2, Delta: 1e-6}
	event  = accountant.Gaussian{NoiseMultiplier: 40}
	steps  = accountant.PoissonSampled{Probability: 0.01,
		Event: accountant.Gaussian{NoiseMultiplier: 2}}
)

func (p *place) store(t *testing.T) *ledger.Store { return ledger.NewStore(p.backend(t)) }

// create creates the ledger.
func (p *place) create(t *testing.T, terms ledger.Terms,
	opts ...ledger.Option) *ledger.Ledger {
	t.Helper()
	if terms.Budget == (accountant.Budget{}) {
		terms.Budget = budget
	}
	l, err := p.store(t).Create(t.Context(), ledgerName, terms, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// open opens the ledger once more.
func (p *place) open(t *testing.T, opts ...ledger.Option) *ledger.Ledger {
	t.Helper()
	l, err := p.store(t).Open(t.Context(), ledgerName, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testCreate(t *testing.T, p *place) {
	s := p.store(t)
	if _, err := s.Open(t.Context(), ledgerName); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("opening a missing ledger: got %v, want ErrNotFound", err)
	}
	for _, bad := range []string{"", "../x", "A", "a/b", ".a", "a b", strings.Repeat("a", 200)} {
		if _, err := s.Create(t.Context(), bad, ledger.Terms{Budget: budget}); err == nil {
			t.Errorf("a ledger with the name %.20q was created", bad)
		}
		if _, err := s.Open(t.Context(), bad); err == nil {
			t.Errorf("a ledger with the name %.20q was opened", bad)
		}
	}
	l := p.create(t, ledger.Terms{Budget: budget, Unit: "user"})
	if l.Budget() != budget || l.Unit() != "user" || l.Name() != ledgerName {
		t.Errorf("the ledger has the budget %v, the unit %s and the name %q", l.Budget(), l.Unit(),
			l.Name())
	}
	_, err := s.Create(t.Context(), ledgerName, ledger.Terms{Budget: budget})
	if !errors.Is(err, ledger.ErrExists) {
		t.Errorf("creating the ledger again: got %v, want ErrExists", err)
	}
	audit, err := s.Audit(t.Context(), ledgerName)
	must(t, err)
	defer audit.Close()
	must(t, l.Spend("count", event))
	if _, err := audit.Reserve("count", event, 1); !errors.Is(err, ledger.ErrReadOnly) {
		t.Errorf("a reservation by an auditor: got %v, want ErrReadOnly", err)
	}
	if got := audit.Entries(); len(got) != 1 || got[0].Spent != 1 {
		t.Errorf("an auditor sees the entries %+v", got)
	}
	names, err := s.Names(t.Context())
	if err != nil || len(names) != 1 || names[0] != ledgerName {
		t.Errorf("names: got %q, %v", names, err)
	}
}

func testShared(t *testing.T, p *place) {
	a := p.create(t, ledger.Terms{})
	b := p.open(t)
	r, err := a.Reserve("count", event, 5)
	must(t, err)
	must(t, r.Spend())
	r.Note(ledger.ExactNoise)
	parts, err := b.Disjoint(ledger.Parts{Purpose: "classes", N: 3})
	must(t, err)
	must(t, parts[1].Spend("sum", event))
	b.MarkNotPrivate("a test")
	must(t, a.LedTo(ledger.Release{Plan: strings.Repeat("ab", 32),
		Artefact: strings.Repeat("cd", 32)}))
	same(t, a, b, p.open(t))
	e := a.Entries()[0]
	if e.Reserved != 5 || e.Spent != 1 || len(e.Notes) != 1 || a.NotPrivate() != "a test" {
		t.Errorf("the entry is %+v; not private because of %q", e, a.NotPrivate())
	}
	if got := b.Releases(); len(got) != 1 {
		t.Errorf("got the releases %v, want one", got)
	}
	want := ledger.New(budget)
	_, err = want.Reserve("count", event, 5)
	must(t, err)
	parts, err = want.Disjoint(ledger.Parts{Purpose: "classes", N: 3})
	must(t, err)
	must(t, parts[1].Spend("sum", event))
	if got, want := p.open(t).Epsilon(), want.Epsilon(); got != want {
		t.Errorf("ε = %v, want %v", got, want)
	}
}

// same checks that all handles have the same content.
func same(t *testing.T, all ...*ledger.Ledger) {
	t.Helper()
	var want string
	for i, l := range all {
		text, err := l.MarshalJSON()
		must(t, err)
		if i == 0 {
			want = string(text)
		}
		if string(text) != want {
			t.Errorf("handle %d has\n%s\nthe first has\n%s", i, text, want)
		}
	}
}

// testBudget makes reservations through many handles until nothing fits. Together they must get the
// same number of uses as a single ledger.
func testBudget(t *testing.T, p *place) {
	const handles = 5
	terms := ledger.Terms{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}
	p.create(t, terms)
	one := ledger.New(terms.Budget)
	most := 0
	for one.Spend("count", event) == nil {
		most++
	}
	var got atomic.Int64
	var wg sync.WaitGroup
	for range handles {
		l := p.open(t)
		wg.Go(func() {
			for {
				err := l.Spend("count", event)
				var refused *ledger.Refusal
				if errors.As(err, &refused) {
					if refused.Fits != 0 || !(refused.Asked > 1) || !(refused.Spent <= 1) {
						t.Errorf("the refusal is %+v", refused)
					}
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				got.Add(1)
			}
		})
	}
	wg.Wait()
	if got.Load() != int64(most) {
		t.Errorf("got %d reservations, want %d", got.Load(), most)
	}
	if e := p.open(t).Epsilon(); !(e.Upper <= 1) {
		t.Errorf("ε = %v, want at most 1", e)
	}
}

// testUses takes uses of one reservation through many handles. The first handle gives up its
// reservation again and again, as after a crash.
func testUses(t *testing.T, p *place) {
	const reserved = 400
	_, err := p.create(t, ledger.Terms{}).Reserve("step", steps, reserved)
	must(t, err)
	var drawn atomic.Int64
	var wg sync.WaitGroup
	for h := range 4 {
		l := p.open(t)
		wg.Go(func() {
			for {
				r, err := l.Resume("step", steps)
				for n := 0; err == nil && (h > 0 || n < 7); n++ { // the first gives up again and again
					if err = r.Spend(); err == nil {
						drawn.Add(1)
					}
				}
				if errors.Is(err, ledger.ErrReservationExhausted) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := drawn.Load(); got > reserved || got < reserved-4*(1+reserved/32) {
		t.Errorf("got %d uses of %d", got, reserved)
	}
	if e := p.open(t).Entries()[0]; e.Spent != reserved || e.Reserved != reserved {
		t.Errorf("%d of %d uses are taken", e.Spent, e.Reserved)
	}
}

func testTransactions(t *testing.T, p *place) {
	a := p.create(t, ledger.Terms{})
	b := p.open(t)
	tx := ledger.Transaction{ID: "run", Groups: []ledger.Parts{{Purpose: "classes", N: 2}},
		Lines: []ledger.Line{{Purpose: "sum", Event: event, Count: 2},
			{Purpose: "step", Event: steps, Count: 100, Group: 1, Part: 1, Taken: 3}}}
	first, err := a.ReserveAll(tx)
	must(t, err)
	must(t, first[0].Spend())
	cost := a.Epsilon()
	second, err := b.ReserveAll(tx) // a restart in another process
	must(t, err)
	if got := second[0].Remaining(); got != 1 {
		t.Errorf("%d uses are left, want 1", got)
	}
	if got := second[1].Remaining(); got != 97 {
		t.Errorf("%d steps are left, want 97", got)
	}
	if got := b.Epsilon(); got != cost {
		t.Errorf("after the same transaction again: ε = %v, want %v", got, cost)
	}
	must(t, second[0].Spend())
	if err := first[0].Spend(); !errors.Is(err, ledger.ErrReservationExhausted) {
		t.Errorf("a third use of two: got %v, want ErrReservationExhausted", err)
	}
	tx.Lines[1].Taken = 50 // a checkpoint knows that more were taken
	third, err := p.open(t).ReserveAll(tx)
	must(t, err)
	if got := third[1].Remaining(); got != 50 {
		t.Errorf("%d steps are left, want 50", got)
	}
	tx.Lines[0].Count++
	if _, err := b.ReserveAll(tx); err == nil {
		t.Error("other lines under the same ID were accepted")
	}
	same(t, a, b, p.open(t))
}

// testOperations performs random operations on random handles, and the same operations on a ledger
// in memory.
func testOperations(t *testing.T, p *place) {
	rng := rand.New(rand.NewPCG(7, 17))
	terms := ledger.Terms{Budget: accountant.Budget{Epsilon: 4, Delta: 1e-6,
		Relation: accountant.ReplaceOne}}
	handles := []*ledger.Ledger{p.create(t, terms), p.open(t), p.open(t)}
	memory := ledger.New(terms.Budget)
	refused := 0
	pick := func(l *ledger.Ledger, path []int) *ledger.Ledger {
		for _, i := range path {
			g := l.Children()
			part := g[i%len(g)].Parts
			l = part[i%len(part)]
		}
		return l
	}
	for i := range 120 {
		l := handles[rng.IntN(len(handles))]
		var path []int
		if groups := len(memory.Children()); groups > 0 && rng.IntN(3) == 0 {
			path = []int{rng.IntN(6)}
		}
		e := accountant.Gaussian{NoiseMultiplier: 50 + float64(rng.IntN(4))}
		purpose := fmt.Sprintf("purpose %d → <&>", rng.IntN(5))
		var errs [2]error
		kind, count := rng.IntN(6), 1+rng.IntN(4)
		for k, at := range []*ledger.Ledger{pick(l, path), pick(memory, path)} {
			switch kind {
			case 0, 1:
				_, errs[k] = at.Reserve(purpose, e, count)
			case 2:
				errs[k] = at.Spend(purpose, e)
			case 3:
				if i > 40 {
					continue // few groups are enough
				}
				_, errs[k] = at.Disjoint(ledger.Parts{Purpose: purpose, N: 2 + i%3})
			case 4:
				_, errs[k] = at.ReserveAll(ledger.Transaction{ID: fmt.Sprintf("run %d", i%50),
					Groups: []ledger.Parts{{Purpose: "two", N: 2}, {Purpose: "three", N: 3}}[:i%50%3],
					Lines: []ledger.Line{{Purpose: fmt.Sprint("run ", i%50), Event: event, Count: 3},
						{Purpose: "other", Event: event, Count: 2, Taken: 1, Group: i % 50 % 3,
							Part: i % 50 % 3 / 2}}})
			case 5:
				var r *ledger.Reservation
				if r, errs[k] = at.Resume(purpose, e); errs[k] == nil {
					errs[k] = r.Spend()
					r.Note(ledger.RealNoise)
				}
			}
		}
		if (errs[0] == nil) != (errs[1] == nil) {
			t.Fatalf("operation %d of kind %d: got %v, in memory %v", i, kind, errs[0], errs[1])
		}
		if errs[0] != nil {
			refused++
		}
		if got, want := l.Epsilon(), memory.Epsilon(); got != want {
			t.Fatalf("operation %d: ε = %v, want %v as in memory", i, got, want)
		}
	}
	if refused == 0 || refused > 100 {
		t.Errorf("%d operations were refused: the test shows little", refused)
	}
	fresh := p.open(t)
	same(t, append(handles, fresh)...)
	withoutLines := func(l *ledger.Ledger) []ledger.GuaranteeEntry {
		g := l.Guarantee()
		for i := range g.Entries {
			g.Entries[i].Lines, g.Entries[i].Spent = nil, 0 // a few uses are counted ahead
		}
		return g.Entries
	}
	if got, want := withoutLines(fresh), withoutLines(memory); !reflect.DeepEqual(got, want) {
		t.Errorf("the entries are\n%+v\nand in memory\n%+v", got, want)
	}
}

// testCompact compacts the ledger while other handles hold reservations and have not read the
// latest lines.
func testCompact(t *testing.T, p *place) {
	a := p.create(t, ledger.Terms{Limits: []ledger.Limit{{Epsilon: 1.9, Window: time.Hour}}})
	b, late := p.open(t), p.open(t)
	tx := ledger.Transaction{ID: "run", Groups: []ledger.Parts{{Purpose: "kinds", N: 3}},
		Lines: []ledger.Line{{Purpose: "early run", Event: event, Count: 2},
			{Purpose: "run", Event: event, Count: 5, Group: 1, Part: 2}}}
	held, err := b.ReserveAll(tx)
	must(t, err)
	loose, err := b.Reserve("loose", event, 4)
	must(t, err)
	must(t, late.Spend("early", event))
	for i := range 5 {
		must(t, a.Spend(fmt.Sprint("more ", i), event))
	}
	parts, err := a.Disjoint(ledger.Parts{Purpose: "classes", N: 2})
	must(t, err)
	must(t, parts[0].Spend("part", event))
	again, err := a.ReserveAll(tx)
	must(t, err)
	must(t, again[1].Spend())
	want := a.Epsilon()
	must(t, a.Compact())
	must(t, held[1].Spend()) // b and late must go on from the snapshot
	must(t, loose.Spend())
	if got := late.Epsilon(); got != want {
		t.Errorf("ε = %v, before compaction %v", got, want)
	}
	must(t, a.Compact())
	same(t, a, b, late, p.open(t))
	for held[1].Spend() == nil {
	}
	for loose.Spend() == nil {
	}
	taken := map[string]int{}
	l := p.open(t)
	for _, e := range append(l.Entries(), l.Children()[0].Parts[2].Entries()...) {
		taken[e.Purpose] = e.Spent
	}
	if taken["run"] != 5 || taken["loose"] != 4 || taken["early run"] != 0 {
		t.Errorf("taken uses: got %v, want 5 of run, 4 of loose and none of early run", taken)
	}
	if got := p.open(t).Epsilon(); got != want {
		t.Errorf("ε = %v, before compaction %v", got, want)
	}
}

func epsilonOf(t *testing.T, e accountant.Event) float64 {
	t.Helper()
	b, err := accountant.Epsilon(e, budget.Delta, budget.Relation)
	must(t, err)
	return b.Upper
}

func testLimits(t *testing.T, p *place) {
	one, three := epsilonOf(t, event), 1.01*epsilonOf(t, accountant.Repeated{Event: event, Count: 3})
	p.create(t, ledger.Terms{Limits: []ledger.Limit{
		{Purpose: "small", Epsilon: three}, {PerRelease: true, Epsilon: 4 * one}}})
	a, b := p.open(t), p.open(t)
	must(t, a.Spend("small", event))
	_, err := b.Reserve("small", event, 2)
	must(t, err)
	var refused *ledger.Refusal
	if err := a.Spend("small", event); !errors.As(err, &refused) ||
		!errors.Is(err, accountant.ErrBudgetExceeded) || refused.Allowed != three ||
		!(refused.Spent > three/1.02) || !strings.Contains(err.Error(), `"small"`) {
		t.Errorf("a fourth use of three: got %v", err)
	}
	parts, err := b.Disjoint(ledger.Parts{Purpose: "classes", N: 2})
	must(t, err)
	if err := parts[0].Spend("small", event); err == nil {
		t.Error("a part can exceed the limit")
	}
	must(t, a.Spend("other", event))
	big := accountant.Repeated{Event: event, Count: 30}
	if _, err := a.Reserve("other", big, 1); !errors.As(err, &refused) {
		t.Errorf("a large release: got %v, want a *ledger.Refusal", err)
	}
	_, err = a.ReserveAll(ledger.Transaction{Lines: []ledger.Line{
		{Purpose: "other", Event: event, Count: 15}, {Purpose: "another", Event: event, Count: 15}}})
	if !errors.As(err, &refused) {
		t.Errorf("a large transaction: got %v, want a *ledger.Refusal", err)
	}
}

func testWindows(t *testing.T, p *place) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := start
	clock := ledger.WithClock(func() time.Time { return now })
	two := 1.01 * epsilonOf(t, accountant.Repeated{Event: event, Count: 2})
	a := p.create(t, ledger.Terms{Limits: []ledger.Limit{
		{Epsilon: two, Window: 24 * time.Hour}}}, clock)
	b := p.open(t, clock)
	spend := func(l *ledger.Ledger, at time.Duration, want bool) {
		t.Helper()
		now = start.Add(at)
		if err := l.Spend("daily", event); (err == nil) != want {
			t.Errorf("a reservation after %v: got %v", at, err)
		}
	}
	spend(a, 0, true)
	spend(b, -48*time.Hour, true) // the clock is set back; the line does not get an earlier time
	spend(a, 2*time.Hour, false)
	spend(b, 23*time.Hour, false)
	spend(a, -48*time.Hour, false) // the clock is set back again
	spend(a, 24*time.Hour, false)  // not before the whole step has left the window
	spend(a, 24*time.Hour+30*time.Minute, true)
	spend(b, -time.Hour, true)
	must(t, a.Compact())
	spend(p.open(t, clock), 24*time.Hour+45*time.Minute, false)
	spend(p.open(t, clock), 72*time.Hour, true)
	same(t, a, b, p.open(t))
}

func testApprovals(t *testing.T, p *place) {
	one := epsilonOf(t, event)
	p.create(t, ledger.Terms{Limits: []ledger.Limit{
		{PerRelease: true, Epsilon: one, Approvals: 2}}})
	must(t, p.open(t).Spend("small", event))
	large := accountant.Repeated{Event: event, Count: 3}
	if err := p.open(t).Spend("large", large); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("the approval hook was not called: got %v, want ErrBudgetExceeded", err)
	}
	for _, c := range []struct {
		names []string
		want  bool
	}{{nil, false}, {[]string{"ann"}, false}, {[]string{"ann", "ann"}, false},
		{[]string{"ann", ""}, false}, {[]string{"bob", "ann"}, true}} {
		asked := 0
		l := p.open(t, ledger.WithApproval(func(r ledger.Request) ([]string, error) {
			asked++
			if r.Purpose != "large" {
				t.Errorf("asked about %q", r.Purpose)
			}
			return c.names, nil
		}))
		if err := l.Spend("large", large); (err == nil) != c.want || asked != 1 {
			t.Errorf("approved by %q: got %v, asked %d times", c.names, err, asked)
		}
	}
	found := false
	for line, err := range p.store(t).History(t.Context(), ledgerName) {
		must(t, err)
		found = found || strings.Contains(string(line.Text), `"approved_by":["ann","bob"]`)
	}
	if !found {
		t.Error("no line names the people who approved")
	}
}

func testGuarantee(t *testing.T, p *place) {
	a, b := p.create(t, ledger.Terms{}), p.open(t)
	must(t, a.Spend("count", event)) // line 2
	must(t, b.Spend("sum", event))
	must(t, a.Spend("count", event))
	_, err := b.ReserveAll(ledger.Transaction{Lines: []ledger.Line{
		{Purpose: "count", Event: event, Count: 1}, {Purpose: "third", Event: event, Count: 1}}})
	must(t, err)
	for i, l := range []*ledger.Ledger{a, b, p.open(t)} {
		g := l.Guarantee()
		if g.Kept == nil || g.Kept.Ledger != ledgerName || g.Kept.Position.Line != 5 ||
			g.Kept.Store == "" {
			t.Errorf("handle %d: the guarantee says it is kept in %+v", i, g.Kept)
		}
		want := []ledger.LineSpan{{First: 2, Last: 5, Number: 3}, {First: 3, Last: 3, Number: 1},
			{First: 5, Last: 5, Number: 1}}
		for k, e := range g.Entries {
			if e.Lines == nil || *e.Lines != want[k] {
				t.Errorf("handle %d: %s is in the lines %v, want %v", i, e.Purpose, e.Lines, &want[k])
			}
		}
		if text := g.String(); !strings.Contains(text, ledgerName) ||
			!strings.Contains(text, "3 lines from 2 to 5") {
			t.Errorf("the guarantee does not name its lines:\n%s", text)
		}
		must(t, l.Holds(*g.Kept))
	}
	kept := *a.Kept()
	must(t, a.Spend("count", event))
	must(t, b.Holds(kept))
	at := func(line uint64) ledger.Kept {
		return ledger.Kept{ID: kept.ID,
			Position: ledger.Position{Line: line, Hash: kept.Position.Hash}}
	}
	for name, wrong := range map[string]ledger.Kept{
		"another journal": {ID: "x", Position: kept.Position}, "a line to come": at(9),
		"another line": at(4), "no line, no name": {}} {
		if err := b.Holds(wrong); err == nil {
			t.Errorf("Holds accepts %s", name)
		}
	}
	if err := ledger.New(budget).Holds(kept); !errors.Is(err, ledger.ErrOtherLedger) {
		t.Errorf("Holds of a ledger in memory: got %v, want ErrOtherLedger", err)
	}
}

func testHistory(t *testing.T, p *place) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a := p.create(t, ledger.Terms{}, ledger.WithClock(func() time.Time { return at }))
	must(t, a.Spend("count of visits", event))
	last := ""
	n := uint64(0)
	for line, err := range p.store(t).History(t.Context(), ledgerName) {
		must(t, err)
		if n++; line.Line != n {
			t.Errorf("got line %d, want line %d", line.Line, n)
		}
		last = string(line.Text)
	}
	for _, want := range []string{`"line":2`, `"time":"2026-03-01T12:00:00Z"`, `"count of visits"`,
		`"kind":"gaussian"`, `"count":1`, `"relation":"add_or_remove_one"`} {
		if !strings.Contains(last, want) {
			t.Errorf("%s is missing in the line %s", want, last)
		}
	}
}
