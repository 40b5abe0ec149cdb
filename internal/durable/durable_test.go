package durable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/internal/durable"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestWriteFileIsAllOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := durable.WriteFile(path, text("one")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := durable.WriteFile(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("a write that fails: got %v, want its own error", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "one" {
		t.Errorf("a failed write left %q", b)
	}
	if names, _ := filepath.Glob(path + "*"); len(names) != 1 {
		t.Errorf("a failed write left the files %v", names)
	}
}

func TestWriteFileReplacesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "target"), link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{dir, link} {
		if err := durable.WriteFile(path, text("x")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: got %v, want ErrExist", path, err)
		}
	}
}

// TestFilesBesideAPathAreKept: files of the user's with the names that temporary files and locks
// once had stay as they are, and what a killed writer left is removed.
func TestFilesBesideAPathAreKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255)) // as long as a name can be
	mine := filepath.Join(dir, "f.lock")
	for _, name := range []string{mine, filepath.Join(dir, "f.tmp")} {
		if err := os.WriteFile(name, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := durable.Writable(path); err != nil {
		t.Error(err)
	}
	var left string
	err := durable.WriteFile(path, func(w io.Writer) error {
		names, err := filepath.Glob(filepath.Join(dir, ".privgen-*"))
		if err != nil || len(names) != 1 {
			return fmt.Errorf("temporary files %q, %v", names, err)
		}
		left = names[0] + "0" // as if another process had died here
		return os.WriteFile(left, nil, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := durable.RemoveTemp(filepath.Join(dir, "other")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(left); err != nil {
		t.Error("the temporary file of another path is removed:", err)
	}
	if err := durable.RemoveTemp(path); err != nil {
		t.Error(err)
	}
	if _, err := durable.NewLock(filepath.Join(dir, "f")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file with content as a lock: got %v, want ErrExist", err)
	}
	if err := durable.WriteFile(filepath.Join(dir, "f"), text("new")); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("got the files %v, %v, want two that were written and two that were there", entries, err)
	}
	if b, err := os.ReadFile(mine); string(b) != "mine" {
		t.Errorf("the user's file holds %q, %v", b, err)
	}
}

// TestWritable: a path is refused exactly if WriteFile cannot write it.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "target"), link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{"", dir, link, os.DevNull, filepath.Join(dir, "none", "f"),
		filepath.Join(dir, strings.Repeat("n", 256)), filepath.Join(dir, "new")} {
		can, err := durable.Writable(path), durable.WriteFile(path, text("x"))
		if good := filepath.Base(path) == "new"; (can == nil) != good || (err == nil) != good {
			t.Errorf("%q: got %v before the write and %v after it", path, can, err)
		}
	}
}

func TestLockExcludesWithinOneProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, err := durable.NewLock(path)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := durable.NewLock(path); !errors.Is(err, durable.ErrLocked) {
		t.Fatalf("a second lock: got %v, want ErrLocked", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := durable.NewLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if names, _ := filepath.Glob(path + "*"); len(names) != 0 {
		t.Errorf("a closed lock left the files %v", names)
	}
}

// TestLocksOfRemovedFiles: many goroutines take and close one lock, so that some lock a file that a
// holder has removed, and that another has made again. Never do two hold the lock.
func TestLocksOfRemovedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if l, err := durable.NewLock(path); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	var holders, twice, taken atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 500 {
				l, err := durable.NewLock(path)
				if err != nil {
					continue // another goroutine has it
				}
				taken.Add(1)
				if holders.Add(1) > 1 {
					twice.Add(1)
				}
				runtime.Gosched()
				holders.Add(-1)
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n := twice.Load(); n > 0 {
		t.Errorf("%d of %d locks were taken while another goroutine had the lock", n, taken.Load())
	}
}

// TestLockDiesWithItsProcess kills the process that holds a lock, so the process cannot clean up.
func TestLockDiesWithItsProcess(t *testing.T) {
	if path := os.Getenv("PRIVGEN_TEST_LOCK"); path != "" {
		_, err := durable.NewLock(path)
		fmt.Println(err)
		_, _ = io.Copy(io.Discard, os.Stdin) // select {} would end the process as a deadlock
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "f")
	cmd := exec.Command(exe, "-test.run", "^TestLockDiesWithItsProcess$")
	cmd.Env = append(os.Environ(), "PRIVGEN_TEST_LOCK="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() // the child waits until this is closed
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	line := make([]byte, 5)
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "<nil>" {
		t.Fatalf("the child wrote %q: %v", line, err)
	}
	if _, err := durable.NewLock(path); !errors.Is(err, durable.ErrLocked) {
		t.Fatalf("while the child has the lock: got %v, want ErrLocked", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	l, err := durable.NewLock(path)
	if err != nil {
		t.Fatalf("after the child was killed: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestMutexExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, b := durable.NewMutex(path), durable.NewMutex(path)
	unlock, err := a.Lock(t.Context())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*durable.Mutex{a, b} { // another goroutine, and another process's handle
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := m.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a second lock: got %v, want DeadlineExceeded", err)
		}
		cancel()
	}
	got := make(chan func())
	go func() {
		unlock, err := b.Lock(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- unlock
	}()
	unlock()
	(<-got)()
	if err := os.Remove(path); err != nil { // a has it open, but a lock on it has no effect now
		t.Fatal(err)
	}
	unlockA, err := a.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Lock(ctx); err == nil {
		t.Error("two handles have the lock after its file was removed")
	}
	unlockA()
	if err := errors.Join(a.Close(), b.Close(), a.Close()); err != nil {
		t.Error(err)
	}
}
