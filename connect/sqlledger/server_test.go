//go:build unix

package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A server is a PostgreSQL server that only these tests use. It listens on a socket in its folder.
type server struct {
	folder    string
	binaries  string
	settings  []string
	process   *exec.Cmd
	databases atomic.Int64
}

// shared holds the server that all tests without special settings use.
var shared struct {
	sync.Mutex
	*server
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		shared.remove()
	}
	os.Exit(code)
}

func sharedServer(t *testing.T) *server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		shared.server = newServer(t)
	}
	return shared.server
}

// startPostgres starts a server for one test.
func startPostgres(t *testing.T, settings ...string) *server {
	t.Helper()
	s := newServer(t, settings...)
	t.Cleanup(s.remove)
	return s
}

// newServer starts a server, or skips the test if PostgreSQL is not installed.
func newServer(t *testing.T, settings ...string) *server {
	t.Helper()
	folder, err := os.MkdirTemp("", "pg") // short, because the length of a socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	return newServerIn(t, folder, settings...)
}

func newServerIn(t *testing.T, folder string, settings ...string) *server {
	t.Helper()
	binaries := postgresBinaries()
	if binaries == "" {
		_ = os.RemoveAll(folder)
		t.Skip("PostgreSQL is not installed: apt-get install postgresql")
	}
	s := &server{folder: folder, binaries: binaries, settings: settings}
	s.own(t, folder)
	s.command(t, "initdb", "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale", "C", "-D",
		s.data())
	s.start(t)
	return s
}

func (s *server) remove() {
	s.kill()
	_ = os.RemoveAll(s.folder)
}

// postgresBinaries returns the folder with the programs of the newest installed server, or "" if
// there is none.
func postgresBinaries() string {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(folders, func(a, b string) int { return majorOf(b) - majorOf(a) })
	for _, folder := range append(folders, "/usr/local/bin", "/usr/bin") {
		if _, err := os.Stat(filepath.Join(folder, "initdb")); err == nil {
			return folder
		}
	}
	return ""
}

func majorOf(folder string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
	return n
}

func (s *server) data() string { return filepath.Join(s.folder, "data") }

// own makes the server's user the owner of a folder, because PostgreSQL refuses to run as root.
func (s *server) own(t *testing.T, folder string) {
	t.Helper()
	if id := serverUser(); id != nil {
		if err := os.Chown(folder, int(id.Uid), int(id.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// serverUser returns the user to run the server as if the tests run as root, and nil otherwise.
func serverUser() *syscall.Credential {
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
	return nil
}

// prepare returns a command that runs one of PostgreSQL's programs in a new process group.
func (s *server) prepare(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.binaries, name), args...)
	cmd.Dir = s.folder
	cmd.Env = []string{"LC_ALL=C", "PATH=" + s.binaries + ":/usr/bin:/bin", "HOME=" + s.folder}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: serverUser()}
	return cmd
}

func (s *server) command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := s.prepare(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// start starts the server and waits until it answers.
func (s *server) start(t *testing.T) {
	t.Helper()
	args := []string{"-D", s.data(), "-k", s.folder, "-c", "listen_addresses=", "-c",
		"shared_buffers=16MB", "-c", "max_connections=60"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	s.process = s.prepare("postgres", args...)
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := s.ping()
		if err == nil {
			return
		}
		if time.Since(begin) > time.Minute {
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("the server does not answer: %v\n%s", err, text)
		}
	}
}

func (s *server) ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	db := s.connect("postgres")
	return errors.Join(db.PingContext(ctx), db.Close())
}

// kill kills the server and all processes that it started. Unlike in a power failure, data that the
// operating system has buffered are kept.
func (s *server) kill() {
	if s.process == nil {
		return
	}
	_ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
	_ = s.process.Wait()
	for { // children may outlive the server briefly, and are in other process groups
		children := s.children()
		if len(children) == 0 {
			break
		}
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
	s.process = nil
}

// children returns the processes whose working directory is the server's data folder.
func (s *server) children() (pids []int) {
	folders, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range folders {
		if at, err := os.Readlink(link); err == nil && at == s.data() {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// address returns the address with which a role connects to a database.
func (s *server) address(database, role string) string {
	return fmt.Sprintf("host=%s dbname=%s user=%s sslmode=disable", s.folder, database, role)
}

func (s *server) connect(database string) *sql.DB {
	db, err := sql.Open("pgx", s.address(database, "owner"))
	if err != nil {
		panic(err)
	}
	return db
}

// database creates an empty database and returns its address.
func (s *server) database(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("d%d", s.databases.Add(1))
	s.exec(t, "postgres", "CREATE DATABASE "+name)
	return s.address(name, "owner")
}

// exec executes statements as the owner.
func (s *server) exec(t *testing.T, database string, statements ...string) {
	t.Helper()
	db := s.connect(database)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// databaseOf returns the name of the database in an address.
func databaseOf(address string) string {
	_, rest, _ := strings.Cut(address, "dbname=")
	name, _, _ := strings.Cut(rest, " ")
	return name
}
