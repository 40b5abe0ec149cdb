//go:build unix

package sqlledger

import (
	"bytes"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestAnswerLost cuts the connection between the server's commit and its answer. The reservation
// then returns an error but counts. Repeating the same transaction succeeds and costs nothing more.
func TestAnswerLost(t *testing.T) {
	s := sharedServer(t)
	address := s.database(t)
	p := newProxy(t, filepath.Join(s.folder, ".s.PGSQL.5432"))
	through := strings.Replace(address, "host="+s.folder, "host="+p.folder, 1)
	l, err := ledger.NewStore(mustOpen(t, through)).Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	run := ledger.Transaction{ID: "run", Lines: []ledger.Line{
		{Purpose: "count", Event: event, Count: 2}}}
	p.cut.Store(true)
	if _, err := l.ReserveAll(run); err == nil || param.IsRefused(err) {
		t.Fatalf("the answer was lost, but the reservation returned %v", err)
	}
	if p.cut.Load() {
		t.Fatal("the proxy saw no commit, so the test proves nothing")
	}
	beside, err := ledger.NewStore(mustOpen(t, address)).Audit(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	if e := beside.Entries(); len(e) != 1 || e[0].Reserved != 2 {
		t.Fatalf("the line was committed, but another handle sees %+v", e)
	}
	all, err := l.ReserveAll(run)
	if err != nil {
		t.Fatal(err)
	}
	if e := l.Entries(); len(e) != 1 || e[0].Reserved != 2 || all[0].Remaining() != 2 {
		t.Errorf("got entries %+v and %d uses left, want one entry with 2 uses, both left", e,
			all[0].Remaining())
	}
	if err := all[0].Spend(); err != nil {
		t.Error(err)
	}
}

// TestFileFailsOnce lets each access to a file fail in turn during a reservation, before the line
// is written and after it. No failure is a refusal, and the same transaction is then reserved
// once.
func TestFileFailsOnce(t *testing.T) {
	run := ledger.Transaction{ID: "run", Lines: []ledger.Line{
		{Purpose: "count", Event: event, Count: 2}}}
	for at, failed := 1, true; failed; at++ {
		b := SQLite(filepath.Join(t.TempDir(), "l.db"))
		l, err := ledger.NewStore(b).Create(t.Context(), "people", terms)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		left, lost := at, b.writing.db.lost
		b.writing.db.lost = func() error {
			if left--; left == 0 {
				return errors.New("input/output error")
			}
			return lost()
		}
		_, err = l.ReserveAll(run)
		if failed = left <= 0; (err != nil) != failed || param.IsRefused(err) {
			t.Errorf("access %d fails: %v, got %v", at, failed, err)
		}
		left = 0 // no further access fails
		all, err := l.ReserveAll(run)
		if err != nil || all[0].Remaining() != 2 || len(l.Entries()) != 1 ||
			l.Entries()[0].Reserved != 2 {
			t.Errorf("access %d failed: then got %v and %+v, want one entry with 2 uses", at, err, l.Entries())
		}
		if at == 1 && !failed {
			t.Error("no access failed, so the test proves nothing")
		}
	}
	s := ledger.NewStore(SQLite(filepath.Join(t.TempDir(), "l.db")))
	l, err := s.Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	run.Lines[0].Count = 1 << 30
	if _, err := l.ReserveAll(run); !param.IsRefused(err) {
		t.Errorf("more than the budget: got %v, want a refusal", err)
	}
}

// proxy forwards the messages between a client and a server. While cut is set, it drops the answer
// to a commit and closes the connection.
type proxy struct {
	folder, server string
	cut            atomic.Bool
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	p := &proxy{folder: t.TempDir(), server: server}
	listener, err := net.Listen("unix", filepath.Join(p.folder, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var lost atomic.Bool
	go func() {
		defer client.Close()
		buffer := make([]byte, 1<<16)
		for {
			n, err := server.Read(buffer)
			if n > 0 && lost.Load() {
				_ = server.Close() // the server has answered, so the transaction is complete
				return
			}
			if _, errW := client.Write(buffer[:n]); err != nil || errW != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if bytes.Contains(buffer[:n], []byte("commit\x00")) && p.cut.CompareAndSwap(true, false) {
			lost.Store(true)
		}
		if _, errW := io.Copy(server, bytes.NewReader(buffer[:n])); err != nil || errW != nil {
			return
		}
	}
}

// TestServerThatForgets kills a server with synchronous_commit off after it has answered. No line
// of the ledger may be lost. The test also creates a table itself. The server must lose this table;
// otherwise the test proves nothing.
func TestServerThatForgets(t *testing.T) {
	s := startPostgres(t, "synchronous_commit=off", "wal_writer_delay=10s", "autovacuum=off")
	address := s.database(t)
	forgets := false
	for round := 0; round < 5 && !forgets; round++ {
		ledgers := ledger.NewStore(mustOpen(t, address))
		name := strings.Repeat("a", round+1)
		l, err := ledgers.Create(t.Context(), name, terms)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, err := l.Reserve("count", event, 1); err != nil {
				t.Fatal(err)
			}
		}
		s.exec(t, databaseOf(address), "CREATE TABLE by_hand_"+name+" (n integer)")
		s.kill()
		s.start(t)
		_ = l.Close()
		again, err := ledgers.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if e := again.Entries(); len(e) != 1 || e[0].Reserved != 10 {
			t.Fatalf("lines were lost; the entries are %+v", e)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		var there bool
		db := s.connect(databaseOf(address))
		err = db.QueryRow(`SELECT count(*) > 0 FROM pg_class WHERE relname = 'by_hand_` + name +
			`'`).Scan(&there)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		forgets = !there
	}
	if !forgets {
		t.Error("the server lost no unsynchronised table, so the test proves nothing")
	}
}

// TestServerWithoutFsync: a server with fsync off is refused.
func TestServerWithoutFsync(t *testing.T) {
	s := startPostgres(t, "fsync=off")
	_, err := ledger.NewStore(mustOpen(t, s.database(t))).Create(t.Context(), "people", terms)
	if err == nil || !strings.Contains(err.Error(), "fsync") {
		t.Errorf("got %v, want an error about fsync", err)
	}
}

// TestLockOfAVanishedMachine: another machine keeps the lock for ever, and reservations continue
// without the lock.
func TestLockOfAVanishedMachine(t *testing.T) {
	eachDatabase(t, func(t *testing.T, place string) {
		l, err := ledger.NewStore(mustOpen(t, place)).Create(t.Context(), "people", terms)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		j, err := mustOpen(t, place).Journal(t.Context(), "people", ledger.Write)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		unlock, err := j.(ledger.Locker).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		begin := time.Now()
		if _, err := l.Reserve("count", event, 1); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took < lockPatience || took > lockPatience+20*time.Second {
			t.Errorf("the reservation took too long: %v", took)
		}
	})
}
