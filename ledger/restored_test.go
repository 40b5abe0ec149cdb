package ledger_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// people is a store in a folder, with a ledger of some lines. Its marks may be in another folder.
type people struct {
	folder, marks string
	store         *ledger.Store
	ledger        *ledger.Ledger // stays open
}

var (
	restoredBudget = accountant.Budget{Epsilon: 2, Delta: 1e-6}
	restoredEvent  = accountant.Gaussian{NoiseMultiplier: 60}
)

func newPeople(t *testing.T, apart bool) *people {
	t.Helper()
	p := &people{folder: t.TempDir()}
	if apart {
		p.marks = t.TempDir()
	}
	p.store = ledger.DirWithMarks(p.folder, p.marks)
	var err error
	p.ledger, err = p.store.Create(t.Context(), "people", ledger.Terms{Budget: restoredBudget})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.ledger.Close() })
	p.spend(t, 3)
	return p
}

func (p *people) spend(t *testing.T, times int) {
	t.Helper()
	for range times {
		if err := p.ledger.Spend("count", restoredEvent); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *people) path(name string) string { return filepath.Join(p.folder, "people", name) }

func read(t *testing.T, path string) []byte {
	t.Helper()
	return must(os.ReadFile(path))(t)
}

// overwrite replaces the content of a file. It does not create a new file.
func overwrite(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace puts another file in the place of a file.
func replace(t *testing.T, path string, b []byte) {
	t.Helper()
	overwrite(t, path+".restored", b)
	if err := os.Rename(path+".restored", path); err != nil {
		t.Fatal(err)
	}
}

// refused checks whether a new process is refused, and whether the process with the open ledger is
// refused.
func (p *people) refused(t *testing.T, fresh, open bool) {
	t.Helper()
	l, err := p.store.Open(t.Context(), "people")
	if err == nil {
		err = l.Spend("count", restoredEvent)
		_ = l.Close()
	}
	if gone(err) != fresh {
		t.Errorf("a new process: got %v", err)
	}
	if err := p.ledger.Spend("count", restoredEvent); gone(err) != open {
		t.Errorf("a process that has the ledger open: got %v", err)
	}
}

func gone(err error) bool {
	return errors.Is(err, ledger.ErrRolledBack) || errors.Is(err, ledger.ErrDamaged) ||
		errors.Is(err, fs.ErrNotExist) // the lock is gone with its folder
}

func TestRestoredJournal(t *testing.T) {
	for _, put := range []func(*testing.T, string, []byte){overwrite, replace} {
		p := newPeople(t, false)
		old := read(t, p.path("journal"))
		p.spend(t, 2)
		put(t, p.path("journal"), old)
		p.refused(t, true, true)
	}
}

// TestRestoredFolder restores journal and mark together. Only two observers notice this: a process
// that has seen the newer lines, and a store with its marks in another folder.
func TestRestoredFolder(t *testing.T) {
	for _, put := range []func(*testing.T, string, []byte){overwrite, replace} {
		p := newPeople(t, false)
		journal, mark := read(t, p.path("journal")), read(t, p.path("mark"))
		p.spend(t, 2)
		put(t, p.path("journal"), journal)
		put(t, p.path("mark"), mark)
		p.refused(t, false, true) // a new process cannot detect it, as Dir states

		p = newPeople(t, true)
		journal = read(t, p.path("journal"))
		p.spend(t, 2)
		put(t, p.path("journal"), journal)
		p.refused(t, true, true)
	}
}

// TestRestoredAndTrimmed: the copy got other lines, and lost all old ones. Its counts are no
// smaller than before, so only the digits of trimmed lines tell. A process that has seen no other
// line goes on.
func TestRestoredAndTrimmed(t *testing.T) {
	for _, more := range []int{0, 2} {
		p := newPeople(t, false)
		journal, mark := read(t, p.path("journal")), read(t, p.path("mark"))
		p.spend(t, more)
		seen := p.ledger.Kept()
		overwrite(t, p.path("journal"), journal)
		overwrite(t, p.path("mark"), mark)
		for range 3 {
			other := opened(t, p.store)
			if err := errors.Join(other.Spend("count", restoredEvent), other.Compact()); err != nil {
				t.Fatal(err)
			}
			if err := other.Holds(*seen); gone(err) != (more > 0) {
				t.Errorf("%d lines are gone: got %v", more, err)
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
		}
		p.refused(t, false, more > 0)
	}
}

// TestRestoredAndGoneOn: the copy was continued elsewhere until it had the length of the original,
// or more.
func TestRestoredAndGoneOn(t *testing.T) {
	for i, put := range []func(*testing.T, string, []byte){overwrite, replace, overwrite, replace} {
		p := newPeople(t, true)
		copied := t.TempDir()
		if err := os.CopyFS(filepath.Join(copied, "folder"), os.DirFS(p.folder)); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(copied, "marks"), os.DirFS(p.marks)); err != nil {
			t.Fatal(err)
		}
		other := ledger.DirWithMarks(filepath.Join(copied, "folder"),
			filepath.Join(copied, "marks"))
		l := must(other.Open(t.Context(), "people"))(t)
		for range 1 + i/2 {
			if err := l.Spend("other", restoredEvent); err != nil {
				t.Fatal(err)
			}
		}
		p.spend(t, 1)
		put(t, p.path("journal"), read(t, filepath.Join(copied, "folder", "people", "journal")))
		p.refused(t, true, true)
	}
}

func TestRestoredWithoutFiles(t *testing.T) {
	for _, name := range []string{"journal", "mark"} {
		p := newPeople(t, false)
		if err := os.Remove(p.path(name)); err != nil {
			t.Fatal(err)
		}
		p.refused(t, true, true)
		_, err := p.store.Create(t.Context(), "people", ledger.Terms{Budget: restoredBudget})
		if !gone(err) && !errors.Is(err, ledger.ErrExists) {
			t.Errorf("created again without its %s: got %v, want ErrExists", name, err)
		}
		p.refused(t, true, true)
	}
	p := newPeople(t, true)
	if err := os.RemoveAll(filepath.Dir(p.path("journal"))); err != nil {
		t.Fatal(err)
	}
	p.refused(t, true, true)
}

func TestRestoredSpecialFiles(t *testing.T) {
	p := newPeople(t, false)
	if err := os.Rename(p.path("journal"), p.path("kept")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.path("journal"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Open(t.Context(), "people"); err == nil {
		t.Error("a folder is opened as a journal")
	}
	if err := p.ledger.Spend("count", restoredEvent); err == nil {
		t.Error("a reservation without a journal")
	}
}
