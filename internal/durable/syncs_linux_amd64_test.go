package durable_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/seed7ba64551/privgen/internal/durable"
)

// TestSyncsComeBeforeNames: a folder's name is synced before anything is in it, and a file before
// it has the name of the old one, which is then synced. Only a power failure could show otherwise,
// so a child makes folders and a file while this process watches its system calls.
func TestSyncsComeBeforeNames(t *testing.T) {
	if path := os.Getenv("PRIVGEN_TEST_SYNCS"); path != "" {
		folder := filepath.Join(path, "a", "b")
		if err := errors.Join(durable.MakeFolder(folder),
			durable.WriteFile(filepath.Join(folder, "f"), text("x"))); err != nil {
			t.Fatal(err)
		}
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe, "-test.run", "^TestSyncsComeBeforeNames$")
	path := t.TempDir() // which may be new, so its name is synced, too
	cmd.Env = append(os.Environ(), "PRIVGEN_TEST_SYNCS="+path)
	want := []string{"sync " + filepath.Base(filepath.Dir(path)), "mkdir",
		"sync " + filepath.Base(path), "mkdir", "sync a", "sync file", "rename", "sync b"}
	if got := watched(t, cmd); !slices.Equal(got, want) {
		t.Errorf("got the calls %q, want %q", got, want)
	}
}

// watched runs a command and returns its calls that name or sync files, in order. It skips the test
// where processes may not be traced.
func watched(t *testing.T, cmd *exec.Cmd) (calls []string) {
	runtime.LockOSThread() // only the thread that starts a process can trace it
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Process.Release()
	pid, status := cmd.Process.Pid, syscall.WaitStatus(0)
	const sysgood, exitkill, entered = 1, 1 << 20, syscall.SIGTRAP | 0x80
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || !status.Stopped() {
		t.Skip("the process is not stopped: ", err)
	}
	if err := syscall.PtraceSetOptions(pid,
		syscall.PTRACE_O_TRACECLONE|sysgood|exitkill); err != nil {
		t.Skip(err)
	}
	for at, signal := pid, 0; ; {
		if err := syscall.PtraceSyscall(at, signal); err != nil && err != syscall.ESRCH {
			t.Fatal(err)
		}
		var err error
		for at = 0; at == 0; {
			at, err = syscall.Wait4(-1, &status, syscall.WALL, nil)
			if err != nil && err != syscall.EINTR {
				t.Fatal(err)
			}
			if err != nil || at != pid && !status.Stopped() { // a thread has ended
				at = 0
			}
		}
		if !status.Stopped() {
			if status.ExitStatus() != 0 {
				t.Fatalf("the process ended with %d", status)
			}
			return calls
		}
		switch signal = int(status.StopSignal()); {
		case signal == int(entered):
			calls, signal = append(calls, call(at)...), 0
		case signal == int(syscall.SIGTRAP) || signal == int(syscall.SIGSTOP): // a new thread
			signal = 0
		}
	}
}

// call returns the call that a thread begins, if it names or syncs a file.
func call(thread int) []string {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &r); err != nil || int64(r.Rax) != -int64(syscall.ENOSYS) {
		return nil // it ends
	}
	switch r.Orig_rax {
	case syscall.SYS_FSYNC, syscall.SYS_FDATASYNC:
		name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", thread, r.Rdi))
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return []string{"sync file"}
		}
		return []string{"sync " + filepath.Base(name)}
	case syscall.SYS_RENAME, syscall.SYS_RENAMEAT, 316: // renameat2
		return []string{"rename"}
	case syscall.SYS_MKDIR, syscall.SYS_MKDIRAT:
		return []string{"mkdir"}
	}
	return nil
}
