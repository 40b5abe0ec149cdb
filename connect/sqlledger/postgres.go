package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed7ba64551/privgen/internal/param"
)

// PostgreSQL keeps ledgers on a server of version 12 or later. The address is a URL or a list of
// keys and values, as in libpq; missing parts come from the environment (PGHOST, …). The tables are
// in the first schema of the search path.
//
// Errors: *param.Error, without the address.
func PostgreSQL(address string) (*Backend, error) {
	const want = "the address of a PostgreSQL server"
	config, err := pgx.ParseConfig(address)
	if err != nil { // the error may contain the password
		return nil, param.New("sqlledger.PostgreSQL.address", "the given address", want)
	}
	// guarantees are published, so they do not name the host
	d := postgres(fmt.Sprintf("the PostgreSQL database %q", config.Database))
	d.openWrite = func(bool) (*database, error) {
		return openPostgres(stdlib.OpenDB(*config)), nil
	}
	reading := config.Copy()
	reading.RuntimeParams["default_transaction_read_only"] = "on"
	d.openRead = func(bool) (*database, error) {
		return openPostgres(stdlib.OpenDB(*reading)), nil
	}
	return newBackend(d), nil
}

// PostgreSQLDB keeps ledgers on the PostgreSQL server of an open database. The errors of its driver
// must have a method SQLState, like the errors of pgx. The caller closes the database after the
// last use of a ledger. Guarantees call the database by the name place.
func PostgreSQLDB(db *sql.DB, place string) *Backend {
	d := postgres(place)
	b := newBackend(d)
	open := openPostgres(db)
	b.reading, b.writing = &pool{db: open, users: 1}, &pool{db: open, users: 1}
	return b
}

func openPostgres(db *sql.DB) *database { return &database{DB: db, lock: lockPostgres(db)} }

func postgres(place string) *dialect {
	return &dialect{
		place:      place,
		mark:       "$",
		begin:      &sql.TxOptions{Isolation: sql.LevelSerializable},
		migrations: postgresMigrations,
		exists: `SELECT count(*) > 0 FROM pg_catalog.pg_class
			WHERE relname = 'privgen_schema' AND pg_catalog.pg_table_is_visible(oid)`,
		migrating: `SELECT pg_advisory_xact_lock(` + lockSpace + `, 0)`,
		// synchronous_commit may be off, or may wait only for this machine although there is a standby
		head: `SELECT h.line, h.hash, v.version, current_setting('fsync')
			FROM privgen_ledgers h, privgen_schema v,
				(SELECT CASE WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
					THEN set_config('synchronous_commit', 'on', true) END OFFSET 0) s
			WHERE h.name = $1 FOR UPDATE OF h`,
		transient: postgresTransient,
	}
}

var postgresMigrations = []string{`
	CREATE TABLE privgen_schema (version integer NOT NULL);
	INSERT INTO privgen_schema VALUES (1);
	CREATE TABLE privgen_ledgers (
		name text PRIMARY KEY,
		line bigint NOT NULL,
		hash text NOT NULL
	) WITH (fillfactor = 50);
	CREATE TABLE privgen_lines (
		ledger text NOT NULL,
		line bigint NOT NULL,
		hash text NOT NULL,
		snapshot boolean NOT NULL,
		text bytea NOT NULL,
		PRIMARY KEY (ledger, line)
	);
	CREATE INDEX privgen_snapshots ON privgen_lines (ledger, line) WHERE snapshot;
	CREATE VIEW privgen_history AS
		SELECT ledger, line, hash, snapshot, convert_from(text, 'UTF8') AS text FROM privgen_lines;
`}

// postgresTransient reports whether the server rolled back because of another transaction. Such
// errors are class 40 except 40003, whose outcome is unknown; an unavailable lock; and a row that
// another transaction has added.
func postgresTransient(err error) bool {
	var state interface{ SQLState() string }
	if !errors.As(err, &state) {
		return false
	}
	switch s := state.SQLState(); s {
	case "55P03", "23505":
		return true
	default:
		return strings.HasPrefix(s, "40") && s != "40003"
	}
}

// GrantRead lets a role of the PostgreSQL server read all ledgers, but not write them.
//
// Errors: errors.ErrUnsupported for SQLite; errors of the database.
func (b *Backend) GrantRead(ctx context.Context, role string) error {
	return b.grant(ctx, role, `GRANT SELECT
		ON privgen_schema, privgen_ledgers, privgen_lines, privgen_history TO `)
}

// GrantUse lets a role of the PostgreSQL server create, read and use all ledgers, but neither
// change nor remove a line. The role cannot create the tables, which Migrate does.
//
// Errors: errors.ErrUnsupported for SQLite; errors of the database.
func (b *Backend) GrantUse(ctx context.Context, role string) error {
	if err := b.GrantRead(ctx, role); err != nil {
		return err
	}
	if err := b.grant(ctx, role, `GRANT INSERT ON privgen_ledgers, privgen_lines TO `); err != nil {
		return err
	}
	return b.grant(ctx, role, `GRANT UPDATE ON privgen_ledgers TO `)
}

func (b *Backend) grant(ctx context.Context, role, statement string) error {
	if b.mark != "$" {
		return failed(errors.ErrUnsupported)
	}
	db, err := b.writing.acquire(true)
	if err != nil {
		return failed(err)
	}
	err = b.transact(ctx, db, nil, func(tx *sql.Tx) error {
		var schema string
		if err := tx.QueryRowContext(ctx, `SELECT quote_ident(current_schema())`).Scan(
			&schema); err != nil {
			return err
		}
		name := pgx.Identifier{role}.Sanitize()
		if _, err := tx.ExecContext(ctx, `GRANT USAGE ON SCHEMA `+schema+` TO `+name); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, statement+name)
		return err
	})
	return failed(errors.Join(err, b.writing.release()))
}
