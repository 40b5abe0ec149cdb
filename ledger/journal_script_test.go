package ledger

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// TestScriptHoldsReservationsOfOthers: a script contains what another process has reserved, and a
// mark of another process is known.
func TestScriptHoldsReservationsOfOthers(t *testing.T) {
	j := &listed{}
	l := created(t, j)
	behind, err := OpenOn(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Spend("count", accountant.Gaussian{NoiseMultiplier: 87.5}); err != nil {
		t.Fatal(err)
	}
	if s, err := behind.DPAccountingScript(); err != nil || !strings.Contains(s, "87.5") {
		t.Errorf("the other process's reservation is missing: %v\n%s", err, s)
	}
	l.MarkNotPrivate("a test")
	if got := behind.NotPrivate(); got != "a test" {
		t.Errorf("not private: %q", got)
	}
}

// TestNoScriptOfAnUnknownTotal checks that a damaged ledger has no script, because its total is
// infinite. It has none even after its lines are mended and it is closed. A ledger with an
// impossible budget has no script either.
func TestNoScriptOfAnUnknownTotal(t *testing.T) {
	j := &listed{}
	l := created(t, j)
	behind, err := OpenOn(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve("count", journalEvent, 9); err != nil {
		t.Fatal(err)
	}
	good := append([]JournalLine(nil), j.lines...)
	j.lines[1].Text = bytes.Replace(j.lines[1].Text, []byte(`"count":9`), []byte(`"count":1`), 1)
	if s, err := behind.DPAccountingScript(); !errors.Is(err, ErrDamaged) || s != "" {
		t.Errorf("a damaged ledger: %v\n%s", err, s)
	}
	j.lines = good
	if err := behind.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := behind.DPAccountingScript(); !errors.Is(err, ErrDamaged) || s != "" {
		t.Errorf("a damaged ledger that was closed: %v\n%s", err, s)
	}
	var wrong *param.Error
	if _, err := New(accountant.Budget{Epsilon: -1}).DPAccountingScript(); !errors.As(err, &wrong) {
		t.Errorf("a budget of -1: %v", err)
	}
}
