package sqlledger

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// disk is a file system in a file that belongs to one test.
type disk struct{ image, mount string }

// newDisk makes a disk, or skips the test if the process may not mount one.
func newDisk(t *testing.T, megabytes int64) *disk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	folder, err := os.MkdirTemp("", "disk")
	if err != nil {
		t.Fatal(err)
	}
	d := &disk{filepath.Join(folder, "image"), filepath.Join(folder, "mount")}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, megabytes<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.mount, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o755); err != nil { // the server is another user
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", d.image).CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext4: %v\n%s", err, out)
	}
	if out, err := d.attach(); err != nil {
		t.Skipf("mount: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", d.mount).Run() })
	return d
}

func (d *disk) attach() ([]byte, error) {
	return exec.Command("mount", "-o", "loop", d.image, d.mount).CombinedOutput()
}

// cutPower stops the file system and drops all data that were not synchronised.
func (d *disk) cutPower(t *testing.T) {
	t.Helper()
	f, err := os.Open(d.mount)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const shutdown, withoutFlush = 0x8004587d, 2 // FS_IOC_SHUTDOWN, its flag NOLOGFLUSH
	flag := uint32(withoutFlush)
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown,
		uintptr(unsafe.Pointer(&flag))); e != 0 {
		t.Skipf("the file system cannot be shut down: %v", e)
	}
}

// powerOn mounts the disk again. Nothing may have it open.
func (d *disk) powerOn(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("umount", d.mount).CombinedOutput(); err != nil {
		t.Fatalf("umount: %v\n%s", err, out)
	}
	if out, err := d.attach(); err != nil {
		t.Fatalf("mount: %v\n%s", err, out)
	}
}

// reserveSome makes n reservations or stops at the first failure. It returns the number of
// successful reservations.
func reserveSome(l *ledger.Ledger, purpose string, n int) (int, error) {
	for i := range n {
		if _, err := l.ReserveAll(ledger.Transaction{ID: fmt.Sprintf("%s-%d", purpose, i),
			Lines: []ledger.Line{{Purpose: purpose, Event: quiet, Count: 1}}}); err != nil {
			return i, err
		}
	}
	return n, nil
}

// quiet is an event so cheap that many uses fit into the budget.
var quiet = accountant.Gaussian{NoiseMultiplier: 4000}

// reservedFor returns the number of uses that a newly opened ledger counts for a purpose.
func reservedFor(t *testing.T, b ledger.Backend, purpose string) (n int) {
	t.Helper()
	l, err := ledger.NewStore(b).Open(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, e := range l.Entries() {
		if e.Purpose == purpose {
			n += e.Reserved
		}
	}
	return n
}

// TestPowerCutSQLite cuts the power after answers, while the ledger is open. Every answered line
// must survive. The test also writes a file that it does not synchronise. The disk must lose this
// file; otherwise the test proves nothing.
func TestPowerCutSQLite(t *testing.T) {
	d := newDisk(t, 64)
	b := SQLite(filepath.Join(d.mount, "ledgers.db"))
	for round := range 8 {
		l, err := ledger.NewStore(b).Open(t.Context(), "people")
		if round == 0 {
			l, err = ledger.NewStore(b).Create(t.Context(), "people", terms)
		}
		if err != nil {
			t.Fatal(err)
		}
		purpose := fmt.Sprint("round ", round)
		want, err := reserveSome(l, purpose, 1+3*round)
		if err != nil {
			t.Fatal(err)
		}
		control := filepath.Join(d.mount, "not synchronised")
		if err := os.WriteFile(control, []byte(purpose), 0o600); err != nil {
			t.Fatal(err)
		}
		d.cutPower(t)
		if _, err := reserveSome(l, "in the dark", 1); err == nil {
			t.Error("a reservation succeeds without power")
		}
		_ = l.Close() // Close cannot write any more
		d.powerOn(t)
		if text, err := os.ReadFile(control); err == nil && string(text) == purpose {
			t.Fatal("the unsynchronised file survived, so the test proves nothing")
		}
		if got := reservedFor(t, b, purpose); got != want {
			t.Errorf("round %d: got %d reservations, want the %d answered ones", round, got, want)
		}
	}
}

// TestPowerCutPostgreSQL cuts the power of the disk of a PostgreSQL server.
func TestPowerCutPostgreSQL(t *testing.T) {
	d := newDisk(t, 256)
	folder := filepath.Join(d.mount, "pg")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s := newServerIn(t, folder, "synchronous_commit=off", "max_wal_size=64MB")
	t.Cleanup(s.kill)
	address := s.database(t)
	for round := range 3 {
		b := mustOpen(t, address)
		l, err := ledger.NewStore(b).Open(t.Context(), "people")
		if round == 0 {
			l, err = ledger.NewStore(b).Create(t.Context(), "people", terms)
		}
		if err != nil {
			t.Fatal(err)
		}
		purpose := fmt.Sprint("round ", round)
		want, err := reserveSome(l, purpose, 10+5*round)
		if err != nil {
			t.Fatal(err)
		}
		d.cutPower(t)
		if _, err := reserveSome(l, "in the dark", 1); err == nil {
			t.Error("a reservation succeeds without power")
		}
		_ = l.Close()
		s.kill()
		d.powerOn(t)
		s.start(t)
		if got := reservedFor(t, b, purpose); got != want {
			t.Errorf("round %d: got %d reservations, want the %d answered ones", round, got, want)
		}
	}
}

// TestDiskFull fills the disk while a ledger is open. Reservations then fail, no answered
// reservation is lost, and work continues once there is space again.
func TestDiskFull(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *disk) (*Backend, func()){
		"SQLite": func(_ *testing.T, d *disk) (*Backend, func()) {
			return SQLite(filepath.Join(d.mount, "ledgers.db")), func() {}
		},
		"PostgreSQL": func(t *testing.T, d *disk) (*Backend, func()) {
			folder := filepath.Join(d.mount, "pg")
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			s := newServerIn(t, folder, "max_wal_size=32MB", "restart_after_crash=off")
			t.Cleanup(s.kill)
			return mustOpen(t, s.database(t)), func() { s.kill(); s.start(t) } // it may have stopped
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t, 192)
			b, restart := test(t, d)
			l, err := ledger.NewStore(b).Create(t.Context(), "people", terms)
			if err != nil {
				t.Fatal(err)
			}
			ballast := filepath.Join(d.mount, "ballast")
			f, err := os.Create(ballast)
			if err != nil {
				t.Fatal(err)
			}
			for size := 1 << 20; size > 0; {
				if _, err := f.Write(make([]byte, size)); err != nil {
					size /= 2
				}
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			var answered int
			long := strings.Repeat("a long purpose ", 60)
			for i := 0; err == nil && i < 20000; i++ {
				if _, err = l.Reserve(fmt.Sprint(i, long), quiet, 1); err == nil {
					answered++
				}
			}
			if err == nil {
				t.Fatal("20,000 reservations succeed on a disk that should be full")
			}
			if name == "SQLite" && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("got %v, want the system's error for a full disk", err)
			}
			t.Logf("%d answers, then %v", answered, err)
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			_ = l.Close()
			restart()
			again, err := ledger.NewStore(b).Open(t.Context(), "people")
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			// Besides the answered reservations, only the failed reservation may be present.
			if got := len(again.Entries()); got < answered || got > answered+1 {
				t.Errorf("%d reservations were answered, but %d are present", answered, got)
			}
			if _, err := again.Reserve("room", quiet, 1); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReadOnlyDisk mounts a ledger's disk read-only. Auditors can read, and reservations fail.
func TestReadOnlyDisk(t *testing.T) {
	d := newDisk(t, 32)
	b := SQLite(filepath.Join(d.mount, "ledgers.db"))
	l, err := ledger.NewStore(b).Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reserveSome(l, "count", 3); err != nil {
		t.Fatal(err)
	}
	want := l.Epsilon()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", d.mount).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	audit, err := ledger.NewStore(b).Audit(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	if got := audit.Epsilon(); got != want {
		t.Errorf("the auditor sees ε = %v, want %v", got, want)
	}
	writer, err := ledger.NewStore(b).Open(t.Context(), "people")
	if err == nil {
		defer writer.Close()
		_, err = writer.Reserve("more", quiet, 1)
	}
	if err == nil {
		t.Error("a reservation succeeds on a read-only disk")
	}
}

// TestMountedFile mounts the file of a ledger by itself at a second place, as containers do. There
// it would have another log, so it is refused.
func TestMountedFile(t *testing.T) {
	folder := t.TempDir()
	path, second := filepath.Join(folder, "l.db"), filepath.Join(t.TempDir(), "l.db")
	l, err := ledger.NewStore(SQLite(path)).Create(t.Context(), "people", terms)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.WriteFile(second, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(path, second, "", syscall.MS_BIND, ""); err != nil {
		t.Skip(err)
	}
	defer func() { _ = syscall.Unmount(second, 0) }()
	other, err := ledger.NewStore(SQLite(second)).Open(t.Context(), "people")
	if !strings.Contains(fmt.Sprint(err), "mounted by itself") {
		t.Errorf("a file that is mounted by itself: got %v, want an error", err)
	}
	if err == nil {
		_ = other.Close()
	}
	if _, err := l.Reserve("count", event, 1); err != nil {
		t.Errorf("under its first name: %v", err)
	}
}
