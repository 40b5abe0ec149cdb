package ledger_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// skipped is what one process does to a ledger while others do not read it.
var skipped = map[string]func(l *ledger.Ledger) error{
	"nothing": func(*ledger.Ledger) error { return nil },
	"a use": func(l *ledger.Ledger) error {
		r, err := l.Resume("count", small)
		return errors.Join(err, r.Spend())
	},
	"a use of a transaction": func(l *ledger.Ledger) error {
		r, err := l.ReserveAll(ofRun)
		return errors.Join(err, r[0].Spend(), r[2].Spend())
	},
	"classes of noise": func(l *ledger.Ledger) error {
		r, err := l.ReserveAll(ofRun)
		if err == nil {
			r[0].Note(ledger.RealNoise)
			r[1].Note(ledger.ExactNoise)
			r[2].Note(ledger.RealNoise)
		}
		return err
	},
	"a mark": func(l *ledger.Ledger) error { l.MarkNotPrivate("a test"); return nil },
	"a mark of a part": func(l *ledger.Ledger) error {
		l.Children()[0].Parts[1].MarkNotPrivate("a test")
		return nil
	},
	"a release": func(l *ledger.Ledger) error {
		return l.LedTo(ledger.Release{Transaction: "run of a plan"})
	},
	"reservations that are late": func(l *ledger.Ledger) error {
		part := l.Children()[0].Parts[0]
		_, err := l.Reserve("other", small, 2)
		return errors.Join(l.Spend("first", small), err, l.Spend("second", small),
			part.Spend("in a part", small))
	},
	"parts": func(l *ledger.Ledger) error {
		parts, err := l.Disjoint(ledger.Parts{Purpose: "further", N: 2, Fixed: true})
		return errors.Join(err, parts[1].Spend("in a part", small))
	},
	"a transaction": func(l *ledger.Ledger) error {
		_, err := l.ReserveAll(ledger.Transaction{ID: "another run", Lines: ofRun.Lines,
			Groups: ofRun.Groups})
		return err
	},
}

var (
	small = accountant.Pure{Epsilon: 0.125}
	ofRun = ledger.Transaction{ID: "run of a plan", Groups: []ledger.Parts{{Purpose: "parts", N: 2}},
		Lines: []ledger.Line{{Purpose: "count", Event: small, Count: 3},
			{Purpose: "count", Event: small, Count: 2, Group: 1},
			{Purpose: "count", Event: small, Count: 2, Group: 1, Part: 1}}}
)

// TestHandlesThatSkipLines: handles that find a snapshot in the place of lines that they have not
// read state and hold all that the lines said, as does one that is opened only then.
func TestHandlesThatSkipLines(t *testing.T) {
	for where, s := range map[string]*ledger.Store{"a folder": ledger.Dir(t.TempDir()),
		"memory": ledger.Memory()} {
		number := 0
		for what, do := range skipped {
			number++
			name := "people-" + string(rune('a'+number))
			l, err := s.Create(t.Context(), name, ledger.Terms{Budget: accountant.Budget{Epsilon: 64},
				Unit: "user"})
			check(t, err)
			mine, err := l.Reserve("count", small, 4)
			check(t, err)
			_, err = l.ReserveAll(ofRun)
			check(t, err)
			_, err = l.Disjoint(ledger.Parts{Purpose: "opened", N: 2})
			check(t, err)
			handles := map[string]*ledger.Ledger{}
			open := func(how string, opened *ledger.Ledger, err error) {
				check(t, err)
				handles[how] = opened
			}
			writer, err := s.Open(t.Context(), name)
			open("a writer", writer, err)
			reader, err := s.Audit(t.Context(), name)
			open("a reader", reader, err)
			check(t, do(l))
			want := stateOf(t, l)
			check(t, l.Compact())
			late, err := s.Open(t.Context(), name)
			open("a late writer", late, err)
			for how, h := range handles {
				if got := stateOf(t, h); got != want {
					t.Errorf("%s in %s: %s holds\n%s, want\n%s", what, where, how, got, want)
				}
			}
			left := mine.Remaining()
			if what == "a use" {
				left--
			}
			r, err := late.Resume("count", small)
			check(t, err)
			if got := r.Remaining(); got != left {
				t.Errorf("%s in %s: %d uses are left, want %d", what, where, got, left)
			}
			r, err = writer.Resume("count", small)
			check(t, err)
			for range left {
				check(t, r.Spend())
			}
			if err := r.Spend(); !errors.Is(err, ledger.ErrReservationExhausted) {
				t.Errorf("%s in %s: a use too many: %v", what, where, err)
			}
			for _, h := range handles {
				check(t, h.Close())
			}
			check(t, l.Close())
		}
	}
}

// stateOf returns all that a handle states, without the position in the journal.
func stateOf(t *testing.T, l *ledger.Ledger) string {
	t.Helper()
	g := l.Guarantee()
	g.Kept = nil
	text, err := json.MarshalIndent(struct {
		Ledger    *ledger.Ledger
		Guarantee ledger.Guarantee
		Printed   string
		Releases  []ledger.Release
		Private   string
	}{l, g, g.String(), l.Releases(), l.NotPrivate()}, "", " ")
	check(t, err)
	return string(text)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
