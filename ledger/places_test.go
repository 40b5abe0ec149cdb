package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// placed returns new ledgers, in memory and on a store, each with a part and a part of that part.
func placed(t *testing.T, opts ...ledger.Option) map[string][]*ledger.Ledger {
	t.Helper()
	b := accountant.Budget{Epsilon: 64}
	kept, err := ledger.Memory().Create(t.Context(), "people", ledger.Terms{Budget: b}, opts...)
	check(t, err)
	list := map[string][]*ledger.Ledger{}
	for where, l := range map[string]*ledger.Ledger{"in memory": ledger.New(b, opts...),
		"on a store": kept} {
		parts, err := l.Disjoint(ledger.Parts{Purpose: "parts", N: 2})
		check(t, err)
		inner, err := parts[1].Disjoint(ledger.Parts{Purpose: "inner", N: 2})
		check(t, err)
		list[where] = []*ledger.Ledger{l, parts[1], inner[0]}
	}
	return list
}

// spending is every way to take a use, each of one more purpose.
var spending = map[string]func(l *ledger.Ledger) error{
	"Spend": func(l *ledger.Ledger) error { return l.Spend("taken", small) },
	"a reservation": func(l *ledger.Ledger) error {
		r, err := l.Reserve("taken", small, 2)
		return errors.Join(err, r.Spend())
	},
	"what was left": func(l *ledger.Ledger) error {
		_, err := l.Reserve("taken", small, 2)
		r, late := l.Resume("taken", small)
		return errors.Join(err, late, r.Spend())
	},
	"a transaction": func(l *ledger.Ledger) error {
		r, err := l.ReserveAll(ledger.Transaction{Lines: ofRun.Lines[:1]})
		return errors.Join(err, r[0].Spend())
	},
	"a transaction with an ID": func(l *ledger.Ledger) error {
		r, err := l.ReserveAll(ofRun)
		return errors.Join(err, r[1].Spend())
	},
	"a line that is taken": func(l *ledger.Ledger) error {
		t := ledger.Transaction{ID: "taken", Lines: slices.Clone(ofRun.Lines), Groups: ofRun.Groups}
		t.Lines[2].Taken = 1
		_, err := l.ReserveAll(t)
		return err
	},
}

// TestUsesAnywhereMakeReservationsLate: what is reserved after any use, in the ledger or in a part,
// is marked, wherever it is reserved; and so is the guarantee.
func TestUsesAnywhereMakeReservationsLate(t *testing.T) {
	for what, spend := range spending {
		for from := range 3 {
			for to := range 3 {
				for where, l := range placed(t) {
					name := fmt.Sprintf("%s of level %d, then a reservation of level %d, %s", what, from, to, where)
					_, err := l[to].Reserve("early", small, 1)
					check(t, err)
					check(t, spend(l[from]))
					_, err = l[to].Reserve("late", small, 1)
					check(t, err)
					for _, e := range l[to].Entries() {
						if want := e.Purpose == "late"; e.Late != want && e.Purpose[0] != 't' {
							t.Errorf("%s: %q is late: %v, want %v", name, e.Purpose, e.Late, want)
						}
					}
					g := l[0].Guarantee().String()
					if !strings.Contains(g, "late *\n") || !strings.Contains(g, "(marked *)") ||
						strings.Contains(g, "early *\n") {
						t.Errorf("%s: the guarantee does not mark it:\n%s", name, g)
					}
				}
			}
		}
	}
}

// TestPartsAreOfTheirLedger: a mark, a class of noise, a policy and an approval count in parts as
// they do in the ledger itself.
func TestPartsAreOfTheirLedger(t *testing.T) {
	for level := range 3 {
		for where, l := range placed(t) {
			r, err := l[level].Reserve("noted", small, 1)
			check(t, err)
			r.Note(ledger.RealNoise)
			if g := l[0].Guarantee(); !slices.Equal(g.NoiseClass, []ledger.NoiseClass{ledger.RealNoise}) {
				t.Errorf("noise of level %d, %s: the guarantee states %q", level, where, g.NoiseClass)
			}
			l[level].MarkNotPrivate("a test")
			for _, o := range l {
				if o.NotPrivate() != "a test" || o.Guarantee().NotPrivate != "a test" {
					t.Errorf("a mark of level %d, %s: %q", level, where, o.NotPrivate())
				}
			}
		}
		never := errors.New("never")
		asked := ledger.WithPolicy(func(r ledger.Request) error {
			if strings.HasPrefix(r.Purpose, "no ") {
				return never
			}
			return nil
		})
		for where, l := range placed(t, asked) {
			_, err := l[level].Reserve("no reservation", small, 1)
			_, all := l[level].ReserveAll(ledger.Transaction{Lines: []ledger.Line{
				{Purpose: "allowed", Event: small, Count: 1}, {Purpose: "no line", Event: small, Count: 1}}})
			for _, err := range []error{err, l[level].Spend("no use", small), all} {
				if !errors.Is(err, never) {
					t.Errorf("level %d, %s: the policy was not asked: %v", level, where, err)
				}
			}
			if n := len(l[level].Entries()); n > 0 {
				t.Errorf("level %d, %s: %d entries after refusals", level, where, n)
			}
		}
	}
}
