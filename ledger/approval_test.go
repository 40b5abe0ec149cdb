package ledger_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestTheStrictestLimitDecides: if a request exceeds several limits, as many people must approve it
// as the strictest of them wants, wherever that one stands in the terms.
func TestTheStrictestLimitDecides(t *testing.T) {
	event := accountant.Gaussian{NoiseMultiplier: 100}
	three := ledger.Limit{Epsilon: 1e-3, PerRelease: true, Approvals: 3}
	one := ledger.Limit{Epsilon: 1e-3, PerRelease: true, Approvals: 1}
	for _, limits := range [][]ledger.Limit{{three, one}, {one, three}, {one, three, one}} {
		var people []string
		l := must(ledger.Memory().Create(t.Context(), "people", ledger.Terms{
			Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6}, Limits: limits},
			ledger.WithApproval(func(ledger.Request) ([]string, error) { return people, nil })))(t)
		for _, name := range []string{"ann", "bob", "cy"} {
			people = append(people, name)
			if err := l.Spend("use", event); (err == nil) != (len(people) == 3) {
				t.Errorf("limits %v with %d approvals: got %v", limits, len(people), err)
			}
		}
	}
}

// TestLimitsAndApprovals asks for one use through every door of a ledger, under every kind of
// limit, with every answer of the people who may approve. A limit that allows no approvals cannot
// be exceeded, whoever approves. People are asked only if their approval counts.
func TestLimitsAndApprovals(t *testing.T) {
	event := accountant.Gaussian{NoiseMultiplier: 100}
	nobody := errors.New("nobody answers")
	doors := map[string]func(l *ledger.Ledger) error{
		"Reserve": func(l *ledger.Ledger) error { _, err := l.Reserve("use", event, 1); return err },
		"Spend":   func(l *ledger.Ledger) error { return l.Spend("use", event) },
		"ReserveAll": func(l *ledger.Ledger) error {
			_, err := l.ReserveAll(ledger.Transaction{ID: "x", Lines: []ledger.Line{
				{Purpose: "use", Event: event, Count: 1}}})
			return err
		},
		"a part": func(l *ledger.Ledger) error {
			parts, err := l.Disjoint(ledger.Parts{Purpose: "parts", N: 2, MovesCovered: true})
			if err != nil {
				return err
			}
			return parts[1].Spend("use", event)
		},
		"a transaction of parts": func(l *ledger.Ledger) error {
			_, err := l.ReserveAll(ledger.Transaction{Groups: []ledger.Parts{{Purpose: "parts", N: 2,
				MovesCovered: true}}, Lines: []ledger.Line{{Purpose: "use", Event: event, Count: 1,
				Group: 1, Part: 1}}})
			return err
		},
	}
	kinds := map[string]ledger.Limit{"all": {}, "release": {PerRelease: true},
		"window": {Window: time.Hour}, "purpose": {Purpose: "use"},
		"release of a purpose": {Purpose: "use", PerRelease: true},
		"window of a purpose":  {Purpose: "use", Window: time.Hour},
		"another purpose":      {Purpose: "another"}}
	answers := []struct {
		names []string
		err   error
		hook  bool
		count int // of different people
	}{{}, {hook: true}, {err: nobody, hook: true}, {names: []string{"ann"}, hook: true, count: 1},
		{names: []string{"ann", "ann", ""}, hook: true, count: 1},
		{names: []string{"bob", "ann"}, hook: true, count: 2}}
	for door, use := range doors {
		for kind, limit := range kinds {
			for _, exceeded := range []bool{false, true} {
				for approvals := range 3 {
					for _, a := range answers {
						limit.Epsilon, limit.Approvals = 2, approvals
						if exceeded {
							limit.Epsilon = 1e-3
						}
						asked := 0
						var opts []ledger.Option
						if a.hook {
							opts = append(opts, ledger.WithApproval(func(r ledger.Request) ([]string, error) {
								asked++
								return a.names, a.err
							}))
						}
						store := ledger.Memory()
						l, err := store.Create(t.Context(), "people", ledger.Terms{Limits: []ledger.Limit{
							limit},
							Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6}}, opts...)
						if err != nil {
							t.Fatal(err)
						}
						err = use(l)
						applies := exceeded && kind != "another purpose"
						asks := applies && approvals > 0 && a.hook
						good := !applies || asks && a.err == nil && a.count >= approvals
						if (err == nil) != good || asked != 0 != asks || asked > 1 {
							t.Errorf("%s, limit %s (%v), answer %v: asked %d times, got %v", door, kind, limit, a,
								asked, err)
						}
						if !good && errors.Is(err, accountant.ErrBudgetExceeded) == asks {
							t.Errorf("%s, limit %s (%v), answer %v: got %v", door, kind, limit, a, err)
						}
						if err == nil && asks {
							named(t, store, a.names)
						}
					}
				}
			}
		}
	}
}

// named checks that the last line names the people who approved it, in order.
func named(t *testing.T, s *ledger.Store, people []string) {
	t.Helper()
	var last struct {
		By []string `json:"approved_by"`
	}
	for line, err := range s.History(t.Context(), "people") {
		if err = errors.Join(err, json.Unmarshal(line.Text, &last)); err != nil {
			t.Fatal(err)
		}
	}
	want := slices.DeleteFunc(slices.Clone(people), func(s string) bool { return s == "" })
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(last.By, want) {
		t.Errorf("approved by %q, want %q", last.By, want)
	}
}

// TestWhatLimitsCount asks for one use after another. A limit for all counts every earlier use, one
// with a window those of the last hour, one for a purpose those for it, and one per release none.
func TestWhatLimitsCount(t *testing.T) {
	event := accountant.Gaussian{NoiseMultiplier: 100}
	b := accountant.Budget{Epsilon: 3, Delta: 1e-6}
	cost := func(n int) float64 {
		e := must(accountant.Epsilon(accountant.Repeated{Event: event, Count: n}, b.Delta, b.Relation))(t)
		return e.Upper
	}
	three := (cost(3) + cost(4)) / 2 // three uses fit, and no fourth
	all := func(l *ledger.Ledger, purpose string, n int) error {
		_, err := l.ReserveAll(ledger.Transaction{Lines: []ledger.Line{
			{Purpose: purpose, Event: event, Count: n}}})
		return err
	}
	one := func(l *ledger.Ledger, purpose string, n int) error {
		_, err := l.Reserve(purpose, event, n)
		return err
	}
	for kind, c := range map[string]struct {
		limit ledger.Limit
		fit   [6]bool // of uses for a, b, a, a, two hours later a, and b
	}{
		"all":     {ledger.Limit{}, [6]bool{true, true, true, false, false, false}},
		"window":  {ledger.Limit{Window: time.Hour}, [6]bool{true, true, true, false, true, true}},
		"purpose": {ledger.Limit{Purpose: "a"}, [6]bool{true, true, true, true, false, true}},
		"window of a purpose": {ledger.Limit{Purpose: "a", Window: time.Hour},
			[6]bool{true, true, true, true, true, true}},
		"release": {ledger.Limit{PerRelease: true}, [6]bool{true, true, true, true, true, true}},
	} {
		for door, reserve := range map[string]func(*ledger.Ledger, string, int) error{"Reserve": one,
			"ReserveAll": all} {
			c.limit.Epsilon = three
			now := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
			l := must(ledger.Memory().Create(t.Context(), "people", ledger.Terms{Budget: b,
				Limits: []ledger.Limit{c.limit}}, ledger.WithClock(func() time.Time { return now })))(t)
			for i, purpose := range []string{"a", "b", "a", "a", "a", "b"} {
				if i == 4 {
					now = now.Add(2 * time.Hour)
				}
				err := reserve(l, purpose, 1)
				if (err == nil) != c.fit[i] || err != nil && !errors.Is(err, accountant.ErrBudgetExceeded) {
					t.Errorf("%s of a limit for %s: use %d: %v", door, kind, i+1, err)
				}
			}
			now = now.Add(2 * time.Hour)
			if err := reserve(l, "a", 4); !errors.Is(err, accountant.ErrBudgetExceeded) {
				t.Errorf("%s of a limit for %s: four uses at once: %v", door, kind, err)
			}
		}
	}
}
