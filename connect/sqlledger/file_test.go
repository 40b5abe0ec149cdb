//go:build unix

package sqlledger

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestReplacedFile replaces and removes the file of an open ledger. The ledger then refuses
// reservations, even after the file has been put back.
func TestReplacedFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"replaced": func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path+".copy", text, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".copy", path)
		},
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledgers.db")
			l, err := ledger.NewStore(SQLite(path)).Create(t.Context(), "people", terms)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if _, err := l.Reserve("count", event, 1); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(path, path+".kept"); err != nil {
				t.Skip(err)
			}
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Reserve("count", event, 1); !errors.Is(err, ledger.ErrRolledBack) {
				t.Errorf("reserving in a removed file: got %v, want ledger.ErrRolledBack", err)
			}
			if err := os.Rename(path+".kept", path); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Reserve("count", event, 1); !errors.Is(err, ledger.ErrRolledBack) {
				t.Errorf("reserving after the file was put back: got %v, want an error", err)
			}
		})
	}
}

// TestReplacedLog removes or replaces the log, or its index, of an open ledger. Another process
// would not see what is written to the old one.
func TestReplacedLog(t *testing.T) {
	for _, end := range []string{"-wal", "-shm"} {
		for what, change := range map[string]func(path string) error{
			"removed": os.Remove,
			"replaced": func(path string) error {
				return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600))
			},
		} {
			path := filepath.Join(t.TempDir(), "l.db")
			l, err := ledger.NewStore(SQLite(path)).Create(t.Context(), "people", terms)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if _, err := l.Reserve("count", event, 1); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(path+end, path+".kept"); err != nil { // so that no other file gets its number
				t.Skip(err)
			}
			if err := change(path + end); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Reserve("count", event, 1); !errors.Is(err, ledger.ErrRolledBack) {
				t.Errorf("%s was %s: got %v, want ledger.ErrRolledBack", end, what, err)
			}
		}
	}
}

// TestNamesOfAFile: a file with two names is refused under both, before and after it is opened. A
// symbolic link is another way to the same lines and the same write-ahead log.
func TestNamesOfAFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "l.db"), filepath.Join(dir, "link")
	hard := filepath.Join(dir, "h.db")
	l, err := ledger.NewStore(SQLite(path)).Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	through, err := ledger.NewStore(SQLite(link)).Open(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	defer through.Close()
	for _, l := range []*ledger.Ledger{l, through} {
		if _, err := l.Reserve("count", event, 1); err != nil {
			t.Error(err)
		}
	}
	if e := through.Entries(); len(e) != 1 || e[0].Reserved != 2 {
		t.Errorf("got entries %+v, want one with 2 uses", e)
	}
	if names, err := filepath.Glob(link + "-*"); err != nil || len(names) > 0 {
		t.Errorf("a symbolic link has files of its own: %v, %v", names, err)
	}
	if err := os.Link(path, hard); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{path, hard, link} {
		for what, open := range map[string]func(*ledger.Store) (*ledger.Ledger, error){
			"open": func(s *ledger.Store) (*ledger.Ledger, error) {
				return s.Open(t.Context(), "people")
			},
			"audit": func(s *ledger.Store) (*ledger.Ledger, error) {
				return s.Audit(t.Context(), "people")
			},
		} {
			if _, err := open(ledger.NewStore(SQLite(name))); err == nil {
				t.Errorf("%s %s: no error for a file with two names", what, name)
			}
		}
	}
	if _, err := l.Reserve("count", event, 1); err == nil {
		t.Error("a ledger whose file has got a second name still reserves")
	}
	if err := os.Remove(hard); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve("count", event, 1); err != nil {
		t.Errorf("after the second name is gone: %v", err)
	}
}

// TestFilesAreTheOwners: the files of a new database can be read by their owner only.
func TestFilesAreTheOwners(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := t.TempDir()
	l, err := ledger.NewStore(SQLite(filepath.Join(dir, "l.db"))).Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 3 {
		t.Fatalf("got the files %v, %v, want a database, its log and its index", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v: %v, %v, want the mode 0600", f, info.Mode(), err)
		}
	}
}

// TestReplacedWhileWriting replaces the file between the ledger's read and its answer.
func TestReplacedWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledgers.db")
	b := SQLite(path)
	j, err := b.Journal(t.Context(), "people", ledger.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	text := []byte(`{"line":1}`)
	line := ledger.JournalLine{Position: ledger.Position{Line: 1,
		Hash: ledger.ChainHash("", text)}, Text: text}
	err = j.Append(t.Context(), ledger.Position{}, []ledger.JournalLine{line})
	if !errors.Is(err, ledger.ErrRolledBack) {
		t.Errorf("appending to a replaced file: got %v, want ledger.ErrRolledBack", err)
	}
}

// TestMachinesWithOtherClocks uses machines with different clocks. The reservations of each count
// for all, and a machine whose clock is behind finds no more budget in a window than the others.
func TestMachinesWithOtherClocks(t *testing.T) {
	eachDatabase(t, func(t *testing.T, place string) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		two, err := accountant.Epsilon(accountant.Repeated{Event: event, Count: 2}, 1e-6,
			accountant.AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		limited := terms
		limited.Limits = []ledger.Limit{{Epsilon: 1.01 * two.Upper, Window: 24 * time.Hour}}
		machine := func(apart time.Duration) ledger.Option {
			return ledger.WithClock(func() time.Time { return now.Add(apart) })
		}
		a, err := ledger.NewStore(mustOpen(t, place)).Create(t.Context(), "people", limited, machine(0))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		behind, err := ledger.NewStore(mustOpen(t, place)).Open(t.Context(), "people",
			machine(-40*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		defer behind.Close()
		for i, step := range []struct {
			on   *ledger.Ledger
			wait time.Duration
			want bool
		}{{a, 0, true}, {behind, time.Hour, true}, {a, time.Hour, false}, {behind, time.Hour, false},
			{behind, 30 * time.Hour, false}, {a, 0, true}, {behind, 0, true}, {behind, 0, false}} {
			now = now.Add(step.wait)
			if err := step.on.Spend("daily", event); (err == nil) != step.want {
				t.Errorf("step %d: got unexpected result %v", i, err)
			}
		}
		for _, l := range []*ledger.Ledger{a, behind} {
			if e := l.Entries(); len(e) != 1 || e[0].Reserved != 4 {
				t.Errorf("got entries %+v, want one with 4 uses reserved", e)
			}
		}
	})
}
