package sqlledger

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed7ba64551/privgen/ledger"
)

const auditedFile = "PRIVGEN_SQLLEDGER_AUDITED" // names the file that another user reads

// TestAuditorOfAFile: a user who may only read the folder's files can audit a ledger, whether or
// not another process has it open, and cannot reserve.
func TestAuditorOfAFile(t *testing.T) {
	if path := os.Getenv(auditedFile); path != "" {
		audit(t, path)
		return
	}
	user := serverUser()
	if user == nil {
		t.Skip("only root can be another user")
	}
	folder, err := os.MkdirTemp("", "audited")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "program")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "ledgers.db")
	l, err := ledger.NewStore(SQLite(path)).Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reserveSome(l, "count", 3); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal", "-shm"} { // the owner lets others read
		if err := os.Chmod(path+end, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, state := range []string{"open", "closed"} {
		if state == "closed" {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(program, "-test.run", "^TestAuditorOfAFile$")
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), auditedFile+"="+path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: the audit by another user fails: %v\n%s", state, err, out)
		}
	}
}

// audit does the other user's part of the test.
func audit(t *testing.T, path string) {
	s := ledger.NewStore(SQLite(path))
	l, err := s.Audit(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if e := l.Entries(); len(e) != 1 || e[0].Reserved != 3 {
		t.Errorf("got entries %+v, want one with 3 uses reserved", e)
	}
	for _, err := range s.History(t.Context(), "people") {
		if err != nil {
			t.Error(err)
		}
	}
	writer, err := s.Open(t.Context(), "people")
	if err == nil {
		defer writer.Close()
		_, err = writer.Reserve("more", quiet, 1)
	}
	if err == nil {
		t.Error("an auditor's reservation succeeds")
	}
	fmt.Println(err)
}
