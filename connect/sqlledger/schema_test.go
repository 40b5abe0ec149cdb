//go:build unix

package sqlledger

import (
	"errors"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// eachDatabase runs a test on SQLite and on PostgreSQL.
func eachDatabase(t *testing.T, test func(t *testing.T, place string)) {
	t.Run("SQLite", func(t *testing.T) { test(t, sqliteSubject().Place(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, postgresSubject().Place(t)) })
}

func mustOpen(t *testing.T, place string) *Backend {
	t.Helper()
	b, err := open(place)
	if err != nil {
		t.Fatal(err)
	}
	return b.(*Backend)
}

var terms = ledger.Terms{Budget: accountant.Budget{Epsilon: 2, Delta: 1e-6}}

var event = accountant.Gaussian{NoiseMultiplier: 40}

// change executes statements directly on the database.
func change(t *testing.T, b *Backend, statements ...string) {
	t.Helper()
	db, err := b.writing.acquire(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := b.writing.release(); err != nil {
		t.Fatal(err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, place string) {
		b := mustOpen(t, place)
		before, err := ledger.NewStore(b).Create(t.Context(), "people", terms)
		if err != nil {
			t.Fatal(err)
		}
		defer before.Close()
		change(t, b, `UPDATE privgen_schema SET version = 99`)
		for _, mode := range []ledger.Mode{ledger.Read, ledger.Write, ledger.Create} {
			if _, err := b.Journal(t.Context(), "people", mode); !errors.Is(err, ErrNewer) {
				t.Errorf("mode %d: got %v, want ErrNewer", mode, err)
			}
		}
		if err := b.Migrate(t.Context()); !errors.Is(err, ErrNewer) {
			t.Errorf("Migrate: got %v, want ErrNewer", err)
		}
		if err := before.Spend("count", event); !errors.Is(err, ErrNewer) {
			t.Errorf("a ledger that was open before: got %v, want ErrNewer", err)
		}
		change(t, b, `UPDATE privgen_schema SET version = 1`)
		if err := before.Spend("count", event); err != nil {
			t.Error(err)
		}
	})
}

// TestMigration adds a version of the schema. Opening a ledger of the earlier version is an error,
// concurrent migrations take effect once, and a program of the earlier version can no longer
// reserve.
func TestMigration(t *testing.T) {
	eachDatabase(t, func(t *testing.T, place string) {
		old := mustOpen(t, place)
		l, err := ledger.NewStore(old).Create(t.Context(), "people", terms)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		later := func() *Backend {
			b := mustOpen(t, place)
			b.migrations = append(b.migrations[:1:1], `CREATE TABLE privgen_more (n integer)`)
			return b
		}
		for _, mode := range []ledger.Mode{ledger.Read, ledger.Write} {
			if _, err := later().Journal(t.Context(), "people", mode); !errors.Is(err, ErrOlder) {
				t.Errorf("mode %d: got %v, want ErrOlder", mode, err)
			}
		}
		if err := l.Spend("count", event); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 5 {
			b := later()
			wg.Go(func() {
				if err := b.Migrate(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if err := l.Spend("count", event); !errors.Is(err, ErrNewer) {
			t.Errorf("a program of the earlier version: got %v, want an error", err)
		}
		again, err := ledger.NewStore(later()).Open(t.Context(), "people")
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if err := again.Spend("count", event); err != nil || again.Entries()[0].Spent != 2 {
			t.Errorf("got entries %+v, want 2 uses spent; error %v", again.Entries(), err)
		}
	})
}

// TestFirstUseAtOnce creates the tables and one ledger in many goroutines at once. Exactly one
// creation succeeds.
func TestFirstUseAtOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, place string) {
		var made, refused int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 6 {
			s := ledger.NewStore(mustOpen(t, place))
			wg.Go(func() {
				l, err := s.Create(t.Context(), "people", terms)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					made++
					_ = l.Close()
				case errors.Is(err, ledger.ErrExists):
					refused++
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if made != 1 || refused != 5 {
			t.Errorf("%d goroutines created the ledger, want 1; %d were refused", made, refused)
		}
	})
}

// TestChangedTables changes the tables directly. A ledger can then not reserve, whether it was
// already open or is opened afterwards.
func TestChangedTables(t *testing.T) {
	for name, c := range map[string]struct {
		change string
		fresh  error // of a ledger that is opened afterwards; nil if it cannot detect the change
	}{
		"last line removed": {`DELETE FROM privgen_lines WHERE line = 4`, ledger.ErrDamaged},
		"line within removed": {`DELETE FROM privgen_lines WHERE line = 3`,
			ledger.ErrDamaged},
		"all lines removed": {`DELETE FROM privgen_lines`, ledger.ErrDamaged},
		"text changed": {`UPDATE privgen_lines SET text = (SELECT text FROM privgen_lines
			WHERE line = 2) WHERE line = 4`, ledger.ErrDamaged},
		"ledger removed": {`DELETE FROM privgen_ledgers`, ledger.ErrNotFound},
		"older backup": {`DELETE FROM privgen_lines WHERE line = 4; UPDATE privgen_ledgers
			SET line = 3, hash = (SELECT hash FROM privgen_lines WHERE line = 3)`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, place string) {
				b := mustOpen(t, place)
				open, err := ledger.NewStore(b).Create(t.Context(), "people", terms)
				if err != nil {
					t.Fatal(err)
				}
				defer open.Close()
				for _, purpose := range []string{"a", "b", "c"} {
					if _, err := open.Reserve(purpose, event, 1); err != nil {
						t.Fatal(err)
					}
				}
				change(t, b, c.change)
				if _, err := open.Reserve("d", event, 1); name != "line within removed" &&
					name != "text changed" && err == nil {
					t.Error("a reservation on the open ledger succeeds")
				}
				fresh, err := ledger.NewStore(b).Open(t.Context(), "people")
				if err == nil {
					defer fresh.Close()
				}
				if c.fresh != nil && !errors.Is(err, c.fresh) || c.fresh == nil && err != nil {
					t.Errorf("a newly opened ledger: got %v, want %v", err, c.fresh)
				}
			})
		})
	}
}
