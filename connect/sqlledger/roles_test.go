//go:build unix

package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/store"
)

// TestRolesOfPostgreSQL: the server itself keeps auditors from writing, and services from changing
// what was written.
func TestRolesOfPostgreSQL(t *testing.T) {
	s := sharedServer(t)
	address := s.database(t)
	name := databaseOf(address)
	owner := mustOpen(t, address)
	ledger, err := store.New(owner).Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	for i := range 3 {
		if _, err := ledger.Reserve("count", accountant.Gaussian{NoiseMultiplier: 40 + float64(i)},
			1); err != nil {
			t.Fatal(err)
		}
	}
	role := strings.ToLower(name)
	auditor, service := role+`_"auditor`, role+"_service" // an awkward name
	s.exec(t, name, `CREATE ROLE "`+strings.ReplaceAll(auditor, `"`, `""`)+`" LOGIN`,
		`CREATE ROLE `+service+` LOGIN`)
	if err := errors.Join(owner.GrantRead(t.Context(), auditor),
		owner.GrantUse(t.Context(), service)); err != nil {
		t.Fatal(err)
	}

	audits := mustOpen(t, s.address(name, auditor))
	reader, err := store.New(audits).Audit(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got := reader.Epsilon(); got != ledger.Epsilon() {
		t.Errorf("the auditor sees ε = %v, not %v", got, ledger.Epsilon())
	}
	for _, err := range store.New(audits).History(t.Context(), "people") {
		if err != nil {
			t.Error(err)
		}
	}
	denied(t, s.address(name, auditor), `UPDATE privgen_ledgers SET line = 0`,
		`DELETE FROM privgen_lines`, `INSERT INTO privgen_lines VALUES ('people', 9, '', false, '')`,
		`TRUNCATE privgen_lines`, `DROP TABLE privgen_lines`, `UPDATE privgen_schema SET version = 2`)
	if l, err := store.New(audits).Open(t.Context(), "people"); err == nil {
		defer l.Close() // it can be read, and nothing else
		if _, err := l.Reserve("x", event, 1); err == nil {
			t.Error("an auditor's role reserves")
		}
	}

	uses := store.New(mustOpen(t, s.address(name, service)))
	l, err := uses.Open(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Reserve("x", event, 1); err != nil {
		t.Error(err)
	}
	if more, err := uses.Create(t.Context(), "more", terms); err != nil {
		t.Error(err)
	} else if err := more.Close(); err != nil {
		t.Error(err)
	}
	denied(t, s.address(name, service), `UPDATE privgen_lines SET text = ''`,
		`DELETE FROM privgen_lines`, `DELETE FROM privgen_ledgers`, `TRUNCATE privgen_lines`,
		`UPDATE privgen_schema SET version = 2`)

	// The right to write is lost while a ledger is open, and comes back.
	s.exec(t, name, `REVOKE INSERT ON privgen_lines FROM `+service)
	if _, err := l.Reserve("lost", event, 1); err == nil {
		t.Error("reserved without the right to write")
	}
	s.exec(t, name, `GRANT INSERT ON privgen_lines TO `+service)
	if _, err := l.Reserve("again", event, 1); err != nil {
		t.Error(err)
	}
	want := 0
	for _, e := range l.Entries() {
		want += e.Reserved
		if e.Purpose == "lost" {
			t.Error("what was refused is there")
		}
	}
	if want != 5 {
		t.Errorf("%d uses are reserved", want)
	}
}

// denied checks that a role may not.
func denied(t *testing.T, address string, statements ...string) {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		_, err := db.ExecContext(context.Background(), s)
		var state interface{ SQLState() string }
		if !errors.As(err, &state) || state.SQLState() != "42501" {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// TestPasswordsStaySecret: an address that cannot be read is not quoted, and a place has no
// password.
func TestPasswordsStaySecret(t *testing.T) {
	_, err := PostgreSQL("postgres://me:hunter2@host:port:1/db")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
	b, err := PostgreSQL("postgres://me:hunter2@db.example:5433/ledgers")
	if err != nil || b.place != `the PostgreSQL database "ledgers"` {
		t.Errorf("%v: %v", b, err)
	}
}
