// Package sqlledger keeps privacy ledgers in a database. A file of SQLite is for the processes of
// one machine. A PostgreSQL server is for the processes of many machines.
//
//	backend, err := sqlledger.PostgreSQL("postgres://service@db.example/ledgers")
//	ledgers := ledger.NewStore(backend)
//	ledger, err := ledgers.Create(ctx, "patients-2026", ledger.Terms{Budget: budget})
//	…
//	ledger, err := ledgers.Open(ctx, "patients-2026") // on any machine, at any time
//
// Guarantee: the guarantee of package ledger. A line is added in one serialisable transaction. The
// transaction compares the ledger's last line with the last line that the caller has seen. The line
// is durable when the answer comes: PostgreSQL with synchronous_commit at least on, SQLite with a
// synchronised write-ahead log. A database that cannot guarantee this is refused with an error:
// PostgreSQL with fsync off, SQLite without its write-ahead log.
//
// # Tables
//
// Three tables hold everything: privgen_ledgers has the last line of every ledger, privgen_lines
// the lines, privgen_schema the version of the schema. The view privgen_history shows the lines as
// text, for people. [Backend.Migrate] updates an older schema, and so does the creation of a
// ledger. A schema newer than the program is refused.
//
// # Permissions
//
// On PostgreSQL, [Backend.GrantRead] lets a role audit and nothing else. [Backend.GrantUse] lets a
// role add lines but neither change nor remove one, so it cannot compact a ledger. SQLite uses the
// permissions of the file system: any process that can read the folder's files can audit.
//
// # Limits
//
// A database file of SQLite belongs on a local disk. A restored backup is detected by every ledger
// and checkpoint that has seen a later line, but not by others. The same holds for a PostgreSQL
// standby that is promoted before it has received every line. This can happen unless replication is
// synchronous. Do not keep a ledger on a standby that may lose lines.
package sqlledger
