//go:build unix

package sqlledger

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/ledger/ledgertest"
)

var kills = flag.Int("kills", 12, "processes killed by each kill test; with 100 or more, 8 "+
	"processes make 2,000 reservations each")

func load() ledgertest.Load {
	l := ledgertest.Load{Kills: *kills, Processes: 4, Reservations: 40}
	if *kills >= 100 {
		l.Processes, l.Reservations = 8, 2000
	}
	return l
}

func TestKillSQLite(t *testing.T) { ledgertest.Kill(t, sqliteSubject(), load()) }

func TestKillPostgreSQL(t *testing.T) { ledgertest.Kill(t, postgresSubject(), load()) }

// TestKillServer also kills and restarts the server while processes reserve.
func TestKillServer(t *testing.T) {
	var s *server
	subject := ledgertest.Subject{Open: open, Place: func(t *testing.T) string {
		if s == nil {
			s = startPostgres(t)
		}
		return s.database(t)
	}}
	l := load()
	times := 0
	l.Disturb = func() {
		s.kill()
		s.start(t)
		times++
	}
	ledgertest.Kill(t, subject, l)
	if t.Logf("the server was killed %d times", times); times == 0 {
		t.Error("the server was never killed")
	}
}

// TestReopening opens a ledger of 100,000 lines.
func TestReopening(t *testing.T) {
	if *kills < 100 {
		t.Skip("writes 100,000 lines; runs with -kills 100 or more")
	}
	eachDatabase(t, func(t *testing.T, place string) {
		b := mustOpen(t, place)
		lines, want := manyLines(t, 100_000)
		j, err := b.Journal(t.Context(), "people", ledger.Create)
		if err != nil {
			t.Fatal(err)
		}
		at := ledger.Position{}
		for batch := range slices.Chunk(lines, 1000) {
			if err := j.Append(t.Context(), at, batch); err != nil {
				t.Fatal(err)
			}
			at = batch[len(batch)-1].Position
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		best := time.Hour
		for range 5 {
			begin := time.Now()
			l, err := ledger.NewStore(b).Open(t.Context(), "people")
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(begin))
			if got := l.Epsilon(); got != want {
				t.Errorf("ε = %v, want %v", got, want)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d lines open in %v", 100_000, best)
		if best > 100*time.Millisecond {
			t.Errorf("opening takes too long: %v", best)
		}
	})
}

// manyLines returns lines as a ledger writes them, and the ledger's ε.
func manyLines(t *testing.T, n int) (lines []ledger.JournalLine, epsilon accountant.Bound) {
	t.Helper()
	memory := ledger.Memory()
	l, err := memory.Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < n; i++ {
		if _, err := l.Reserve(fmt.Sprint("purpose ", i%50), quiet, 1); err != nil {
			t.Fatal(err)
		}
	}
	for line, err := range memory.History(t.Context(), "people") {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines, l.Epsilon()
}
