package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestPricesFollowATrimmedJournal: an open handle that finds lines trimmed, and reads a snapshot in
// their place, publishes the price of what the snapshot holds, and has no room left that it found
// before.
func TestPricesFollowATrimmedJournal(t *testing.T) {
	small, large := accountant.Pure{Epsilon: 0.01}, accountant.Pure{Epsilon: 0.835}
	s := ledger.Dir(t.TempDir())
	l := must(s.Create(t.Context(), "people", ledger.Terms{Budget: accountant.Budget{Epsilon: 1}}))(t)
	defer l.Close()
	other := opened(t, s)
	defer other.Close()
	for range 16 {
		if err := l.Spend("count", small); err != nil {
			t.Fatal(err)
		}
	}
	before := l.Epsilon().Upper
	if err := other.Spend("large", large); err != nil {
		t.Fatal(err)
	}
	if err := other.Compact(); err != nil {
		t.Fatal(err)
	}
	if got, want := l.Epsilon().Upper, other.Epsilon().Upper; got != want || !(got > before) {
		t.Errorf("ε = %v, want %v as in the journal, above %v", got, want, before)
	}
	if err := l.Spend("count", small); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("beyond the budget: got %v, want ErrBudgetExceeded", err)
	}
}

// TestReadersFollowAReplacedJournal: handles that have read a journal to its end, and then ask for
// its guarantee only, see lines that were added after the file was trimmed, or moved back from a
// copy.
func TestReadersFollowAReplacedJournal(t *testing.T) {
	folder := t.TempDir()
	s := ledger.Dir(folder)
	l := must(s.Create(t.Context(), "people", ledger.Terms{Budget: accountant.Budget{Epsilon: 1}}))(t)
	defer l.Close()
	other := opened(t, s)
	defer other.Close()
	reader := must(s.Audit(t.Context(), "people"))(t)
	defer reader.Close()
	replace := map[string]func() error{"trimmed": other.Compact, "moved back": func() error {
		list, err := filepath.Glob(filepath.Join(folder, "*", "*journal*"))
		if err != nil || len(list) != 1 {
			return fmt.Errorf("journals %q, %v", list, err)
		}
		text, err := os.ReadFile(list[0])
		if err != nil {
			return err
		}
		copied := filepath.Join(t.TempDir(), "copy")
		return errors.Join(os.WriteFile(copied, text, 0o600), os.Rename(copied, list[0]))
	}}
	for how, f := range replace {
		if l.Guarantee().Epsilon != reader.Guarantee().Epsilon { // reads the journal to its end
			t.Error("two handles state two guarantees")
		}
		if err := f(); err != nil {
			t.Fatal(how, err)
		}
		if err := other.Spend("count", accountant.Pure{Epsilon: 0.25}); err != nil {
			t.Fatal(how, err)
		}
		want := other.Epsilon().Upper
		for what, handle := range map[string]*ledger.Ledger{"a writer": l, "a reader": reader} {
			if got := handle.Guarantee().Epsilon; got != want {
				t.Errorf("after a journal was %s, %s states ε = %v, want %v", how, what, got, want)
			}
		}
	}
}
