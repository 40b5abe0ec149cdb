//go:build unix

package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestRolesOfPostgreSQL: the server itself prevents auditors from writing, and services from
// changing written lines.
func TestRolesOfPostgreSQL(t *testing.T) {
	s := sharedServer(t)
	address := s.database(t)
	name := databaseOf(address)
	owner := mustOpen(t, address)
	paid, err := ledger.NewStore(owner).Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	defer paid.Close()
	for i := range 3 {
		if _, err := paid.Reserve("count", accountant.Gaussian{NoiseMultiplier: 40 + float64(i)},
			1); err != nil {
			t.Fatal(err)
		}
	}
	role := strings.ToLower(name)
	auditor, service := role+`_"auditor`, role+"_service" // a name that needs quoting
	s.exec(t, name, `CREATE ROLE "`+strings.ReplaceAll(auditor, `"`, `""`)+`" LOGIN`,
		`CREATE ROLE `+service+` LOGIN`)
	if err := errors.Join(owner.GrantRead(t.Context(), auditor),
		owner.GrantUse(t.Context(), service)); err != nil {
		t.Fatal(err)
	}

	audits := mustOpen(t, s.address(name, auditor))
	reader, err := ledger.NewStore(audits).Audit(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got := reader.Epsilon(); got != paid.Epsilon() {
		t.Errorf("the auditor sees ε = %v, want %v", got, paid.Epsilon())
	}
	for _, err := range ledger.NewStore(audits).History(t.Context(), "people") {
		if err != nil {
			t.Error(err)
		}
	}
	denied(t, s.address(name, auditor), `UPDATE privgen_ledgers SET line = 0`,
		`DELETE FROM privgen_lines`, `INSERT INTO privgen_lines VALUES ('people', 9, '', false, '')`,
		`TRUNCATE privgen_lines`, `DROP TABLE privgen_lines`, `UPDATE privgen_schema SET version = 2`)
	if l, err := ledger.NewStore(audits).Open(t.Context(), "people"); err == nil {
		defer l.Close() // the ledger can only be read
		if _, err := l.Reserve("x", event, 1); err == nil {
			t.Error("a reservation with an auditor's role succeeds")
		}
	}

	uses := ledger.NewStore(mustOpen(t, s.address(name, service)))
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

	// The right to write is revoked while a ledger is open, and then granted again.
	s.exec(t, name, `REVOKE INSERT ON privgen_lines FROM `+service)
	if _, err := l.Reserve("lost", event, 1); err == nil {
		t.Error("a reservation succeeds without the right to write")
	}
	s.exec(t, name, `GRANT INSERT ON privgen_lines TO `+service)
	if _, err := l.Reserve("again", event, 1); err != nil {
		t.Error(err)
	}
	want := 0
	for _, e := range l.Entries() {
		want += e.Reserved
		if e.Purpose == "lost" {
			t.Error("a refused reservation is in the ledger")
		}
	}
	if want != 5 {
		t.Errorf("the ledger counts %d reserved uses, want 5", want)
	}
}

// denied checks that a role may not execute the statements.
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
			t.Errorf("%s: got %v, want an error that the permission is missing", s, err)
		}
	}
}

// TestPasswordsStaySecret: the error about an invalid address does not quote the address, and the
// name of a database contains no password.
func TestPasswordsStaySecret(t *testing.T) {
	_, err := PostgreSQL("postgres://me:hunter2@host:port:1/db")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v, want an error without the password", err)
	}
	b, err := PostgreSQL("postgres://me:hunter2@db.example:5433/ledgers")
	if err != nil || b.place != `the PostgreSQL database "ledgers"` {
		t.Errorf("got the backend %v, error %v; want a place without the password", b, err)
	}
}
