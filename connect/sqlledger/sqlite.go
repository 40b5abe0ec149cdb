package sqlledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"modernc.org/sqlite"

	"github.com/seed7ba64551/privgen/internal/durable"
	"github.com/seed7ba64551/privgen/ledger"
)

// SQLite keeps ledgers in a file, for the processes of one machine. SQLite keeps a write-ahead log
// and its index in two files with "-wal" and "-shm" after the name. They belong to the database: a
// copy without the log lacks the latest lines, and a ledger stops if they are removed while it is
// open. Processes wait for one another by locking an empty file with "-lock" after the name. A
// database file with a second name is refused: a hard link and, on Linux, a file that is mounted by
// itself. Mount its folder.
func SQLite(path string) *Backend {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return newBackend(&dialect{
		place:      fmt.Sprintf("the SQLite file %q", filepath.Base(path)),
		mark:       "?",
		migrations: sqliteMigrations,
		exists:     `SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'privgen_schema'`,
		head: `SELECT h.line, h.hash, v.version, 'on'
			FROM privgen_ledgers h, privgen_schema v WHERE h.name = $1`,
		openRead: func(bool) (*database, error) { return openSQLite(path, "ro", sqliteReading) },
		openWrite: func(create bool) (*database, error) {
			if create {
				return openSQLite(path, "rwc", sqliteWriting)
			}
			return openSQLite(path, "rw", sqliteWriting)
		},
		transient: sqliteTransient,
	})
}

var sqliteMigrations = []string{`
	CREATE TABLE privgen_schema (version INTEGER NOT NULL) STRICT;
	INSERT INTO privgen_schema VALUES (1);
	CREATE TABLE privgen_ledgers (
		name TEXT PRIMARY KEY NOT NULL,
		line INTEGER NOT NULL,
		hash TEXT NOT NULL
	) STRICT;
	CREATE TABLE privgen_lines (
		ledger TEXT NOT NULL,
		line INTEGER NOT NULL,
		hash TEXT NOT NULL,
		snapshot INTEGER NOT NULL,
		text BLOB NOT NULL,
		PRIMARY KEY (ledger, line)
	) STRICT;
	CREATE INDEX privgen_snapshots ON privgen_lines (ledger, line) WHERE snapshot;
	CREATE VIEW privgen_history AS
		SELECT ledger, line, hash, snapshot, CAST(text AS TEXT) AS text FROM privgen_lines;
`}

// sqliteTransient reports whether a lock was not available.
func sqliteTransient(err error) bool {
	const busy, locked, primary = 5, 6, 0xff
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&primary == busy || e.Code()&primary == locked)
}

// diskFault returns the error of the system behind the error of a database; 0 if there is none.
func diskFault(err error) syscall.Errno {
	const readOnly, inputOutput, full, cannotOpen, primary = 8, 10, 13, 14, 0xff
	var state interface{ SQLState() string }
	if errors.As(err, &state) && state.SQLState() == "53100" { // PostgreSQL's disk_full
		return syscall.ENOSPC
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return map[int]syscall.Errno{readOnly: syscall.EROFS, inputOutput: syscall.EIO,
		full: syscall.ENOSPC, cannotOpen: syscall.EACCES}[e.Code()&primary]
}

// Every transaction takes the write lock when it begins, so it cannot fail to get the lock later.
// The transaction ends when its part of the write-ahead log has been synchronised.
const (
	sqliteWriting = "_txlock=immediate&_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000" +
		"&_defensive=1&_pragma=fullfsync(1)&_pragma=checkpoint_fullfsync(1)"
	sqliteReading = "_query_only=1&_busy_timeout=5000"
)

func openSQLite(path, mode, settings string) (*database, error) {
	path, err := sqlitePath(path, mode == "rwc")
	if err != nil {
		return nil, err
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(path),
		RawQuery: "mode=" + mode + "&" + settings}
	if !strings.HasPrefix(address.Path, "/") { // the path begins with a drive letter
		address.Path = "/" + address.Path
	}
	connector, err := sqlite.NewConnector(address.String())
	if err != nil {
		return nil, err
	}
	file := &sqliteFile{path: path}
	mutex := durable.NewMutex(path + "-lock")
	return &database{
		DB:      sql.OpenDB(&sqliteConnector{connector, file, mode != "ro"}),
		lost:    file.lost,
		closing: mutex.Close,
		lock: func(_, short context.Context, _ string) (func(), error) {
			return mutex.Lock(short) // one connection: the file has one writer at a time anyway
		},
	}, nil
}

// sqlitePath returns the path of the database without symbolic links, as SQLite uses it for the
// names of its other files. If create is true, it creates a missing file, for its owner only:
// SQLite gives its other files the same mode. It opens no existing file, since closing the file
// would release the locks that SQLite holds on it in this process.
func sqlitePath(path string, create bool) (string, error) {
	if create {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ledger.ErrNotFound
	}
	return real, err
}

// sqliteConnector makes connections with the settings that package ledger requires.
type sqliteConnector struct {
	driver.Connector
	file  *sqliteFile
	write bool
}

// Connect implements [driver.Connector].
func (c *sqliteConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if mounted(c.file.path) {
		return nil, &fs.PathError{Op: "open", Path: c.file.path, Err: errors.New("the file is mounted " +
			"by itself, so its write-ahead log is not where its other names have it: mount its folder")}
	}
	info, err := os.Stat(c.file.path)
	if err == nil {
		err = c.file.single(info)
	}
	if err != nil {
		return nil, err
	}
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (c *sqliteConnector) prepare(ctx context.Context, conn driver.Conn) error {
	if err := c.file.remember(); err != nil || !c.write {
		return err
	}
	if mode, err := pragma(ctx, conn, "journal_mode"); err != nil || mode != "wal" {
		return errors.Join(err, fmt.Errorf("%s: journal mode %v: a write-ahead log is needed",
			c.file.path, mode))
	}
	const full = int64(2)
	if level, err := pragma(ctx, conn, "synchronous"); err != nil || level != full {
		return errors.Join(err, fmt.Errorf("%s: synchronous is %v, not FULL", c.file.path, level))
	}
	// An auditor without permission to write can read only if the log and its index exist.
	if f, ok := conn.(sqlite.FileControl); ok {
		if _, err := f.FileControlPersistWAL("main", 1); err != nil {
			return err
		}
	}
	return c.file.syncLog()
}

// pragma returns the value of a setting.
func pragma(ctx context.Context, conn driver.Conn, name string) (driver.Value, error) {
	q, ok := conn.(driver.QueryerContext)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	rows, err := q.QueryContext(ctx, "PRAGMA "+name, nil)
	if err != nil {
		return nil, err
	}
	value := make([]driver.Value, 1)
	err = errors.Join(rows.Next(value), rows.Close())
	return value[0], err
}

// sqliteFile is the file that was at a path when its database was opened.
type sqliteFile struct {
	path  string
	mu    sync.Mutex
	info  fs.FileInfo    // nil before the first connection
	files [2]fs.FileInfo // the log and its index; nil before they were seen
}

// syncLog makes lines durable that a process wrote before it was killed: a later connection may
// read such lines.
func (f *sqliteFile) syncLog() error {
	log, err := os.OpenFile(f.path+"-wal", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(log.Sync(), log.Close())
}

// remember stores the identity of the file, or returns an error if the identity has changed.
func (f *sqliteFile) remember() error {
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	f.mu.Lock()
	if f.info == nil {
		f.info = info
	}
	f.mu.Unlock()
	return f.same(info)
}

// lost returns an error if the file was removed or replaced, for example by a backup, while it was
// open. Otherwise this process would continue with the old file and others with the new one.
func (f *sqliteFile) lost() error {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s was removed", ledger.ErrRolledBack, f.path)
	}
	if err != nil {
		return err
	}
	return f.same(info)
}

// single returns an error unless the given file has one name. The write-ahead log is found by the
// file's name, so with two names there are two logs, each without the lines of the other.
func (f *sqliteFile) single(info fs.FileInfo) error {
	n, err := links(f.path, info)
	if err == nil && n > 1 {
		err = &fs.PathError{Op: "open", Path: f.path, Err: fmt.Errorf(
			"the file has %d names (hard links), of which a ledger may be used under one only", n)}
	}
	return err
}

// same returns an error unless the given file is the open one, with one name and the same log.
func (f *sqliteFile) same(info fs.FileInfo) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.single(info); err != nil {
		return err
	}
	if f.info != nil && !os.SameFile(f.info, info) {
		return fmt.Errorf("%w: %s was replaced by another file", ledger.ErrRolledBack, f.path)
	}
	return f.sameLog()
}

// sameLog returns an error if the log or its index was removed or replaced while the file was open.
// Lines in a log without a name are not seen by other processes and end with this one.
func (f *sqliteFile) sameLog() error {
	for i, end := range []string{"-wal", "-shm"} {
		info, err := os.Stat(f.path + end)
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.files[i] == nil:
		case errors.Is(err, fs.ErrNotExist), err == nil && f.files[i] != nil &&
			!os.SameFile(f.files[i], info):
			return fmt.Errorf("%w: %s was removed or replaced", ledger.ErrRolledBack, f.path+end)
		case err != nil:
			return err
		default:
			f.files[i] = info
		}
	}
	return nil
}
