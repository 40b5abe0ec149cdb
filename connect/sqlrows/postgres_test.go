//go:build unix

package sqlrows_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database of the tests

	"github.com/seed7ba64551/privgen/connect/sqlrows"
	"github.com/seed7ba64551/privgen/records"
)

// postgres starts a server on a socket in its own folder, or skips the test if PostgreSQL is not
// installed.
func postgres(t *testing.T) *sql.DB {
	t.Helper()
	binaries := postgresBinaries()
	if binaries == "" {
		t.Skip("PostgreSQL is not installed: apt-get install postgresql")
	}
	folder := must(os.MkdirTemp("", "pg"))(t) // the path of a socket must be short
	t.Cleanup(func() { os.RemoveAll(folder) })
	id := notRoot(t)
	if id != nil {
		if err := os.Chown(folder, int(id.Uid), int(id.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	prepare := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(binaries, name), args...)
		cmd.Dir, cmd.SysProcAttr = folder, &syscall.SysProcAttr{Setpgid: true, Credential: id}
		cmd.Env = []string{"LC_ALL=C", "PATH=" + binaries + ":/usr/bin:/bin", "HOME=" + folder}
		return cmd
	}
	data := filepath.Join(folder, "data")
	if out, err := prepare("initdb", "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale", "C",
		"-D", data).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := prepare("postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c",
		"shared_buffers=16MB", "-c", "fsync=off")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // a fast shutdown
		_ = server.Wait()
	})
	db := must(sql.Open("pgx",
		fmt.Sprintf("host=%s dbname=postgres user=owner sslmode=disable", folder)))(t)
	t.Cleanup(func() { db.Close() })
	for begin := time.Now(); db.PingContext(t.Context()) != nil; time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatal("the server does not answer")
		}
	}
	return db
}

// postgresBinaries returns the folder of the newest installed server.
func postgresBinaries() string {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	major := func(folder string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
		return n
	}
	slices.SortFunc(folders, func(a, b string) int { return major(b) - major(a) })
	for _, folder := range append(folders, "/usr/local/bin", "/usr/bin") {
		if _, err := os.Stat(filepath.Join(folder, "initdb")); err == nil {
			return folder
		}
	}
	return ""
}

// notRoot returns another user if the tests run as root, since the server refuses to run as root.
func notRoot(t *testing.T) *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}
		}
	}
	t.Skip("the server refuses to run as root, and there is no other user")
	return nil
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestPostgreSQL writes rows with nulls and extreme values into a table and reads them back. A
// transaction writes all rows or none.
func TestPostgreSQL(t *testing.T) {
	db, ctx, s := postgres(t), t.Context(), people(t)
	execute(t, db, "create schema made",
		strings.Replace(table, "table people", "table made.people", 1))
	execute(t, db, "alter table made.people alter column id add generated always as identity")
	b := must(records.NewFrameBuilder(s))(t)
	for i := range 2500 {
		row := []any{float64(i) / 25, i, "Köln", i%2 == 0}
		switch i {
		case 0:
			row = []any{5e-324, 1 << 53, nil, true}
		case 1:
			row = []any{math.Nextafter(200, 0), nil, "'; drop table people; --", false}
		}
		if err := b.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	f := b.Frame()
	insert := func(all ...records.Data) error {
		return sqlrows.Insert(ctx, db, sqlrows.Dollar, "made.people", s, parts(all...))
	}
	if err := insert(f.Slice(0, 100), f.Slice(100, 2500)); err != nil {
		t.Fatal(err)
	}
	const query = `select * from made.people order by id`
	if back := must(sqlrows.ReadFrame(ctx, db, s, query))(t); cellsOf(back) != cellsOf(f) ||
		records.Check(back) != nil {
		t.Errorf("%d rows were read; they differ from those written: %v", back.Len(), records.Check(back))
	}
	rows := 0
	for piece, err := range sqlrows.Stream(ctx, db, s, 1000, query+" limit $1", 2100) {
		rows += must(piece, err)(t).Len()
	}
	if rows != 2100 {
		t.Errorf("streaming gives a wrong number of rows: %d", rows)
	}
	execute(t, db, "alter table made.people add constraint few check (age is null or age <> 9001)")
	old := must(records.FromValues(s, []any{1, 2, nil, true}, []any{1, 9001, nil, true}))(t)
	if err := insert(old); err == nil {
		t.Error("Insert returns no error for a row that the server refuses")
	}
	broken := errors.New("no more")
	err := sqlrows.Insert(ctx, db, sqlrows.Dollar, "made.people", s,
		func(yield func(records.Data, error) bool) { _ = yield(f, nil) && yield(nil, broken) })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	var count int
	if err := db.QueryRowContext(ctx, "select count(*) from made.people").Scan(&count); err != nil ||
		count != 2500 {
		t.Errorf("after failed inserts the table has %d rows, error %v", count, err)
	}
}

// TestTypesOfPostgreSQL reads the server's own types into records.
func TestTypesOfPostgreSQL(t *testing.T) {
	db, ctx := postgres(t), t.Context()
	execute(t, db, "create type mood as enum ('sad', 'glad')", `create table t (n numeric(20, 3),
		i smallint, r real, b boolean, m mood, at timestamptz, d date, x text, c char(3), j bigint)`,
		`insert into t values (12345678901.125, -32768, 0.1, true, 'glad', '1970-01-01 00:00:01.5+00',
		'1970-01-02', ' 7 ', 'a', 9007199254740993), (null, null, null, null, null, null, null, null,
		null, null)`)
	s := must(records.NewSchema(
		records.Numeric("n", -1e12, 1e12).WithMissing(),
		records.Integer("i", -1<<15, 1<<15).WithMissing(),
		records.Numeric("r", 0, 1).WithMissing(), records.Flag("b", "no", "yes").WithMissing(),
		records.Categorical("m", "sad", "glad").WithMissing(),
		records.Numeric("at", 0, 1e10).WithMissing(), records.Numeric("d", 0, 1e10).WithMissing(),
		records.Numeric("x", 0, 9).WithMissing(),
		records.Categorical("c", "a").WithMissing(),
		records.Categorical("j", "9007199254740993").WithMissing(),
	))(t)
	f := must(sqlrows.ReadFrame(ctx, db, s, "select * from t order by i"))(t)
	want := fmt.Sprintf(`{"n":12345678901.125,"i":-32768,"r":%v,"b":"yes","m":"glad","at":1.5,`+
		`"d":86400,"x":7,"c":"a","j":"9007199254740993"}`+"\n"+
		`{"n":null,"i":null,"r":null,"b":null,"m":null,"at":null,"d":null,"x":null,"c":null,"j":null}`+
		"\n", float64(float32(0.1)))
	if got := cellsOf(f); got != want || records.Check(f) != nil {
		t.Errorf("got\n%s\nwant\n%s\nrecords.Check: %v", got, want, records.Check(f))
	}
}
