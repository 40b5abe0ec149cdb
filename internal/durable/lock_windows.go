package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func lockFile(f *os.File) error {
	return lockWith(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

// blockFile locks a file. If another process holds the lock, it waits.
func blockFile(f *os.File) error { return lockWith(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}

func lockWith(f *os.File, flags uint32) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}

// closeAndRemove closes a file and then removes it, because Windows does not remove an open file.
// If another run opens the file in between, that run keeps the file and its lock.
func closeAndRemove(f *os.File) error {
	name := f.Name()
	if err := f.Close(); err != nil {
		return err
	}
	_ = removeIfThere(name) // on an error, the next run uses the file and removes it
	return nil
}
